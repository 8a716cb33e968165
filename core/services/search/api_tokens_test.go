package search

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/proxy"
	"github.com/patchbay-dev/patchbay/core/store"
)

// people are the users of a test: those whose ids it names.
type people map[string]auth.User

func (p people) ByID(_ context.Context, ids []string) (map[string]auth.User, error) {
	out := map[string]auth.User{}
	for _, id := range ids {
		if u, ok := p[id]; ok {
			out[id] = u
		}
	}
	return out, nil
}

func (p people) List(context.Context) (out []auth.User, err error) {
	for _, u := range p {
		out = append(out, u)
	}
	return out, nil
}

func (p people) Disabled(context.Context) (ids []string, err error) {
	for id, u := range p {
		if u.Disabled {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// TestTokensOfADisabledUserAreRefused: from the moment in which the service hears of it, until the user is enabled.
func TestTokensOfADisabledUserAreRefused(t *testing.T) {
	who := people{"ann": {ID: "ann"}}
	e := newEnv(t, knowing(who))
	text, err := e.svc.CreateToken(t.Context(), access.NewToken{OwnerID: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		disabled bool
		want     int
	}{{false, 200}, {true, 401}, {false, 200}} {
		who["ann"] = auth.User{ID: "ann", Disabled: tc.disabled}
		if err := e.svc.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if g := e.send("POST", "/search/api/proxy/search", `{"query":"x"}`, "Authorization", "Bearer "+text); g.status != tc.want {
			t.Errorf("disabled %t: got %d", tc.disabled, g.status)
		}
		_, err := e.svc.Try(t.Context(), proxy.Trial{TokenID: idOf(text), Operation: "search", Body: []byte(`{"query":"x"}`)})
		if (err != nil) != tc.disabled {
			t.Errorf("disabled %t: a trial gets %v", tc.disabled, err)
		}
	}
}

func TestOwnersAreThoseWhoMaySignIn(t *testing.T) {
	e := newEnv(t)
	if got, err := e.svc.Owners(t.Context()); err != nil || len(got) != 0 {
		t.Errorf("without users: %v, %v", got, err)
	}
	e = newEnv(t, knowing(people{"ann": {ID: "ann"}, "bob": {ID: "bob", Disabled: true}}))
	if got, err := e.svc.Owners(t.Context()); err != nil || len(got) != 1 || got[0].ID != "ann" {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestTokenAPI(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		e := newEnvOn(t, testkit.OpenStore(t, cfg, Migrations()), knowing(people{"ann": {ID: "ann", Name: "Ann", Email: "ann@example.com"}}))
		c := newContract(e)

		made := field(t, c.admin(201, "POST", "/api/tokens",
			`{"note":"first <b>","owner_id":"ann","limits":{"credits_day":7,"requests_minute":9}}`), "token").(string)
		id := idOf(made)
		if e.send("POST", "/search/api/proxy/search", `{"query":"x"}`, "Authorization", "Bearer "+made).status != 200 {
			t.Fatal("the new token does not work")
		}
		g := c.admin(200, "GET", "/api/tokens/"+id, "")
		for name, want := range map[string]any{"note": "first <b>", "enabled": true, "quota_daily_limit": 7.0, "quota_minute_limit": 9.0,
			"quota_minute_used": 1.0, "quota_hourly_limit": 1000.0, "quota_daily_used": 1.0, "quota_requests_used": 1.0, "quota_state": "normal"} {
			if g.json[name] != want {
				t.Errorf("%s is %v, want %v", name, g.json[name], want)
			}
		}
		if field(t, g, "owner", "displayName") != "Ann" || field(t, g, "limits", "credits_day") != 7.0 ||
			field(t, g, "limits", "credits_hour") != nil {
			t.Errorf("got %s", g.body)
		}
		e.flush()
		if g := c.admin(200, "GET", "/api/tokens/"+id, ""); g.json["total_requests"] != 1.0 || g.json["last_used_at"] == nil {
			t.Errorf("got %s", g.body)
		}

		for _, bad := range []struct{ body, field string }{
			{`{"owner_id":"nobody"}`, "owner_id"}, {`{"note":"` + strings.Repeat("x", 501) + `"}`, "note"},
			{`{"expires_at":"2020-01-01T00:00:00Z"}`, "expires_at"},
			{`{"limits":{"credits_day":-1}}`, "limits.credits_day"}, {`{"limits":{"requests_minute":-1}}`, "limits.requests_minute"},
			{`{"expires_at":"tomorrow"}`, "expires_at"}, {"{\"group\":\"a\\u0007b\"}", "group"},
		} {
			if g := c.admin(400, "POST", "/api/tokens", bad.body); g.json["code"] != "invalid_request" || g.json["field"] != bad.field {
				t.Errorf("%s: got %s", bad.body, g.body)
			}
		}

		batch := c.admin(201, "POST", "/api/tokens/batch", `{"group":"team","count":3,"note":"many"}`)
		texts := field(t, batch, "tokens").([]any)
		if len(texts) != 3 {
			t.Fatalf("got %s", batch.body)
		}
		if g := c.admin(400, "POST", "/api/tokens/batch", `{"count":3}`); g.json["field"] != "group" {
			t.Errorf("got %s", g.body)
		}
		c.admin(400, "POST", "/api/tokens/batch", `{"group":"x","count":1001}`)
		ids := `"` + idOf(texts[0].(string)) + `","` + idOf(texts[1].(string)) + `"`
		if g := c.admin(200, "PATCH", "/api/tokens/batch/status", `{"ids":[`+ids+`,"nope"],"enabled":false}`); g.json["updated"] != 2.0 ||
			field(t, g, "missing", "0") != "nope" {
			t.Errorf("got %s", g.body)
		}
		if g := e.send("POST", "/search/api/proxy/search", `{"query":"x"}`, "Authorization", "Bearer "+texts[0].(string)); g.status != 401 {
			t.Errorf("a frozen token is let in: %d", g.status)
		}
		for query, want := range map[string]float64{
			"": 4, "?group=team": 3, "?no_group=true": 1, "?enabled=frozen": 2, "?enabled=active&group=team": 1, "?owner=bound": 1,
			"?owner=unbound": 3, "?owner=ann": 1,
			"?q=FIRST": 1, "?q=%25": 0, "?q=team": 3, "?quota_state=normal": 4, "?quota_state=day": 0, "?per_page=2&page=2": 4,
		} {
			g := c.admin(200, "GET", "/api/tokens"+query, "")
			if g.json["total"] != want {
				t.Errorf("%s: %v tokens, want %v", query, g.json["total"], want)
			}
			if query == "?per_page=2&page=2" && len(field(t, g, "items").([]any)) != 2 {
				t.Errorf("got %s", g.body)
			}
		}
		c.admin(400, "GET", "/api/tokens?per_page=201", "")
		c.admin(400, "GET", "/api/tokens?group=a&no_group=true", "")
		if g := c.admin(200, "GET", "/api/tokens/groups", ""); !strings.Contains(g.body, `"tokenCount":3`) {
			t.Errorf("got %s", g.body)
		}
		if g := c.admin(200, "GET", "/api/tokens/leaderboard", ""); !strings.Contains(g.body, `"id":"`+id+`"`) ||
			!strings.Contains(g.body, "first <b>") {
			t.Errorf("got %s", g.body)
		}

		c.admin(204, "PATCH", "/api/tokens/"+id, `{"group":"team","limits":{"credits_day":1},"expires_at":"2099-01-01T00:00:00Z","owner_id":""}`)
		g = c.admin(200, "GET", "/api/tokens/"+id, "")
		if g.json["group"] != "team" || g.json["owner"] != nil || g.json["quota_state"] != "day" || g.json["note"] != "first <b>" ||
			g.json["expires_at"] == nil {
			t.Errorf("got %s", g.body)
		}
		if g := c.admin(200, "GET", "/api/tokens?quota_state=day", ""); g.json["total"] != 1.0 {
			t.Errorf("got %s", g.body)
		}
		c.admin(204, "PATCH", "/api/tokens/"+id, `{"expires_at":"","limits":{},"cache_ttl":60}`)
		if g := c.admin(200, "GET", "/api/tokens/"+id, ""); g.json["cache_ttl"] != 60.0 || g.json["expires_at"] != nil ||
			field(t, g, "limits", "credits_day") != nil {
			t.Errorf("got %s", g.body)
		}
		c.admin(204, "PATCH", "/api/tokens/"+id, `{"cache_ttl":-1}`)
		c.admin(204, "PATCH", "/api/tokens/"+id+"/note", `{"note":" second "}`)
		c.admin(204, "PATCH", "/api/tokens/"+id+"/status", `{"enabled":true}`)
		if g := c.admin(200, "GET", "/api/tokens/"+id+"/secret", ""); g.json["token"] != made || g.header.Get("Cache-Control") != "no-store" {
			t.Errorf("got %s", g.body)
		}
		next := field(t, c.admin(200, "POST", "/api/tokens/"+id+"/secret/rotate", ""), "token").(string)
		for text, want := range map[string]int{made: 401, next: 200} {
			if g := e.send("POST", "/search/api/proxy/search", `{"query":"x"}`, "Authorization", "Bearer "+text); g.status != want {
				t.Errorf("after the rotation: %d, want %d", g.status, want)
			}
		}
		c.admin(200, "GET", "/api/tokens/"+id+"/metrics?window=1h", "")
		c.admin(204, "DELETE", "/api/tokens/"+id, "")
		c.admin(200, "DELETE", "/api/tokens/batch", `{"ids":[`+ids+`]}`)
		for _, path := range []string{"", "/secret", "/metrics"} {
			c.admin(404, "GET", "/api/tokens/"+id+path, "")
		}
		c.admin(404, "PATCH", "/api/tokens/"+id, `{"note":"x"}`)
		c.admin(404, "DELETE", "/api/tokens/"+id, "")
		c.admin(404, "POST", "/api/tokens/"+id+"/secret/rotate", "")
		c.member(403, "GET", "/api/tokens", "")
		c.call(401, "GET", "/search/api/tokens", "")
	})
}

func TestUserAPI(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		e := newEnvOn(t, testkit.OpenStore(t, cfg, Migrations()), knowing(people{"ann": {ID: "ann"}, "bob": {ID: "bob"}}))
		c := newContract(e)
		c.member(404, "GET", "/api/user/token", "")
		if g := c.member(200, "GET", "/api/user/logs", ""); len(field(t, g, "items").([]any)) != 0 {
			t.Errorf("got %s", g.body)
		}
		mine := field(t, c.admin(201, "POST", "/api/tokens", `{"owner_id":"ann"}`), "token").(string)
		e.clock.Advance(time.Millisecond)
		other := field(t, c.admin(201, "POST", "/api/tokens", `{"owner_id":"bob"}`), "token").(string)
		for _, text := range []string{mine, other} {
			e.send("POST", "/search/api/proxy/search", `{"query":"x"}`, "Authorization", "Bearer "+text)
		}
		e.flush()
		if g := c.member(200, "GET", "/api/user/token", ""); g.json["token"] != mine {
			t.Errorf("got %s", g.body)
		}
		g := c.member(200, "GET", "/api/user/dashboard", "")
		if g.json["tokens"] != 1.0 || g.json["dailySuccess"] != 1.0 || field(t, g, "requestRate", "limit") != 500.0 ||
			g.json["lastActivity"] == nil {
			t.Errorf("got %s", g.body)
		}
		if g := c.member(200, "GET", "/api/user/tokens", ""); g.json["total"] != 1.0 {
			t.Errorf("got %s", g.body)
		}
		if g := c.member(200, "GET", "/api/user/logs", ""); len(field(t, g, "items").([]any)) != 1 ||
			field(t, g, "items", "0", "auth_token_id") != idOf(mine) {
			t.Errorf("got %s", g.body)
		}
		c.member(200, "GET", "/api/user/tokens/"+idOf(mine)+"/metrics", "")
		c.member(200, "GET", "/api/user/tokens/"+idOf(mine)+"/secret", "")
		c.member(200, "GET", "/api/user/tokens/"+idOf(mine), "")
		for _, path := range []string{"", "/secret", "/metrics"} {
			c.member(404, "GET", "/api/user/tokens/"+idOf(other)+path, "")
		}
		c.member(404, "POST", "/api/user/tokens/"+idOf(other)+"/secret/rotate", "")
		c.member(404, "GET", "/api/user/logs?auth_token_id="+idOf(other), "")
		if g := c.member(200, "POST", "/api/user/tokens/"+idOf(mine)+"/secret/rotate", ""); g.json["token"] == mine {
			t.Errorf("got %s", g.body)
		}
		if g := c.member(204, "POST", "/api/user/logout", ""); !strings.Contains(g.header.Get("Set-Cookie"), auth.SessionCookie+"=;") ||
			!strings.Contains(g.header.Get("Set-Cookie"), "Max-Age=0") {
			t.Errorf("got %v", g.header)
		}
		c.call(401, "GET", "/search/api/user/token", "")
		if g := c.call(200, "GET", "/search/api/summary", ""); g.json["total_requests"] != 2.0 || g.json["success_count"] != 2.0 {
			t.Errorf("got %s", g.body)
		}
	})
}
