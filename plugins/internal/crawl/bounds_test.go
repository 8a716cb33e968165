package crawl

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestSitemapsAreBounded: of an index no more addresses are kept than sitemaps are read, and all entries count.
func TestSitemapsAreBounded(t *testing.T) {
	list := func(root, element, address string, n int) []byte {
		var b strings.Builder
		fmt.Fprintf(&b, "<%s>", root)
		for i := range n {
			fmt.Fprintf(&b, "<%s><loc>%s%d</loc></%s>", element, address, i, element)
		}
		return []byte(b.String() + "</" + root + ">")
	}
	long := "/" + strings.Repeat("a", maxAddress)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tt := range map[string]struct {
		ctx                             context.Context
		body                            []byte
		room, pages, sitemaps, consumed int
	}{
		"index":         {t.Context(), list("sitemapindex", "sitemap", "/s", 1000), maxEntries, 0, maxSitemaps, maxSitemaps},
		"index, room":   {t.Context(), list("sitemapindex", "sitemap", "/s", 1000), 20, 0, 20, 20},
		"pages":         {t.Context(), list("urlset", "url", "/p", 1000), maxEntries, 1000, 0, 1000},
		"pages, room":   {t.Context(), list("urlset", "url", "/p", 1000), 20, 20, 0, 20},
		"long":          {t.Context(), list("sitemapindex", "sitemap", long, 100), 80, 0, 0, 80},
		"lines, room":   {t.Context(), []byte(strings.Repeat("https://a.example/\n", 100)), 20, 20, 0, 20},
		"index, ended":  {ended, list("sitemapindex", "sitemap", "/s", 1000), maxEntries, 0, 0, 0},
		"lines, ended":  {ended, []byte(strings.Repeat("https://a.example/\n", 100)), maxEntries, 0, 0, 0},
		"packed, ended": {ended, []byte("\x1f\x8b"), maxEntries, 0, 0, 0},
	} {
		got := parseSitemap(tt.ctx, tt.body, tt.room)
		if len(got.pages) != tt.pages || len(got.sitemaps) != tt.sitemaps || got.entries != tt.consumed {
			t.Errorf("%s: %d pages, %d sitemaps, %d entries", name, len(got.pages), len(got.sitemaps), got.entries)
		}
	}
	start := &url.URL{Scheme: "https", Host: "a.example", Path: "/"}
	queue := appendSitemaps(nil, start, []string{"/s", "https://a.example/s", "https://%"})
	for i := range 3 * maxSitemaps {
		queue = appendSitemaps(queue, start, []string{fmt.Sprintf("/%d", i), fmt.Sprintf("/%d", i)})
	}
	if len(queue) != maxSitemaps || queue[1].Path != "/0" {
		t.Errorf("%d sitemaps wait, the second is %s", len(queue), queue[1])
	}
}

// TestGivenUpRequestsTakeNoTurn: requests that end while they wait delay no other, and those that start keep the pause.
func TestGivenUpRequestsTakeNoTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGates(2, 0)
		g.setDelay("a.example", maxHostDelay)
		began := time.Now()
		enterGate := func(ctx context.Context) error {
			leave, err := g.waitForTurn(ctx, "a.example")
			if err == nil {
				leave()
			}
			return err
		}
		if err := enterGate(t.Context()); err != nil {
			t.Fatal(err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for range 20 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			for range 3 {
				go func() {
					if err := enterGate(ctx); err == nil {
						t.Error("a request started within the pause")
					}
				}()
			}
			if err := enterGate(ended); err == nil {
				t.Error("a request started that had ended before")
			}
			<-ctx.Done()
			synctest.Wait()
			cancel()
		}
		for n := 1; n <= 3; n++ {
			if err := enterGate(t.Context()); err != nil || time.Since(began) != time.Duration(n)*maxHostDelay {
				t.Errorf("request %d started after %s: %v", n, time.Since(began), err)
			}
		}
	})
}
