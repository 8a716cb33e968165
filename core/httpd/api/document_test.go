package api

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/internal/testing/webtest"
)

// TestStaticRouteWritesOnce: content is written at the first request, once, however many ask at once; one that cannot be written is an
// error of this server, which tells nothing of it.
func TestStaticRouteWritesOnce(t *testing.T) {
	var mu sync.Mutex
	written := 0
	s := webtest.Serve(t, httpd.Options{}, httpd.Mount{Service: "t", BaseURL: "/t", Routes: []httpd.Route{
		staticRoute("/good", "text/html; charset=utf-8", func() ([]byte, error) {
			mu.Lock()
			defer mu.Unlock()
			written++
			return []byte(strings.Repeat("text ", 1000)), nil
		}),
		staticRoute("/bad", "text/plain", func() ([]byte, error) { return nil, errors.New("the secret path") }),
	}})
	if written != 0 {
		t.Errorf("written %d times before the first request", written)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			resp, err := http.Get("http://" + s.Addr() + "/t/good")
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			if body, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK || len(body) != 5000 || !resp.Uncompressed {
				t.Errorf("%d, %d bytes, compressed: %t, %v", resp.StatusCode, len(body), resp.Uncompressed, err)
			}
		})
	}
	all.Wait()
	if written != 1 {
		t.Errorf("written %d times", written)
	}
	for range 2 {
		resp, err := http.Get("http://" + s.Addr() + "/t/bad")
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusInternalServerError || strings.Contains(string(body), "secret") {
			t.Errorf("%d %s", resp.StatusCode, body)
		}
	}
}
