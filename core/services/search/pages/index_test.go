package pages

import (
	"bufio"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

// crawlStatus is an index of two sources: files, and a site of which a number of pages is done.
func crawlStatus(done int64) *sdk.IndexStatus {
	return &sdk.IndexStatus{Documents: 1234, Bytes: 5 << 20, Sources: []sdk.IndexSource{
		{Name: "docs", Kind: sdk.SourceFiles, State: sdk.SourceReady, Documents: 1200, LastVisit: time.Now(), LeftOut: []sdk.IndexLeftOut{
			{Reason: "encoding", Count: 1500, Names: []string{"docs/a.txt", "docs/" + hostile}}, {Reason: "of_its_own", Count: 1},
		}},
		{Name: "https://docs.example.org/" + hostile, Kind: sdk.SourceSite, State: sdk.SourceIndexing, Documents: 34, Done: done, Total: 40},
		{
			Name: "https://down.example.org/", Kind: sdk.SourceSite, State: sdk.SourceFailed, LastVisit: time.Now().Add(-time.Hour),
			NextVisit: time.Now().Add(time.Hour),
			LastError: "page answered with status 503 " + strings.Repeat("very ", 100) + "long",
		},
	}}
}

func (b *backend) setIndex(st *sdk.IndexStatus) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.index = st
}

func TestIndexPage(t *testing.T) {
	s := newSite(t)
	v := s.as(s.admin, "en")
	v.Get("/search/index").Is(t, "a backend that does not answer", http.StatusOK, "The provider does not answer.")
	s.backend.setIndex(crawlStatus(12))
	p := v.Get("/search/index")
	p.Is(t, "page", http.StatusOK, "search.web", "1,234", "5.0 MiB", "12 of 40", `<progress class="bar" max="40" value="12"`,
		"page answered with status 503", "degraded", "changes are followed", "Re-index",
		"docs: 1,501 not indexed", "unknown character encoding", "1,500", "docs/a.txt, docs/", "of_its_own")
	p.Lacks(t, "page", "very long", hostile)
	v.Get("/search/overview").Is(t, "overview", http.StatusOK, "Search index", "1,234 documents")
	s.as(s.admin, "zh").Get("/search/index").Is(t, "page in Chinese", http.StatusOK, "搜索索引", "12 / 40", "重建索引", "docs：1,501 项未被索引", "未知字符编码")
	for _, reason := range leftOutReasons {
		for _, locale := range []string{"en", "zh"} {
			text, err := os.ReadFile("locales/" + locale + ".json")
			if must(t, err); !strings.Contains(string(text), `"search.index.left.`+reason+`"`) {
				t.Errorf("%s has no words for %s", locale, reason)
			}
		}
	}
	s.as(s.bob, "en").Get("/search/index").Is(t, "page for a member", http.StatusForbidden)
}

func TestReindexButton(t *testing.T) {
	s := newSite(t)
	s.backend.setIndex(crawlStatus(12))
	v := s.as(s.admin, "en")
	v.Post("/search/index/search.web/reindex").Is(t, "button", http.StatusSeeOther)
	if s.backend.reindexed != 1 {
		t.Errorf("%d calls", s.backend.reindexed)
	}
	v.Get("/search/index").Is(t, "page after it", http.StatusOK, "search.web is being indexed again.")
	running := crawlStatus(0)
	running.Reindexing = true
	s.backend.setIndex(running)
	v.Get("/search/index").Is(t, "page meanwhile", http.StatusOK, "in progress", `<button class="btn" disabled>Re-index`)
	v.Post("/search/index/search.other/reindex").Is(t, "unknown backend", http.StatusNotFound)
	s.as(s.bob, "en").Post("/search/index/search.web/reindex").Is(t, "button for a member", http.StatusForbidden)
	if s.backend.reindexed != 1 {
		t.Errorf("%d calls", s.backend.reindexed)
	}
}

// The page shows the progress of a crawl as it goes on.
func TestIndexLive(t *testing.T) {
	s := newSite(t)
	s.backend.setIndex(crawlStatus(12))
	v := s.as(s.admin, "en")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, v.base+"/search/index/live", nil)
	must(t, err)
	req.Header.Set("Accept", "text/event-stream")
	resp, err := v.Client.Do(req)
	must(t, err)
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for _, want := range []string{"12 of 40", "13 of 40"} {
		found := false
		for !found && lines.Scan() {
			found = strings.Contains(lines.Text(), want)
		}
		if !found {
			t.Fatalf("%q never came: %v", want, lines.Err())
		}
		s.backend.setIndex(crawlStatus(13))
	}
}
