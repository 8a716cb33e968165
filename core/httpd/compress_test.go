package httpd_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/httpd"
)

// textServer serves a text at /text, and a file at /file.
func textServer(t *testing.T, text string) string {
	t.Helper()
	h, err := httpd.NewHandler([]httpd.Mount{{Service: "s", BaseURL: "/", Routes: []httpd.Route{
		{Method: http.MethodGet, Path: "/text", Policy: httpd.Public, Handler: func(c *gin.Context) {
			httpd.WriteText(c, http.StatusTeapot, "text/html; charset=utf-8", []byte(text))
		}},
		{Method: http.MethodGet, Path: "/file", Policy: httpd.Public, Handler: httpd.NewFile("text/css; charset=utf-8", []byte(text)).Write},
		{Method: http.MethodGet, Path: "/brotli", Policy: httpd.Public,
			Handler: httpd.NewFile("text/css; charset=utf-8", []byte(text)).WithBrotli([]byte("packed")).Write},
		{Method: http.MethodGet, Path: "/picture", Policy: httpd.Public, Handler: httpd.NewFile("image/png", []byte(text)).Write},
	}}}, httpd.Options{})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv.URL
}

// fetch sends a request without the transparent decompression of Go's client, and returns the answer and its unpacked body.
func fetch(t *testing.T, url string, header map[string]string) (*http.Response, string, int) {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range header {
		req.Header.Set(k, v)
	}
	res, err := (&http.Transport{DisableCompression: true, DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	sent, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if res.Header.Get("Content-Encoding") != "gzip" {
		return res, string(sent), len(sent)
	}
	z, err := gzip.NewReader(strings.NewReader(string(sent)))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(plain), len(sent)
}

func TestTextsAreCompressed(t *testing.T) {
	long := strings.Repeat("<p>The same words again.</p>", 500)
	base := textServer(t, long)
	gzip := map[string]string{"Accept-Encoding": "gzip, br"}
	for _, tt := range []struct {
		name, path string
		header     map[string]string
		status     int
		packed     bool
	}{
		{"page", "/text", gzip, http.StatusTeapot, true},
		{"file", "/file", gzip, http.StatusOK, true},
		{"picture", "/picture", gzip, http.StatusOK, false},
		{"client that accepts nothing", "/text", nil, http.StatusTeapot, false},
		{"file for a client that refuses gzip", "/file", map[string]string{"Accept-Encoding": "br, gzip; q=0"}, http.StatusOK, false},
		{"file for a client that prefers another", "/file", map[string]string{"Accept-Encoding": "br;q=1, GZIP;q=0.5"}, http.StatusOK, true},
		{"file for a client that accepts nothing", "/file", nil, http.StatusOK, false},
		{"client that refuses gzip", "/text", map[string]string{"Accept-Encoding": "gzip;q=0"}, http.StatusTeapot, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res, body, sent := fetch(t, base+tt.path, tt.header)
			if res.StatusCode != tt.status || body != long {
				t.Fatalf("status %d, %d characters, want %d and %d", res.StatusCode, len(body), tt.status, len(long))
			}
			if packed := res.Header.Get("Content-Encoding") == "gzip"; packed != tt.packed || packed && sent > len(long)/10 {
				t.Errorf("compressed: %v, %d bytes sent", packed, sent)
			}
			if !strings.Contains(res.Header.Get("Vary"), "Accept-Encoding") {
				t.Errorf("Vary is %q", res.Header.Get("Vary"))
			}
		})
	}
	for accepted, want := range map[string]string{"gzip, deflate, br, zstd": "br", "br;q=0, gzip": "gzip", "gzip": "gzip", "": ""} {
		res, body, _ := fetch(t, base+"/brotli", map[string]string{"Accept-Encoding": accepted})
		if got := res.Header.Get("Content-Encoding"); got != want || (body == "packed") != (want == "br") {
			t.Errorf("a client that accepts %q is sent %q", accepted, got)
		}
	}
	if res, body, _ := fetch(t, textServer(t, "short")+"/text", gzip); res.Header.Get("Content-Encoding") != "" || body != "short" {
		t.Errorf("a short text came as %q, %q", res.Header.Get("Content-Encoding"), body)
	}
}

func TestFilesThatAClientHas(t *testing.T) {
	text := strings.Repeat("a {} ", 1000)
	base := textServer(t, text)
	first, _, _ := fetch(t, base+"/file", map[string]string{"Accept-Encoding": "gzip"})
	tag := first.Header.Get("ETag")
	if want := `W/"` + httpd.NewFile("", []byte(text)).Tag() + `"`; tag != want {
		t.Fatalf("ETag is %q", tag)
	}
	if res, body, _ := fetch(t, base+"/file",
		map[string]string{"Accept-Encoding": "gzip", "If-None-Match": tag}); res.StatusCode != http.StatusNotModified || body != "" {
		t.Errorf("with the tag: %d, %q", res.StatusCode, body)
	}
	if res, _, _ := fetch(t, base+"/file", map[string]string{"If-None-Match": `W/"other"`}); res.StatusCode != http.StatusOK {
		t.Errorf("with another tag: %d", res.StatusCode)
	}
}
