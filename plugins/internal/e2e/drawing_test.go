package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
)

// openDrawing shows data on a page of this directory, which a script draws, and waits until it has. The page has the uPlot of the
// console.
func openDrawing(t *testing.T, page string, data any) *browser {
	t.Helper()
	text, err := json.Marshal(data)
	must(t, err)
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir("drawn")))
	mux.Handle("/vendor/", http.StripPrefix("/vendor/", http.FileServer(http.Dir(root()+"/core/console/ui/static/vendor"))))
	mux.HandleFunc("/data.js", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		fmt.Fprintf(w, "const data = %s;\n", text)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	b := browse(t, &core{t: t, base: server.URL})
	b.do(chromedp.EmulateViewport(1200, 900))
	b.open("/" + page + ".html")
	b.do(chromedp.WaitReady(chromedp.CSS("html.drawn")))
	return b
}

// smallPicture is picture with 256 colours, for the documents: the drawings have few.
func (b *browser) smallPicture(name string) {
	b.t.Helper()
	b.picture(name)
	if os.Getenv(picturesEnv) == "" {
		return
	}
	path := filepath.Join(root(), "bin", "screenshots", name+".png")
	raw, err := os.ReadFile(path)
	must(b.t, err)
	must(b.t, os.WriteFile(path, packPicture(b.t, raw), 0o644))
}

// packPicture returns a PNG with at most 256 colours.
func packPicture(t testing.TB, raw []byte) []byte {
	t.Helper()
	full, err := png.Decode(bytes.NewReader(raw))
	must(t, err)
	small := image.NewPaletted(full.Bounds(), mostFrequentColours(full, 256))
	draw.Draw(small, small.Rect, full, full.Bounds().Min, draw.Src)
	var out bytes.Buffer
	must(t, (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, small))
	return out.Bytes()
}

// mostFrequentColours returns at most so many colours of a picture, the most frequent first.
func mostFrequentColours(m image.Image, most int) (out color.Palette) {
	counts := map[color.RGBA]int{}
	for y := m.Bounds().Min.Y; y < m.Bounds().Max.Y; y++ {
		for x := m.Bounds().Min.X; x < m.Bounds().Max.X; x++ {
			counts[color.RGBAModel.Convert(m.At(x, y)).(color.RGBA)]++
		}
	}
	all := make([]color.RGBA, 0, len(counts))
	for c := range counts {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b color.RGBA) int { return counts[b] - counts[a] })
	for _, c := range all[:min(most, len(all))] {
		out = append(out, c)
	}
	return out
}
