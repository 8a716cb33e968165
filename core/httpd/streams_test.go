package httpd_test

import (
	"net/http"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/httpd"
)

// TestStreamsAreBounded: for each caller, and in all; a place that is given back can be taken again.
func TestStreamsAreBounded(t *testing.T) {
	limits := httpd.NewStreamLimits(3, 2)
	releases := map[string][]func(){}
	route := httpd.Route{Method: http.MethodGet, Path: "/open", Policy: httpd.Public, Handler: func(c *gin.Context) {
		release, err := httpd.AcquireStream(c, c.Query("caller"))
		if err != nil {
			httpd.WriteError(c, err)
			return
		}
		releases[c.Query("caller")] = append(releases[c.Query("caller")], release)
		c.Status(http.StatusNoContent)
	}}
	s := serve(t, httpd.Options{Streams: limits}, httpd.Mount{Service: "s", BaseURL: "/s", Routes: []httpd.Route{route}})
	open := func(caller string, want int) {
		t.Helper()
		got := ask(t, s, "GET", "/s/open?caller="+caller, nil)
		if got.status != want || want == 429 && (got.json["code"] != "rate_limited" || got.header.Get("Retry-After") == "") {
			t.Errorf("%s: %d %v", caller, got.status, got.json)
		}
	}
	open("a", 204)
	open("a", 204)
	open("a", 429)
	open("b", 204)
	open("b", 429)
	releases["a"][0]()
	releases["a"][0]()
	open("b", 204)
	open("a", 429)
	releases["b"][0]()
	open("a", 204)
}

func TestHTTPSIsKept(t *testing.T) {
	for _, secure := range []bool{false, true} {
		s := serve(t, httpd.Options{Secure: func(*http.Request) bool { return secure }},
			httpd.Mount{Service: "s", BaseURL: "/s", Routes: []httpd.Route{get("/a")}})
		got := ask(t, s, "GET", "/s/a", nil)
		for _, name := range []string{"Strict-Transport-Security", "Cross-Origin-Opener-Policy"} {
			if (got.header.Get(name) != "") != secure {
				t.Errorf("secure %v: %s is %q", secure, name, got.header.Get(name))
			}
		}
	}
}
