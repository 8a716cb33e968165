package core

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// openDrawing shows data on a page of this directory, which a script draws, and waits until it has. The page has the uPlot of the
// console.
func openDrawing(t *testing.T, page string, data any) *kit.Browser {
	t.Helper()
	text, err := json.Marshal(data)
	kit.Must(t, err)
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir("drawn")))
	mux.Handle("/vendor/", http.StripPrefix("/vendor/", http.FileServer(http.Dir(kit.Root()+"/core/console/ui/static/vendor"))))
	mux.HandleFunc("/data.js", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		fmt.Fprintf(w, "const data = %s;\n", text)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	b := kit.Browse(t, &kit.Core{T: t, Base: server.URL})
	b.Do(chromedp.EmulateViewport(1200, 900))
	b.Open("/" + page + ".html")
	b.Do(chromedp.WaitReady(chromedp.CSS("html.drawn")))
	return b
}

// smallPicture is picture with 256 colours, for the documents: the drawings have few.
func smallPicture(b *kit.Browser, name string) {
	b.T.Helper()
	b.Picture(name)
	if os.Getenv(kit.PicturesEnv) == "" {
		return
	}
	path := filepath.Join(kit.Root(), "bin", "screenshots", name+".png")
	raw, err := os.ReadFile(path)
	kit.Must(b.T, err)
	kit.Must(b.T, os.WriteFile(path, kit.PackPicture(b.T, raw), 0o644))
}
