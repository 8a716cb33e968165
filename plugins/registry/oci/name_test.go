package oci

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-hclog"
	"pgregory.net/rapid"

	"github.com/patchbay-dev/patchbay/sdk/registry"
)

func TestWhereReferencesLead(t *testing.T) {
	r := newReader(settings{insecure: []string{"plain.example:5000"}, timeout: time.Second, now: time.Now, log: hclog.NewNullLogger()}, nil)
	for ref, want := range map[string]string{
		"docker.io/library/nginx:1.2":          "https://registry-1.docker.io library/nginx 1.2",
		"index.docker.io/library/nginx:1.2":    "https://registry-1.docker.io library/nginx 1.2",
		"nginx":                                "https://registry-1.docker.io library/nginx latest",
		"one.example/a/b/c:2":                  "https://one.example a/b/c 2",
		"ONE.example/a:2":                      "https://one.example a 2",
		"one.example:8443/a:2":                 "https://one.example:8443 a 2",
		"10.0.0.1:5000/a:2":                    "https://10.0.0.1:5000 a 2",
		"plain.example:5000/a:2":               "http://plain.example:5000 a 2",
		"localhost/a:2":                        "http://localhost a 2",
		"localhost:5000/a:2":                   "http://localhost:5000 a 2",
		"127.8.9.1:5000/a:2":                   "http://127.8.9.1:5000 a 2",
		"[::1]:5000/a:2":                       "http://[::1]:5000 a 2",
		"localhost.evil.example/a:2":           "https://localhost.evil.example a 2",
		"one.example/a:2@sha256:" + hex64("a"): "https://one.example a sha256:" + hex64("a"),
	} {
		n, err := parseRef(ref)
		if err != nil {
			t.Errorf("%s: %v", ref, err)
			continue
		}
		s, err := r.sessionFor(n, registry.Access{})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.scheme + "://" + s.host + " " + n.path + " " + n.manifestReference(); got != want {
			t.Errorf("%s leads to %s, want %s", ref, got, want)
		}
	}
}

func hex64(s string) string { return strings.Repeat(s, 64) }

func TestParseChallenge(t *testing.T) {
	for header, want := range map[string]*challenge{
		`Bearer realm="https://auth.example/token",service="registry.example",scope="repository:a:pull,push"`: {schemeBearer,
			"https://auth.example/token", "registry.example"},
		`bearer Realm=https://auth.example/token, Service = "a \"b\", c"`: {schemeBearer,
			"https://auth.example/token", `a "b", c`},
		`Basic realm="x"`: {scheme: schemeBasic},
		`Bearer`:          nil,
		`Digest x="y"`:    nil,
		``:                nil,
	} {
		if diff := cmp.Diff(want, parseChallenge([]string{header}), cmp.AllowUnexported(challenge{})); diff != "" {
			t.Errorf("%s: %s", header, diff)
		}
	}
	both := parseChallenge([]string{`Basic realm="x"`, `Bearer realm="https://y"`})
	if both == nil || both.scheme != schemeBearer {
		t.Errorf("of two challenges %+v is chosen", both)
	}
}

// Whatever a registry or a caller sends, reading it ends.
func TestNothingPanics(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		parseChallenge([]string{"Bearer " + text, text})
		linkedQuery(map[string][]string{"Link": {text, "<" + text + `>; rel="next"`}})
		_, _ = parseRef(text)
		_, _ = parsePlatform(text)
		_, _ = parseDomain(text)
		_ = registryErrors([]byte(text))
		if c, err := parseCursor(text, 10); err == nil && text != "" && c.Page < 2 {
			t.Errorf("the cursor %q is read as %+v", text, c)
		}
	})
}

func TestChoose(t *testing.T) {
	p := func(text, digest string) registry.Platform {
		got, err := parsePlatform(text)
		if err != nil {
			t.Fatal(err)
		}
		got.Digest = digest
		return got
	}
	all := []registry.Platform{p("linux/amd64", "1"), p("linux/arm/v6", "2"), p("linux/arm/v7", "3"), p("linux/arm64/v8", "4"),
		p("windows/amd64", "5"), p("windows/amd64", "6")}
	for text, want := range map[string]string{
		"linux/amd64": "1", "linux/x86_64": "1", "linux/amd64/v3": "1", "linux/arm/v7": "3", "linux/arm": "", "linux/arm/v5": "",
		"linux/arm64": "4", "linux/arm64/v9": "4", "windows/amd64": "5", "linux/riscv64": "", "": "",
	} {
		asked, err := parsePlatform(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := chooseDigest(all, asked); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
