package address_test

import (
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/mail/address"
)

func TestParse(t *testing.T) {
	long := strings.Repeat("a", 64)
	for text, want := range map[string]string{
		"a@mail.localhost":                  "a@mail.localhost",
		" Ada.Lovelace+x_y-z@Example.COM. ": "ada.lovelace+x_y-z@example.com",
		"0@xn--bcher-kva.example":           "0@xn--bcher-kva.example",
		"a@bücher.example":                  "a@xn--bcher-kva.example",
		long + "@example.com":               long + "@example.com",
		"":                                  "",
		"a":                                 "",
		"@example.com":                      "",
		"a@":                                "",
		"a@localhost":                       "",
		"a@b@example.com":                   "",
		".a@example.com":                    "",
		"a.@example.com":                    "",
		"a..b@example.com":                  "",
		"a b@example.com":                   "",
		"a\r\nb@example.com":                "",
		"ä@example.com":                     "",
		"a@-example.com":                    "",
		"a@exa_mple.com":                    "",
		"a@example..com":                    "",
		"a@[192.0.2.1]":                     "",
		long + "a@example.com":              "",
		"a@" + long + ".example.com":        "",
		long + "@" + strings.Repeat("b.", 95) + "com": "",
	} {
		got, err := address.Parse(text)
		switch {
		case want == "" && fault.CodeOf(err) != fault.InvalidArgument:
			t.Errorf("%q: got %v, %v", text, got, err)
		case want != "" && (err != nil || got.String() != want):
			t.Errorf("%q: got %v, %v, want %s", text, got, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"a@mail.localhost", "a..b@example.com", "\"a b\"@example.com", "a@bücher.example", "a@xn--a.example"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := address.Parse(text)
		if err != nil {
			return
		}
		again, err := address.Parse(a.String())
		if err != nil || again != a {
			t.Errorf("%q gives %q, which gives %q, %v", text, a, again, err)
		}
	})
}

func FuzzParseRecipient(f *testing.F) {
	for _, seed := range []string{"o'brien@mail.localhost", `"a b"@example.com`, `"a\"\\"@example.com`, "用户@example.com",
		"JOSE\u0301@example.com", "a+b@example.com", "İ@example.com"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := address.ParseRecipient(text)
		if err != nil {
			if chosen, err := address.Parse(text); err == nil {
				t.Errorf("%q is refused, which may be chosen: %v", text, chosen)
			}
			return
		}
		if again, err := address.ParseRecipient(a.String()); err != nil || again != a {
			t.Errorf("%q gives %q, which gives %q, %v", text, a, again, err)
		}
	})
}

func TestSplitHost(t *testing.T) {
	domains := []string{"example.com", "b.example.com", "mail.localhost"}
	for host, want := range map[string][2]string{
		"example.com": {"", "example.com"}, "a.example.com": {"a", "example.com"}, "a.b.example.com": {"a", "b.example.com"},
		"xexample.com": {}, "com": {}, "mail.localhost": {"", "mail.localhost"},
	} {
		sub, domain, found := address.SplitHost(host, domains)
		if sub != want[0] || domain != want[1] || found != (want[1] != "") {
			t.Errorf("%s: got %q below %q, %v", host, sub, domain, found)
		}
	}
}

// TestRandomNames: a random name is a valid one that is not reserved.
func TestRandomNames(t *testing.T) {
	for attempt := range 200 {
		name := address.RandomLocal(attempt)
		if got, err := address.ParseLocal(name); err != nil || got != name || address.IsReserved(name) {
			t.Fatalf("got %q, %v", name, err)
		}
	}
}
