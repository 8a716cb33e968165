package secret_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/hashicorp/go-hclog"

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
		`q=pa%20ss%2fw%26rd%22x`:                      `q=[redacted]`,
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

func TestRedactorLearns(t *testing.T) {
	r := secret.NewRedactor()
	if got := r.Values("secret-one"); got != "secret-one" {
		t.Errorf("before it is known: %s", got)
	}
	r.Add("secret-one", "secret-one", "short12", "smtps://u:pa%25ss-word@mail.example:465/?to=a@example.org")
	for in, want := range map[string]string{
		"a secret-one": "a [redacted]", "short12": "short12", "password pa%ss-word": "password [redacted]", "at pa%25ss-word": "at [redacted]",
		"smtps://u:pa%25ss-word@mail.example:465/?to=a@example.org": "[redacted]", "smtps://u:other-word@h/": "smtps://u:other-word@h/",
		"new th-AbCd-" + strings.Repeat("x9", 12): "new [redacted]", "svc_ak_" + strings.Repeat("Z-_", 14): "[redacted]",
		"svc_ak_ABCDE… is shown so": "svc_ak_ABCDE… is shown so",
	} {
		if got := r.Values(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 50 {
				v := fmt.Sprintf("concurrent-%d-%d", i, j)
				r.Add(v)
				if got := r.Values(v + " text"); got != "[redacted] text" {
					t.Errorf("got %s", got)
				}
			}
		})
	}
	wg.Wait()
}

// What a logger makes of a value, in both of its formats, is recognized.
func TestRedactorInLogs(t *testing.T) {
	const value = `a "quoted" \ <value> & \x01 密钥`
	for _, asJSON := range []bool{false, true} {
		var out bytes.Buffer
		r := secret.NewRedactor()
		log := hclog.New(&hclog.LoggerOptions{Output: r.Writer(&out), JSONFormat: asJSON})
		log.Info("known later: "+value, "v", value)
		before := out.String()
		out.Reset()
		r.Add(value)
		log.Info("known: "+value, "v", value, "e", errors.New("refused "+value))
		log.Info("lines", "v", "one\n"+value)
		if strings.Contains(before, secret.Redacted) || strings.Count(out.String(), secret.Redacted) != 4 ||
			strings.Contains(out.String(), "quoted") {
			t.Errorf("JSON %v: %s then %s", asJSON, before, &out)
		}
	}
}

func TestKeyringTellsWhatItSees(t *testing.T) {
	ring, err := secret.NewKeyring(bytes.Repeat([]byte{7}, secret.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	sealed := ring.Seal([]byte("unseen"), "t", "r", "c")
	var seen []string
	ring.Observe(func(plain string) { seen = append(seen, plain) })
	if _, err := ring.Open(sealed, "t", "r", "c"); err != nil {
		t.Fatal(err)
	}
	if _, err := ring.Open(sealed, "t", "r", "other"); err == nil {
		t.Error("opened elsewhere")
	}
	ring.Seal([]byte("new"), "t", "r", "c")
	if !slices.Equal(seen, []string{"unseen", "new"}) {
		t.Errorf("saw %q", seen)
	}
}

// One line of a log, without and with a secret in it, where many secrets are known.
func BenchmarkRedactLogLine(b *testing.B) {
	r := secret.NewRedactor()
	for i := range 500 {
		r.Add(fmt.Sprintf("%s-%d", secret.RandomString(32, secret.Alphanumeric), i))
	}
	r.Add("tvly-0123456789abcdef")
	const line = "2026-01-02T15:04:05.000Z [INFO]  patchbay.http: request: method=POST path=/search/api/proxy/search status=200 took=12ms bytes=4096 id=01K9ZS5T9W1V6Q0P9A8E7C6B5D client=203.0.113.7"
	for name, line := range map[string]string{"none": line, "one": line + " key=tvly-0123456789abcdef"} {
		b.Run(name, func(b *testing.B) {
			w := r.Writer(io.Discard)
			p := []byte(line + "\n")
			b.ReportAllocs()
			for b.Loop() {
				_, _ = w.Write(p)
			}
		})
	}
}
