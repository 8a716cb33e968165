package ui

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
)

func fetched(t *testing.T, e *gin.Engine, path string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	e.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	if w.Code != http.StatusOK {
		t.Fatalf("%s: status %d", path, w.Code)
	}
	return w
}

func engine(t *testing.T) *gin.Engine {
	t.Helper()
	a, err := NewAssets()
	if err != nil {
		t.Fatal(err)
	}
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	for _, r := range append(a.InstallRoutes(), a.Route()) {
		e.GET(r.Path, r.Handler)
	}
	return e
}

func TestManifest(t *testing.T) {
	e := engine(t)
	w := fetched(t, e, ManifestPath)
	if got := w.Header(); got.Get("Content-Type") != "application/manifest+json" || got.Get("Cache-Control") != "no-cache" {
		t.Errorf("header %v", got)
	}
	var m manifest
	if err := json.Unmarshal(w.Body.Bytes(), &m); err != nil || m.StartURL != "/" || m.Display != "standalone" || len(m.Icons) != 4 {
		t.Fatalf("manifest %+v, %v", m, err)
	}
	// Which services there are is not known here, and differs from core to core.
	if word := regexp.MustCompile(`(?i)\b(search|mail|releases|containers)\b`).FindString(m.Description); word != "" {
		t.Errorf("the description advertises the service %q: %s", word, m.Description)
	}
	for _, i := range m.Icons {
		body := fetched(t, e, i.Src).Body.Bytes()
		if i.Type != "image/png" {
			continue
		}
		img, err := png.Decode(bytes.NewReader(body))
		if err != nil {
			t.Fatalf("%s: %v", i.Src, err)
		}
		looksRight(t, i, img)
	}
}

// looksRight checks the size, that there is a drawing, and that a masked picture has no hole at its edge.
func looksRight(t *testing.T, i manifestIcon, img image.Image) {
	t.Helper()
	size := map[string]int{"192x192": 192, "512x512": 512}[i.Sizes]
	if img.Bounds().Dx() != size || img.Bounds().Dy() != size {
		t.Errorf("%s is %v large", i.Src, img.Bounds())
	}
	colours := map[[4]uint32]bool{}
	for n := range size {
		r, g, b, a := img.At(n, n).RGBA()
		colours[[4]uint32{r, g, b, a}] = true
	}
	_, _, _, corner := img.At(0, 0).RGBA()
	if len(colours) < 3 || (corner == 0xffff) != (i.Purpose == "maskable") {
		t.Errorf("%s has %d colours, and %d in its corner", i.Src, len(colours), corner)
	}
}

func TestWorker(t *testing.T) {
	e := engine(t)
	w := fetched(t, e, WorkerPath+"?subscriptions=/api/web-push/subscriptions")
	got := w.Header()
	if got.Get("Content-Type") != "text/javascript; charset=utf-8" || got.Get("Cache-Control") != "no-cache" ||
		got.Get("Service-Worker-Allowed") != "/" ||
		strings.Contains(got.Get("Content-Security-Policy"), "unsafe") {
		t.Errorf("header %v", got)
	}
	for _, name := range []string{"icon-192", "badge-96"} {
		url := regexp.MustCompile(`/assets/` + name + `\.[0-9a-f]{16}\.png`).FindString(w.Body.String())
		if url == "" {
			t.Fatalf("the service worker does not name %s", name)
		}
		fetched(t, e, url)
	}
	if strings.Contains(w.Body.String(), "'fetch'") {
		t.Error("the service worker answers requests of pages")
	}
}
