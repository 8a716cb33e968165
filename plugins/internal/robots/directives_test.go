package robots_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/robots"
)

func TestDirectives(t *testing.T) {
	none, noIndex, noFollow := robots.Directives{}, robots.Directives{NoIndex: true}, robots.Directives{NoFollow: true}
	both := noIndex.Merge(noFollow)
	for field, want := range map[string]robots.Directives{
		"noindex": noIndex, "NoIndex, NOFOLLOW": both, "none": both, "index, follow": none, "": none, "noarchive,nofollow": noFollow,
		"patchbay: noindex": noIndex, "otherbot: noindex": none, "*: noindex": noIndex, "max-snippet:20, noindex": noIndex,
		"unavailable_after: 25 Jun 2010 15:00:00 PST": none, "Patchbay : nofollow, noindex": both,
	} {
		if got := robots.ParseHeader(http.Header{"X-Robots-Tag": {field}}, "Patchbay/1.0 (test)"); got != want {
			t.Errorf("%q: got %+v", field, got)
		}
	}
	if got := robots.ParseHeader(http.Header{"X-Robots-Tag": {"noindex", "nofollow"}}, "patchbay"); got != both {
		t.Errorf("two fields: got %+v", got)
	}
	for name, want := range map[string]robots.Directives{"robots": noIndex, "ROBOTS": noIndex, "patchbay": noIndex, "otherbot": none,
		"": none} {
		if got := robots.ParseMeta(name, "noindex", "patchbay/1.0"); got != want {
			t.Errorf("meta %q: got %+v", name, got)
		}
	}
}

func TestDelayAndSitemaps(t *testing.T) {
	file := "Sitemap: https://example.org/a.xml\nUser-agent: *\nCrawl-delay: 5\nDisallow: /x\n\nUser-agent: patchbay\nCrawl-delay: 1.5\n\nsitemap: /b.xml # second\n"
	for agent, want := range map[string]time.Duration{"patchbay/1.0": 1500 * time.Millisecond, "other": 5 * time.Second} {
		rules := robots.Parse([]byte(file), agent)
		if rules.Delay != want || !slices.Equal(rules.Sitemaps, []string{"https://example.org/a.xml", "/b.xml"}) {
			t.Errorf("%s: got %s, %q", agent, rules.Delay, rules.Sitemaps)
		}
	}
	for _, bad := range []string{"-1", "x", "NaN", "1e99", ""} {
		if d := robots.Parse([]byte("User-agent: *\nCrawl-delay: "+bad+"\n"), "x").Delay; d != 0 {
			t.Errorf("%q: got %s", bad, d)
		}
	}
}
