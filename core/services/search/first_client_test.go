package search

import (
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/store"
)

// TestClientIsSeen: an SDK that is answered counts as a client, over a restart; a command, a browser, a wrong token and the
// built-in token do not.
func TestClientIsSeen(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		e := newEnvOn(t, testkit.OpenStore(t, cfg, Migrations()), func(e *env) { e.set.DevOpenAdmin = true })
		token := e.token(nil)
		const path, body = "/search/api/proxy/search", `{"query":"q"}`
		for name, header := range map[string][]string{
			"a command":          {"Authorization", "Bearer " + token, "User-Agent", "curl/8.5.0"},
			"a browser":          {"Authorization", "Bearer " + token, "User-Agent", "Mozilla/5.0 (X11)"},
			"without a name":     {"Authorization", "Bearer " + token, "User-Agent", ""},
			"without a token":    {"User-Agent", "python-requests/2.32"},
			"with a wrong token": {"Authorization", "Bearer th-aaaa-" + token[8:], "User-Agent", "python-requests/2.32"},
		} {
			if e.send("POST", path, body, append(header, "Content-Type", "application/json")...); e.svc.ClientSeen() {
				t.Fatalf("%s is taken for a client", name)
			}
		}
		if g := e.send("POST", path, body, "Authorization", "Bearer "+token, "User-Agent", "axios/1.7.9", "Content-Type",
			"application/json"); g.status != 200 || !e.svc.ClientSeen() {
			t.Fatalf("%d, a library is seen: %v", g.status, e.svc.ClientSeen())
		}
		e.send("POST", path, body, "Authorization", "Bearer "+token, "User-Agent", "python-requests/2.32", "Content-Type", "application/json")
		if again := e.start(); !again.ClientSeen() {
			t.Error("a restart forgets it")
		}
	})
}

// TestMCPClientIsSeen: an assistant that connects with a token counts as a client before it calls a tool.
func TestMCPClientIsSeen(t *testing.T) {
	e, _ := mcpEnv(t)
	if e.rpc("th-aaaa-000000000000000000000000", welcome); e.svc.ClientSeen() {
		t.Error("a wrong token is a client")
	}
	if g := e.rpc(e.token(nil), welcome); g.status != 200 || !e.svc.ClientSeen() {
		t.Errorf("%d %s, seen: %v", g.status, g.body, e.svc.ClientSeen())
	}
}
