package crawl_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/crawl"
)

// A host with many large pages, or with few whose links are long, does not make a crawl hold all of it at once.
func TestMemoryIsBounded(t *testing.T) {
	const most = 160 << 20
	words := strings.Repeat("words ", 1<<20/6-100)
	links := `<base href="/` + strings.Repeat("a", 4000) + `/">`
	for n := range 10_000 {
		links += fmt.Sprintf(`<a href="%d">`, n)
	}
	for name, tt := range map[string]struct {
		pages             int
		contentType, body string
	}{
		"texts": {250, "text/plain; charset=utf-8", words},
		"links": {6, "text/html; charset=utf-8", "<html><body><p>Text.</p>" + links + "</body></html>"},
	} {
		t.Run(name, func(t *testing.T) {
			var start strings.Builder
			for n := range tt.pages {
				fmt.Fprintf(&start, `<a href="/%d">go</a>`, n)
			}
			var asked, held atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/robots.txt":
					http.NotFound(w, r)
				case "/":
					w.Header().Set("Content-Type", "text/html")
					_, _ = io.WriteString(w, "<html><body><p>Start.</p>"+start.String()+"</body></html>")
				default:
					if asked.Add(1) == int64(tt.pages) {
						var m runtime.MemStats
						runtime.GC()
						runtime.ReadMemStats(&m)
						held.Store(int64(m.HeapAlloc))
					}
					w.Header().Set("Content-Type", tt.contentType)
					_, _ = io.WriteString(w, tt.body)
				}
			}))
			defer server.Close()
			s := &site{Server: server}
			o := options(t, server.URL)
			o.MaxBreadth, o.Limit, o.MaxText, o.MaxDepth = 1000, tt.pages+1, 2<<20, 2
			r := run(t, newCrawler(t, crawl.Config{Parallel: 8, MaxPages: 1000}, s), o)
			if len(r.Pages) == 0 || asked.Load() < int64(tt.pages) {
				t.Fatalf("%d pages of %d", len(r.Pages), asked.Load())
			}
			if n := held.Load(); n > most {
				t.Errorf("%d MB are held at the last of %d pages, want at most %d", n>>20, tt.pages, most>>20)
			}
		})
	}
}
