package robots_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/patchbay-dev/patchbay/plugins/internal/robots"
)

// The cases are those of RFC 9309, sections 2.2.1 to 2.2.3, and of the matching that its authors published.
func TestRules(t *testing.T) {
	for name, tc := range map[string]struct {
		robots  string
		allowed []string
		refused []string
	}{
		"nothing":        {"", []string{"/", "/a"}, nil},
		"all":            {"User-agent: *\nDisallow: /", []string{"/robots.txt"}, []string{"/", "/a"}},
		"empty value":    {"User-agent: *\nDisallow:\n", []string{"/"}, nil},
		"own group":      {"User-agent: *\nDisallow: /\nUser-agent: PatchBay\nDisallow: /x", []string{"/", "/a"}, []string{"/x", "/xy"}},
		"own is empty":   {"User-agent: *\nDisallow: /\n\nUser-agent: patchbay\n", []string{"/", "/a"}, nil},
		"with version":   {"User-agent: patchbay/2.0\nDisallow: /x", []string{"/a"}, []string{"/x"}},
		"part of a name": {"User-agent: patch\nDisallow: /\nUser-agent: patchbaybot\nDisallow: /", []string{"/"}, nil},
		"several agents": {"User-agent: a\nUser-agent: patchbay\nUser-agent: b\nDisallow: /x\n", nil, []string{"/x"}},
		"merged groups": {"User-agent: patchbay\nDisallow: /x\nUser-agent: a\nDisallow: /z\nUser-agent: patchbay\nDisallow: /y",
			[]string{"/z"}, []string{"/x", "/y"}},
		"blank lines":     {"User-agent: patchbay\n\n\nDisallow: /x\n\nDisallow: /y", nil, []string{"/x", "/y"}},
		"other lines":     {"Sitemap: /s\nUser-agent: patchbay\nCrawl-delay: 5\nDisallow: /x\nnonsense\n: \n", []string{"/a"}, []string{"/x"}},
		"before a group":  {"Disallow: /\n", []string{"/"}, nil},
		"comments":        {"# a\nUser-agent: * # b\nDisallow: /x # c\n", []string{"/a"}, []string{"/x"}},
		"spaces and case": {"  USER-AGENT :*  \n\tdisALLOW:/x\t\n", []string{"/a"}, []string{"/x/y"}},
		"line ends":       {"User-agent: *\rDisallow: /x\r\nDisallow: /y", nil, []string{"/x", "/y"}},
		"byte order mark": {"\ufeffUser-agent: *\nDisallow: /x", nil, []string{"/x"}},
		"longest wins":    {"User-agent: *\nAllow: /a/b\nDisallow: /a\n", []string{"/a/b", "/a/bc"}, []string{"/a", "/a/c"}},
		"allow at a tie":  {"User-agent: *\nDisallow: /a\nAllow: /a\n", []string{"/a"}, nil},
		"case of paths":   {"User-agent: *\nDisallow: /A", []string{"/a"}, []string{"/A"}},
		"wildcard": {"User-agent: *\nDisallow: /*/private/\nDisallow: /*.php", []string{"/private/", "/a.phx"},
			[]string{"/a/private/", "/x.php?y", "/a/b.php/c"}},
		"end": {"User-agent: *\nDisallow: /*.gif$\nDisallow: /exact$", []string{"/a.gif?x", "/exactly"},
			[]string{"/a.gif", "/b/a.gif.gif", "/exact"}},
		"stars at ends": {"User-agent: *\nDisallow: /a*\nDisallow: *b*$", []string{"/c"}, []string{"/a", "/ax", "/b", "/xbx"}},
		"query":         {"User-agent: *\nDisallow: /*?id=", []string{"/a", "/a?x=1"}, []string{"/a?id=1"}},
		"dollar within": {"User-agent: *\nDisallow: /a$b", []string{"/a"}, []string{"/a$bc"}},
		"escapes": {"User-agent: *\nDisallow: /ツ\nDisallow: /%62ar\nDisallow: /a%2fb\nDisallow: /%", []string{"/a/b"},
			[]string{"/%E3%83%84", "/%e3%83%84/x", "/bar", "/b%61r", "/a%2Fb"}},
	} {
		rules := robots.Parse([]byte(tc.robots), "patchbay/1.0 (+https://example.org)")
		for want, paths := range map[bool][]string{true: tc.allowed, false: tc.refused} {
			for _, p := range paths {
				u, err := url.Parse("https://example.org" + p)
				if err != nil {
					t.Fatal(err)
				}
				if got := rules.Allows(u); got != want {
					t.Errorf("%s: Allows(%s) is %v", name, p, got)
				}
			}
		}
	}
}

func TestNoAgentIsEverybody(t *testing.T) {
	rules := robots.Parse([]byte("User-agent:\nDisallow: /a\nUser-agent: *\nDisallow: /b"), "")
	for path, want := range map[string]bool{"/a": true, "/b": false} {
		if got := rules.Allows(&url.URL{Path: path}); got != want {
			t.Errorf("Allows(%s) is %v", path, got)
		}
	}
}

// Patterns match what the regular expressions match that stand for them.
func TestPatternsAgreeWithRegularExpressions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringMatching(`[ab/*$]{1,8}`).Draw(t, "pattern")
		u := &url.URL{Path: rapid.StringMatching(`/[ab/]{0,8}`).Draw(t, "path")}
		body, anchored := strings.CutSuffix(pattern, "$")
		expression := "^" + strings.ReplaceAll(regexp.QuoteMeta(body), `\*`, ".*")
		if anchored {
			expression += "$"
		}
		rules := robots.Parse([]byte("User-agent: *\nDisallow: "+pattern), "patchbay")
		if got, want := rules.Allows(u), !regexp.MustCompile(expression).MatchString(u.Path); got != want {
			t.Errorf("%q: Allows(%s) is %v", pattern, u.Path, got)
		}
	})
}

// Whatever a host sends, reading it ends without a panic, and its robots.txt itself is never refused.
func FuzzParse(f *testing.F) {
	f.Add("User-agent: *\nDisallow: /*a*b*c$\n", "/xaybzc?d")
	f.Add("user-agent: patchbay\nallow: /"+strings.Repeat("*a", 200), "/"+strings.Repeat("a", 400))
	f.Add("\ufeff\r\x00%:%%\nDisallow: %e", "%2")
	f.Fuzz(func(t *testing.T, content, path string) {
		rules := robots.Parse([]byte(content), "patchbay")
		rules.Allows(&url.URL{Path: path})
		if !rules.Allows(&url.URL{Path: "/robots.txt"}) {
			t.Error("robots.txt itself is refused")
		}
	})
}
