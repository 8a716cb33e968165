package secret_test

import (
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/patchbay-dev/patchbay/core/secret"
)

func TestMask(t *testing.T) {
	for in, want := range map[string]string{
		"":                            "",
		"short":                       "…",
		"12345678901234567890123":     "…",
		"svc_ak_ABCDEFGHIJKLMNOPQRST": "svc_ak_ABCDE…QRST",
	} {
		if got := secret.Mask(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := secret.Mask(strings.Repeat("密", 30)); !utf8.ValidString(got) {
		t.Error("a character was cut")
	}
}

func TestEqualAndHash(t *testing.T) {
	if !secret.Equal("abc", "abc") || secret.Equal("abc", "abd") || secret.Equal("abc", "ab") || !secret.Equal("", "") {
		t.Error("Equal is wrong")
	}
	if len(secret.HashToken("x")) != 32 {
		t.Error("SHA-256 has 32 bytes")
	}
}

func TestRandomString(t *testing.T) {
	seen := map[rune]int{}
	for range 200 {
		s := secret.RandomString(62, secret.Alphanumeric)
		if len(s) != 62 {
			t.Fatalf("%d characters", len(s))
		}
		for _, r := range s {
			seen[r]++
		}
	}
	if len(seen) != 62 {
		t.Errorf("%d of 62 characters occur", len(seen))
	}
	for r, n := range seen {
		if !strings.ContainsRune(secret.Alphanumeric, r) || n < 100 || n > 320 {
			t.Errorf("%q occurs %d times of about 200", r, n)
		}
	}
	if secret.RandomString(5, "") != "" || secret.RandomString(-1, "ab") != "" || secret.RandomString(0, "ab") != "" {
		t.Error("impossible wishes give nothing")
	}
}

func TestRedactorString(t *testing.T) {
	r := secret.NewRedactor("api_key", "apiKey", "token")
	r.Add("th-AbCd-verysecretvalue", "pa ss/w&rd\"x", "abc", "th-AbCd-verysecretvalue-longer")
	tests := map[string]string{
		`plain text`:                                  `plain text`,
		`abc is too short`:                            `abc is too short`,
		`got th-AbCd-verysecretvalue.`:                `got [redacted].`,
		`got th-AbCd-verysecretvalue-longer.`:         `got [redacted].`,
		`q=pa+ss%2Fw%26rd%22x`:                        `q=[redacted]`,
		`{"p":"pa ss/w\u0026rd\"x"}`:                  `{"p":"[redacted]"}`,
		`{"api_key":"k1","q":"x"}`:                    `{"api_key":"[redacted]","q":"x"}`,
		`{"API_KEY" : "k\"1", "q":"x"}`:               `{"API_KEY" : "[redacted]", "q":"x"}`,
		`{"apikey":12345}`:                            `{"apikey":"[redacted]"}`,
		`{"token":"cut off here`:                      `{"token":"[redacted]"`,
		`{"token":"cut off here\`:                     `{"token":"[redacted]"`,
		`{"body":"{\"api_key\":\"k1\",\"q\":\"x\"}"}`: `{"body":"{\"api_key\":\"[redacted]\",\"q\":\"x\"}"}`,
		`GET /mcp?x=1&apiKey=abc123&y=2 HTTP/1.1`:     `GET /mcp?x=1&apiKey=[redacted]&y=2 HTTP/1.1`,
		`Authorization: Bearer eyJhbGciOi.J9-_x`:      `Authorization: Bearer [redacted]`,
		`dial postgres://u:p%40ss@h/db failed`:        `dial postgres://u:[redacted]@h/db failed`,
		`tokens are not "token_count": 5`:             `tokens are not "token_count": 5`,
	}
	for in, want := range tests {
		if got := r.String(in); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
		if got := string(r.Bytes([]byte(in))); got != want {
			t.Errorf("bytes of %s: %s", in, got)
		}
	}
}

func TestRedactorURL(t *testing.T) {
	r := secret.NewRedactor("api_key")
	tests := map[string]string{
		"/mcp?api%5Fkey=abc&x=1#f":        "/mcp?api%5Fkey=[redacted]&x=1#f",
		"/mcp?x=%zz&API_KEY=abc":          "/mcp?x=%zz&API_KEY=[redacted]",
		"/plain":                          "/plain",
		"https://u:hidden@h.example/p":    "https://u:[redacted]@h.example/p",
		"https://u:hidden@h.example/?q=1": "https://u:[redacted]@h.example/?q=1",
		"%zz?api_key=1":                   "%zz?api_key=[redacted]",
	}
	for in, want := range tests {
		if got := r.URL(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

func TestRedactorForgets(t *testing.T) {
	r := secret.NewRedactor()
	r.Add("secret-one", "secret-one")
	r.Remove("secret-one")
	if got := r.String("secret-one"); got != secret.Redacted {
		t.Error("added twice, removed once")
	}
	r.Remove("secret-one", "never-added")
	if got := r.String("secret-one"); got != "secret-one" {
		t.Error(got)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				r.Add("concurrent-1")
				_ = r.String("concurrent-1 text")
				r.Remove("concurrent-1")
			}
		})
	}
	wg.Wait()
}
