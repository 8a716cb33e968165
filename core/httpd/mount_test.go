package httpd_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
)

func TestMounts(t *testing.T) {
	s := serve(t, httpd.Options{},
		httpd.Mount{Service: httpd.CoreService, Routes: []httpd.Route{get("/"), get("/system/x")}},
		httpd.Mount{Service: "root", BaseURL: "/", Routes: []httpd.Route{get("/a"), get("/system/y"), get("/search")}},
		httpd.Mount{Service: "search", BaseURL: "/search/", Routes: []httpd.Route{get("/a")}},
		httpd.Mount{Service: "deep", BaseURL: "/search/deep", Routes: []httpd.Route{get("/"), get("/a")}},
		httpd.Mount{Service: "host", BaseURL: "http://Example.com:8080/search", Routes: []httpd.Route{get("/b")}},
	)
	for _, c := range []struct {
		host, target string
		status       int
		body         string
	}{
		{"", "/", 200, "/"},
		{"", "/a", 200, "/a"},
		{"", "/system/x", 200, "/system/x"},
		{"", "/system/y", 404, ""},
		{"", "/assets/x", 404, ""},
		{"", "/.well-known/oauth-protected-resource", 404, ""},
		{"", "/search/a", 200, "/a"},
		{"", "/search", 404, ""},
		{"", "/searching", 404, ""},
		{"", "/search/deep/a", 200, "/a"},
		{"", "/search/deep/", 200, "/"},
		{"", "/search/deep", 200, "/"},
		{"", "/search/b", 404, ""},
		{"EXAMPLE.com:1234", "/search/b", 200, "/b"},
		{"example.com", "/search/a", 404, ""},
		{"other.com", "/search/b", 404, ""},
	} {
		t.Run(c.host+c.target, func(t *testing.T) {
			got := ask(t, s, http.MethodGet, c.target, nil, func(r *http.Request) { r.Host = c.host })
			if got.status != c.status || c.body != "" && got.body != c.body {
				t.Fatalf("got %d %q", got.status, got.body)
			}
			if c.status == 404 && got.json["code"] != "not_found" {
				t.Fatalf("body %q", got.body)
			}
		})
	}
}

func TestMountRefusals(t *testing.T) {
	ok := func(c *gin.Context) {}
	for _, c := range []struct {
		name   string
		mounts []httpd.Mount
		want   string
	}{
		{"no policy", []httpd.Mount{{Service: "s", BaseURL: "/s", Routes: []httpd.Route{{Method: "GET", Path: "/a", Handler: ok}}}},
			"has no policy"},
		{"unknown policy", []httpd.Mount{{Service: "s", BaseURL: "/s",
			Routes: []httpd.Route{{Method: "GET", Path: "/a", Policy: "all", Handler: ok}}}}, "has no policy"},
		{"no guard", []httpd.Mount{{Service: "s", BaseURL: "/s",
			Routes: []httpd.Route{{Method: "GET", Path: "/a", Policy: httpd.Admin, Handler: ok}}}}, "needs a guard"},
		{"no handler", []httpd.Mount{{Service: "s", BaseURL: "/s", Routes: []httpd.Route{{Method: "GET", Path: "/a", Policy: httpd.Public}}}},
			"incomplete"},
		{"relative path", []httpd.Mount{{Service: "s", BaseURL: "/s",
			Routes: []httpd.Route{{Method: "GET", Path: "a", Policy: httpd.Public, Handler: ok}}}}, "incomplete"},
		{"twice", []httpd.Mount{{Service: "s", BaseURL: "/s", Routes: []httpd.Route{get("/a"), get("/a")}}}, "declared twice"},
		{"same place", []httpd.Mount{{Service: "s", BaseURL: "/s"}, {Service: "z", BaseURL: "/s/"}}, "mounted at"},
		{"bad base", []httpd.Mount{{Service: "s", BaseURL: "ftp://x/s"}}, "neither a path nor"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := httpd.Listen("127.0.0.1:0", "test", hclog.NewNullLogger())
			if err != nil {
				t.Fatal(err)
			}
			defer s.Shutdown(t.Context())
			if err := s.Mount(c.mounts, httpd.Options{Logger: hclog.NewNullLogger()}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want %q", err, c.want)
			}
		})
	}
}

func TestGuardDecides(t *testing.T) {
	guard := func(c *gin.Context, service string, r httpd.Route) error {
		if service != "s" {
			t.Errorf("asked about the service %q", service)
		}
		if r.Policy == httpd.Admin && c.GetHeader("X-Test") != "admin" {
			return fault.New(fault.Forbidden, "Not for you.")
		}
		return nil
	}
	route := get("/a")
	route.Policy = httpd.Admin
	s := serve(t, httpd.Options{Guard: guard}, httpd.Mount{Service: "s", BaseURL: "/s", Routes: []httpd.Route{route}})
	if got := ask(t, s, "GET", "/s/a", nil); got.status != 403 || got.json["code"] != "forbidden" {
		t.Fatalf("got %d %q", got.status, got.body)
	}
	if got := ask(t, s, "GET", "/s/a", nil, func(r *http.Request) { r.Header.Set("X-Test", "admin") }); got.status != 200 {
		t.Fatalf("got %d %q", got.status, got.body)
	}
}

func TestRoutingIsSwappedUnderLoad(t *testing.T) {
	mounts := []httpd.Mount{{Service: "s", BaseURL: "/s", Routes: []httpd.Route{get("/a")}}}
	s := serve(t, httpd.Options{}, mounts...)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if got := ask(t, s, "GET", "/s/a", nil); got.status != 200 {
					t.Errorf("got %d %q", got.status, got.body)
					return
				}
			}
		})
	}
	for range 200 {
		if err := s.Mount(mounts, httpd.Options{Logger: hclog.NewNullLogger()}); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	wg.Wait()
}

// TestUnknownPathsBesidePreflights: a route that answers every OPTIONS does not make unknown paths known.
func TestUnknownPathsBesidePreflights(t *testing.T) {
	options := get("/api/*path")
	options.Method = http.MethodOptions
	s := serve(t, httpd.Options{}, httpd.Mount{Service: "a", BaseURL: "/a",
		Routes: []httpd.Route{options, get("/"), get("/api/things"), get("/api/things/:id"), get("/api/files/*rest")}})
	for _, tt := range []struct {
		method, path string
		status       int
	}{
		{http.MethodGet, "/a/api/nothing", http.StatusNotFound}, {http.MethodPost, "/a/api/nothing", http.StatusNotFound},
		{http.MethodPost, "/a/api/things/1/2", http.StatusNotFound},
		{http.MethodPost, "/a/api/things", http.StatusMethodNotAllowed}, {http.MethodDelete, "/a/api/things/1", http.StatusMethodNotAllowed},
		{http.MethodPut, "/a/api/files/x/y", http.StatusMethodNotAllowed}, {http.MethodPost, "/a/", http.StatusMethodNotAllowed},
		{http.MethodPost, "/a", http.StatusMethodNotAllowed},
		{http.MethodOptions, "/a/api/nothing", http.StatusOK},
	} {
		if got := ask(t, s, tt.method, tt.path, nil); got.status != tt.status {
			t.Errorf("%s %s: %d, want %d", tt.method, tt.path, got.status, tt.status)
		}
	}
}
