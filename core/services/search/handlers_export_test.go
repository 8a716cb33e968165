package search

import (
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/search/api"
	"github.com/patchbay-dev/patchbay/core/services/search/audit"
	"github.com/patchbay-dev/patchbay/core/store"
)

func TestExportOfTheLog(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		e := newEnvOn(t, testkit.OpenStore(t, cfg, Migrations()))
		c := newContract(e)
		e.traffic(api.ExportPage/2 + 10)
		e.flush()
		list := field(t, c.admin(200, "GET", "/api/logs/list?limit=200", ""), "items").([]any)

		g := c.admin(200, "GET", "/api/logs/export?format=csv", "")
		lines, err := csv.NewReader(strings.NewReader(g.body)).ReadAll()
		if err != nil || len(lines) != api.ExportPage+21 {
			t.Fatalf("%d lines, %v", len(lines), err)
		}
		if kind, name := g.header.Get("Content-Type"), g.header.Get("Content-Disposition"); kind != "text/csv; charset=utf-8" ||
			!strings.Contains(name, "patchbay-requests.csv") {
			t.Errorf("%s, %s", kind, name)
		}
		first := list[0].(map[string]any)
		for i, column := range lines[0] {
			want, err := json.Marshal(first[column])
			if err != nil || first[column] == nil || strings.Trim(string(want), `"`) != lines[1][i] {
				t.Errorf("%s is %q in the file and %s in the list", column, lines[1][i], want)
			}
		}
		seen := map[string]bool{}
		for _, l := range lines[1:] {
			seen[l[0]] = true
		}
		if len(seen) != api.ExportPage+20 {
			t.Errorf("%d different requests", len(seen))
		}

		token := first["auth_token_id"].(string)
		g = c.admin(200, "GET", "/api/logs/export?format=ndjson&operation=map&auth_token_id="+token, "")
		rows := 0
		for line := range strings.Lines(g.body) {
			var r audit.RequestLog
			if err := json.Unmarshal([]byte(line), &r); err != nil || r.Operation != "map" || r.TokenID != token {
				t.Fatalf("%s: %v", line, err)
			}
			rows++
		}
		if rows == 0 || g.header.Get("Content-Type") != "application/x-ndjson" {
			t.Errorf("%d rows of type %s", rows, g.header.Get("Content-Type"))
		}
		for query, name := range map[string]string{"format=xls": "format", "result=fine": "result", "limit=5": "limit", "token=x": "token"} {
			if g := c.admin(400, "GET", "/api/logs/export?"+query, ""); g.json["field"] != name {
				t.Errorf("%s: %s", query, g.body)
			}
		}
		if g := c.member(200, "GET", "/api/user/logs/export", ""); strings.Count(g.body, "\n") != 1 {
			t.Errorf("somebody without a token sees %s", g.body)
		}
	})
}

func TestUnknownQueryParameters(t *testing.T) {
	e := newEnv(t)
	c := newContract(e)
	token := e.token(nil)
	for _, path := range []string{"/api/tokens", "/api/keys", "/api/logs/list", "/api/logs/events", "/api/metrics", "/api/summary"} {
		g := c.admin(400, "GET", path+"?per_pages=5", "")
		if message, _ := g.json["message"].(string); g.json["code"] != "invalid_request" || g.json["field"] != "per_pages" ||
			!strings.Contains(message, "per_pages") {
			t.Errorf("%s: %s", path, g.body)
		}
	}
	for path, status := range map[string]int{"search?x=1": 400, "search?api_key=" + token: 400, "search": 200} {
		if g := e.post(path, token, `{"query":"q"}`); g.status != status || strings.Contains(g.body, token) {
			t.Errorf("%s: %d %s", path, g.status, g.body)
		}
	}
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	if g := e.send("POST", "/search/mcp?tavilyApiKey="+token+"&client=x", ping, "Accept", "application/json, text/event-stream",
		"Content-Type", "application/json"); g.status != 200 {
		t.Errorf("mcp: %d %s", g.status, g.body)
	}
	if g := e.send("GET", "/search/health?probe=1", ""); g.status != 200 {
		t.Errorf("health: %d", g.status)
	}
}
