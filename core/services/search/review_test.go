package search

import (
	"bufio"
	"net/http"
	neturl "net/url"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/store"
)

// TestRollupsAfterACrashBeforeTheFirstStore: an end in good order says nothing about how the next process ends.
func TestRollupsAfterACrashBeforeTheFirstStore(t *testing.T) {
	e := newEnv(t)
	e.traffic(3)
	e.svc.Close()
	e.svc = e.start()
	e.traffic(4)
	if err := e.svc.FlushRows(t.Context()); err != nil {
		t.Fatal(err)
	}
	e.svc.DropUnstored()
	e.svc = e.start()
	e.compareRollups("after a crash")
}

// TestSearchTextBeyondASCII: each database has letters of its own that it can lower.
func TestSearchTextBeyondASCII(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		e := newEnvOn(t, testkit.OpenStore(t, cfg, Migrations()))
		c := newContract(e)
		c.admin(201, "POST", "/api/tokens", `{"note":"Übung ÄÖ 100%_\\"}`)
		for _, q := range []string{"Übung", "ÄÖ", "bung", "BUNG", `100%_\`} {
			if g := c.admin(200, "GET", "/api/tokens?q="+neturl.QueryEscape(q), ""); g.json["total"] != 1.0 {
				t.Errorf("%q: %s", q, g.body)
			}
		}
	})
}

// TestTextsThatADatabaseRefuses: NUL and what is not UTF-8 select nothing or are refused; they are no failure of the server.
func TestTextsThatADatabaseRefuses(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		e := newEnvOn(t, testkit.OpenStore(t, cfg, Migrations()))
		for _, bad := range []string{"%00", "%FF", "a%00b"} {
			for _, path := range []string{
				"/api/tokens?q=" + bad, "/api/tokens?group=" + bad, "/api/tokens?owner=" + bad, "/api/tokens/" + bad,
				"/api/tokens/" + bad + "/metrics", "/api/keys/" + bad,
				"/api/keys?group=" + bad, "/api/keys?status=" + bad, "/api/keys/" + bad + "/history", "/api/keys/" + bad + "/metrics",
				"/api/logs/list?auth_token_id=" + bad, "/api/logs/list?key_id=" + bad, "/api/logs/list?backend=" + bad,
				"/api/logs/list?operation=" + bad,
				"/api/logs/list?request_id=" + bad, "/api/user/tokens/" + bad, "/api/user/logs?auth_token_id=" + bad,
			} {
				if g := e.send(http.MethodGet, "/search"+path, "", "X-Test-User", asAdmin); g.status >= 500 {
					t.Errorf("%s: %d %s", path, g.status, g.body)
				}
			}
		}
		for _, body := range []string{`{"ids":["a\u0000b"],"enabled":false}`} {
			if g := e.send(http.MethodPatch, "/search/api/tokens/batch/status", body, "X-Test-User", asAdmin, "Content-Type",
				"application/json"); g.status >= 500 {
				t.Errorf("%s: %d %s", body, g.status, g.body)
			}
		}
		for _, body := range []string{`{"owner_id":"a\u0000b"}`, `{"note":"","group":"a\u0000"}`} {
			if g := e.send(http.MethodPost, "/search/api/tokens", body, "X-Test-User", asAdmin, "Content-Type",
				"application/json"); g.status >= 500 {
				t.Errorf("%s: %d %s", body, g.status, g.body)
			}
		}
		for path, body := range map[string]string{
			"/api/keys/bulk-actions": `{"action":"enable","key_ids":["a\u0000b"]}`,
			"/api/tokens":            `{"note":"a\u0000b"}`, "/api/keys": `{"api_key":"tvly-1","group":"a\u0000b"}`,
			"/api/keys/batch":   `{"api_keys":["a\u0000b"]}`,
			"/api/tokens/batch": `{"group":"a\u0000b","count":1}`,
		} {
			if g := e.send(http.MethodPost, "/search"+path, body, "X-Test-User", asAdmin, "Content-Type", "application/json"); g.status >= 500 {
				t.Errorf("%s: %d %s", path, g.status, g.body)
			}
		}
	})
}

// TestOtherSitesMakeNoCallsWithoutAToken: in open development a page of another site could otherwise spend what there is.
func TestOtherSitesMakeNoCallsWithoutAToken(t *testing.T) {
	e := newEnv(t, func(e *env) { e.set.DevOpenAdmin = true })
	token := e.token(nil)
	tests := []struct {
		name   string
		header []string
		want   int
	}{
		{"no browser", nil, 200},
		{"own page", []string{"Sec-Fetch-Site", "same-origin"}, 200},
		{"another site", []string{"Sec-Fetch-Site", "cross-site", "Content-Type", "text/plain"}, 403},
		{"another origin, old browser", []string{"Origin", "https://evil.example"}, 403},
		{"another site with a token", []string{"Sec-Fetch-Site", "cross-site", "Authorization", "Bearer " + token}, 200},
	}
	for _, tt := range tests {
		if g := e.send(http.MethodPost, url+"search", `{"query":"a"}`, tt.header...); g.status != tt.want {
			t.Errorf("%s: %d %s", tt.name, g.status, g.body)
		}
	}
}

// TestLogStreamsFollowTheirReader: a stream ends with the session, and tokens count for whom they belong to now.
func TestLogStreamsFollowTheirReader(t *testing.T) {
	e := newEnv(t, knowing(people{"ann": {ID: "ann"}, "bob": {ID: "bob"}}))
	c := newContract(e)
	text := field(t, c.admin(201, "POST", "/api/tokens", `{"owner_id":"ann"}`), "token").(string)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, e.base+"/search/api/user/logs/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Test-User", asMember)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	later := e.token(nil)
	c.admin(204, "PATCH", "/api/tokens/"+idOf(text), `{"owner_id":"bob"}`)
	c.admin(204, "PATCH", "/api/tokens/"+idOf(later), `{"owner_id":"ann"}`)
	for _, token := range []string{text, later} {
		e.send(http.MethodPost, url+"search", `{"query":"a"}`, "Authorization", "Bearer "+token)
		e.flush()
	}
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		if !strings.Contains(data, `"`+idOf(later)+`"`) {
			t.Errorf("the former owner hears of %s", data)
		}
		return
	}
	t.Errorf("nothing came: %v", lines.Err())
}
