package search

import (
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/services/search/api"
)

// TestGuessingIsSlowedDown: who shows token after token is refused for a while; a valid token passes all the same.
func TestGuessingIsSlowedDown(t *testing.T) {
	e := newEnv(t)
	c := newContract(e)
	valid := []string{"Authorization", "Bearer " + e.token(nil)}
	wrong := []string{"Authorization", "Bearer th-abcd-abcdefghijklmnopqrstuvwx"}
	for range api.Guesses {
		if g := e.send("POST", "/search/api/proxy/search", `{"query":"x"}`, wrong...); g.status != 401 {
			t.Fatalf("got %d %s", g.status, g.body)
		}
	}
	for _, path := range []string{"/search/api/proxy/search", "/search/mcp"} {
		g := c.call(429, "POST", path, `{"query":"x"}`, wrong...)
		if g.json["code"] != "rate_limited" || g.header.Get("Retry-After") != "1" {
			t.Errorf("%s: got %s", path, g.body)
		}
	}
	// No token at all is no guess.
	c.call(401, "POST", "/search/api/proxy/search", `{"query":"x"}`)
	c.call(200, "POST", "/search/api/proxy/search", `{"query":"x"}`, valid...)
	c.call(429, "GET", "/search/api/proxy/usage", "", wrong...)
	e.clock.Advance(time.Second)
	c.call(401, "GET", "/search/api/proxy/usage", "", wrong...)
}

// TestGuessesAtAllNodes: who goes from core to core has no more tries.
func TestGuessesAtAllNodes(t *testing.T) {
	nodes := newNodes(t, 2)
	began, refused := time.Now(), 0
	for i := range 2 * api.Guesses {
		got := nodes[i%2].send("POST", "/search/api/proxy/search", `{"query":"x"}`, "Authorization", "Bearer th-abcd-abcdefghijklmnopqrstuvwx")
		if got.status == 429 {
			refused++
		}
	}
	if more := int(time.Since(began)/time.Second) + 1; refused < api.Guesses-more {
		t.Errorf("%d of %d tries were refused, and at most %d more became free", refused, 2*api.Guesses, more)
	}
}

// TestListenersRefusalsHaveTheServicesWord: what never reaches a handler has the code of this service for bad requests.
func TestListenersRefusalsHaveTheServicesWord(t *testing.T) {
	c := newContract(newEnv(t))
	if g := c.admin(400, "GET", "/api/tokens?q=%00", ""); g.json["code"] != "invalid_request" || g.json["error"] != "invalid_request" {
		t.Errorf("got %s", g.body)
	}
}
