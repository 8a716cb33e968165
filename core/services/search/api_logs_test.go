package search

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/search/audit"
	"github.com/patchbay-dev/patchbay/core/services/search/internal/searchtest"
	"github.com/patchbay-dev/patchbay/core/services/search/proxy"
	"github.com/patchbay-dev/patchbay/core/store"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

func TestLogAPI(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		e := newEnvOn(t, testkit.OpenStore(t, cfg, Migrations()), func(e *env) { e.set.LogBodies = true })
		c := newContract(e)
		e.traffic(12)
		e.flush()
		all := c.admin(200, "GET", "/api/logs/list?limit=200", "")
		items := field(t, all, "items").([]any)
		if len(items) != 24 || all.json["nextCursor"] != nil || all.json["prevCursor"] != nil {
			t.Fatalf("%d requests: %s", len(items), all.body)
		}
		// Forwards and back again in pages of five: the same rows, the newest first.
		var forward, back []any
		page := c.admin(200, "GET", "/api/logs/list?limit=5", "")
		for {
			forward = append(forward, field(t, page, "items").([]any)...)
			next, ok := page.json["nextCursor"].(string)
			if !ok {
				break
			}
			page = c.admin(200, "GET", "/api/logs/list?limit=5&cursor="+next, "")
		}
		for {
			back = append(append([]any{}, field(t, page, "items").([]any)...), back...)
			prev, ok := page.json["prevCursor"].(string)
			if !ok {
				break
			}
			page = c.admin(200, "GET", "/api/logs/list?limit=5&cursor="+prev, "")
		}
		for _, way := range [][]any{forward, back} {
			if len(way) != 24 {
				t.Fatalf("paging shows %d of 24 rows", len(way))
			}
			for i := range way {
				if way[i].(map[string]any)["id"] != items[i].(map[string]any)["id"] {
					t.Fatalf("row %d differs", i)
				}
			}
		}
		first := items[0].(map[string]any)
		since := searchtest.Noon.Add(7*6*time.Minute - time.Second).Format(time.RFC3339)
		for query, want := range map[string]int{
			"operation=map": 12, "operation=search&operation=map": 24,
			"result=error&operation=map": countRows(items, "result_status", "error", "operation", "map"),
			"result=refused":             countRows(items, "result_status", "refused"), "http_status=502": countRows(items, "http_status", 502.0),
			"auth_token_id=" + first["auth_token_id"].(string): countRows(items, "auth_token_id", first["auth_token_id"]),
			"key_id=none": 0, "backend=search.web": countRows(items, "backend", "search.web"), "since=" + since: 14, "until=" + since: 10,
		} {
			g := c.admin(200, "GET", "/api/logs/list?limit=200&"+query, "")
			if got := len(field(t, g, "items").([]any)); got != want {
				t.Errorf("%s: %d requests, want %d", query, got, want)
			}
		}
		for _, bad := range []string{"limit=0", "cursor=x", "result=fine", "since=yesterday", "request_id=mine"} {
			c.admin(400, "GET", "/api/logs/list?"+bad, "")
		}
		c.admin(200, "GET", "/api/logs/catalog", "")
		for _, it := range items {
			row := it.(map[string]any)
			if row["result_status"] == "success" {
				g := c.admin(200, "GET", fmt.Sprintf("/api/logs/%.0f/details", row["id"]), "")
				if g.json["request_body"] != `{"query":"x"}` || g.json["response_body"] != `{}` {
					t.Errorf("got %s", g.body)
				}
				break
			}
		}
		c.admin(404, "GET", "/api/logs/999/details", "")
		c.admin(400, "GET", "/api/logs/x/details", "")
		for _, w := range []string{"1h", "24h", "30d"} {
			g := c.admin(200, "GET", "/api/metrics?window="+w, "")
			if w != "1h" && field(t, g, "total", "requests").(float64)+field(t, g, "total", "refused").(float64) != 24 {
				t.Errorf("%s: got %s", w, g.body)
			}
		}
		c.admin(400, "GET", "/api/metrics?window=1y", "")
		g := c.admin(200, "GET", "/api/summary/windows", "")
		if field(t, g, "today", "requests").(float64)+field(t, g, "today", "refused").(float64) != 24 {
			t.Errorf("got %s", g.body)
		}
	})
}

// countRows counts rows whose members have the values.
func countRows(items []any, pairs ...any) (n int) {
	for _, it := range items {
		ok := true
		for i := 0; i < len(pairs); i += 2 {
			ok = ok && it.(map[string]any)[pairs[i].(string)] == pairs[i+1]
		}
		if ok {
			n++
		}
	}
	return n
}

func TestRequestIsFoundByItsID(t *testing.T) {
	e := newEnv(t, func(e *env) { e.clock.Set(time.Now()) })
	c := newContract(e)
	token := e.token(nil)
	g := e.send("POST", "/search/api/proxy/search", `{"query":"x"}`, "Authorization", "Bearer "+token)
	e.send("POST", "/search/api/proxy/search", `{"query":"y"}`, "Authorization", "Bearer "+token)
	e.flush()
	found := c.admin(200, "GET", "/api/logs/list?request_id="+g.header.Get("X-Request-Id"), "")
	if n := len(field(t, found, "items").([]any)); n != 1 {
		t.Fatalf("%d requests have the id", n)
	}
}

// TestLogIsLive: who listens hears of each request as it ends, and after a break of those that were missed.
func TestLogIsLive(t *testing.T) {
	e := newEnv(t, knowing(people{"ann": {ID: "ann"}}))
	c := newContract(e)
	mine := field(t, c.admin(201, "POST", "/api/tokens", `{"owner_id":"ann"}`), "token").(string)
	other := e.token(nil)
	listen := func(path, user, last string) (next func() string, stop func()) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		req, err := http.NewRequestWithContext(ctx, "GET", e.base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Test-User", user)
		if last != "" {
			req.Header.Set("Last-Event-ID", last)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(res.Body)
		return func() string {
			for lines.Scan() {
				if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
					return data
				}
			}
			t.Fatalf("the stream has ended: %v", lines.Err())
			return ""
		}, func() { cancel(); _ = res.Body.Close() }
	}
	if refused := c.admin(400, "GET", "/api/logs/events?afterId=seven", ""); refused.json["code"] != "invalid_request" ||
		refused.json["field"] != "afterId" {
		t.Errorf("a cursor that is no number: %s", refused.body)
	}
	send := func(text string) {
		e.send("POST", "/search/api/proxy/search", `{"query":"x"}`, "Authorization", "Bearer "+text)
	}

	all, stopAll := listen("/search/api/logs/events", asAdmin, "")
	own, stopOwn := listen("/search/api/user/logs/events", asMember, "")
	send(other)
	send(mine)
	if first, second := all(), all(); !strings.Contains(first, idOf(other)) || !strings.Contains(second, idOf(mine)) {
		t.Errorf("got %s and %s", first, second)
	}
	if got := own(); !strings.Contains(got, idOf(mine)) {
		t.Errorf("a member hears of %s", got)
	}
	stopAll()
	stopOwn()
	send(other)
	e.flush()
	missed, stop := listen("/search/api/logs/events", asAdmin, "2")
	defer stop()
	if got := missed(); !strings.Contains(got, `"id":3`) {
		t.Errorf("after a break: got %s", got)
	}
}

// TestLongBodiesAreCut: the audit keeps the beginning of a long body, and its whole size.
func TestLongBodiesAreCut(t *testing.T) {
	e := newEnv(t, func(e *env) { e.set.LogBodies = true })
	long := `{"results":["` + strings.Repeat("y", 2*proxy.MaxLogged) + `"]}`
	e.backend.invoke = func(context.Context, *sdk.Request) (*sdk.Reply, error) { return reply(200, long), nil }
	g := e.send("POST", "/search/api/proxy/search", `{"query":"`+strings.Repeat("x", 2*proxy.MaxLogged)+`"}`, "Authorization",
		"Bearer "+e.token(nil))
	if g.status != 200 || g.body != long {
		t.Fatalf("got %d, %d bytes", g.status, len(g.body))
	}
	e.flush()
	d, err := e.svc.Request(t.Context(), 1)
	if err != nil || len(*d.RequestBody) != proxy.MaxLogged || len(*d.ResponseBody) != proxy.MaxLogged || d.ResponseBytes != len(long) {
		t.Fatalf("kept %d and %d bytes of %d, %v", len(*d.RequestBody), len(*d.ResponseBody), d.ResponseBytes, err)
	}
}

// TestLogIsInOrder: a request that took long and was written open before is told before those that began after it, though both are
// in one write: who was cut off asks for what came after the last id.
func TestLogIsInOrder(t *testing.T) {
	e := newEnv(t)
	sub := e.svc.Live()
	defer sub.Close()
	e.svc.RecordWritten([]audit.Entry{{ID: 2, Outcome: audit.Success}, {ID: 4, Outcome: audit.Open}, {ID: 5, Outcome: audit.Refused}},
		[]audit.Entry{{ID: 3, Outcome: audit.Failure}, {ID: 1, Outcome: audit.Success}})
	for _, want := range []int64{1, 2, 3, 5} {
		ev := <-sub.Events()
		if got := ev.Data.(audit.RequestLog).ID; got != want {
			t.Fatalf("got the request %d, want %d", got, want)
		}
	}
}
