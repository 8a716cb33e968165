package pagehead_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/plugins/internal/pagehead"
	"github.com/patchbay-dev/patchbay/plugins/internal/robots"
)

func TestRead(t *testing.T) {
	page, _ := url.Parse("https://example.org/docs/a")
	const root = "https://example.org/"
	for name, tt := range map[string]struct {
		body   string
		header http.Header
		want   pagehead.Head
	}{
		"links": {body: `<a href="b">x</a><a rel="ugc NoFollow" href="c">x</a><area href="/d"><a href="#e">x</a>`,
			want: pagehead.Head{Links: []string{root + "docs/b", root + "d"}}},
		"no index": {body: `<meta name=robots content=noindex><a href="b">x</a>`,
			want: pagehead.Head{Robots: robots.Directives{NoIndex: true}, Links: []string{root + "docs/b"}}},
		"no follow": {body: `<a href="b">x</a><meta name="patchbay" content="nofollow">`,
			want: pagehead.Head{Robots: robots.Directives{NoFollow: true}}},
		"header": {header: http.Header{"X-Robots-Tag": {"none"}}, body: `<a href="b">x</a>`,
			want: pagehead.Head{Robots: robots.Directives{NoIndex: true, NoFollow: true}}},
		"canonical": {body: `<base href="/x/"><link rel="canonical" href="y"><link rel=canonical href="z">`,
			want: pagehead.Head{Canonical: root + "x/y"}},
		"canonical field": {header: http.Header{"Link": {`<a.css>; rel=preload, </c>; rel="canonical"`}},
			want: pagehead.Head{Canonical: root + "c"}},
		"refresh": {body: `<meta http-equiv="Refresh" content="0; URL='/docs/'">`, want: pagehead.Head{Refresh: root + "docs/"}},
		"refresh unquoted": {body: `<meta http-equiv=refresh content="3,url=intro.html">`,
			want: pagehead.Head{Refresh: root + "docs/intro.html"}},
		"refresh bare":      {body: `<meta http-equiv=refresh content="0;/n">`, want: pagehead.Head{Refresh: root + "n"}},
		"refresh field":     {header: http.Header{"Refresh": {"0; url=/r"}}, want: pagehead.Head{Refresh: root + "r"}},
		"late refresh":      {body: `<meta http-equiv=refresh content="60; url=/later">`},
		"reload":            {body: `<meta http-equiv=refresh content="5">`},
		"script only":       {body: `<noscript><meta http-equiv=refresh content="0; url=/old"></noscript>`},
		"refresh to script": {body: `<meta http-equiv=refresh content="0; url=javascript:x()">`},
		"text":              {header: http.Header{"Content-Type": {"text/plain"}}, body: `<a href="b">`},
	} {
		t.Run(name, func(t *testing.T) {
			h := tt.header
			if h == nil {
				h = http.Header{}
			}
			if h.Get("Content-Type") == "" {
				h.Set("Content-Type", "text/html")
			}
			if diff := cmp.Diff(&tt.want, pagehead.Read([]byte(tt.body), h, page, "patchbay/1.0")); diff != "" {
				t.Error(diff)
			}
		})
	}
	self := pagehead.Read([]byte(`<meta http-equiv=refresh content="1; url=/docs/a#top">`), http.Header{"Content-Type": {"text/html"}}, page,
		"")
	if to := self.RefreshFrom(page); to != nil {
		t.Errorf("a page that reloads itself leads to %s", to)
	}
	many := pagehead.Read([]byte(strings.Repeat(`<a href="/x">`, 20_000)), http.Header{"Content-Type": {"text/html"}}, page, "")
	if len(many.Links) > 10_000 {
		t.Errorf("%d links", len(many.Links))
	}
}
