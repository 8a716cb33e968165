package app

import (
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
)

// TestEveryChangeIsAudited walks all routes: what changes something, or shows what is asked to be confirmed, has an action in the
// audit. The exceptions are listed here, with those whose verbs write rows of their own.
func TestEveryChangeIsAudited(t *testing.T) {
	a := startApp(t, nil)
	mounts, err := a.buildMounts(a.set)
	must(t, err)
	// Accounts and sign-in: the verbs of core/auth write what happens in their own transactions.
	verbs := []string{
		"/system/api/auth/", "/system/api/setup", "/system/api/passkeys", "/system/api/api-keys", "/system/api/sessions", "/system/api/users",
		"/mail/api/auth/", "/mail/api/passkeys", "/mail/api/api-keys", "/mail/api/users", "/releases/api/me/api-keys",
		"/system/sign-in", "/system/sign-out", "/system/setup", "/system/account/", "/system/users",
	}
	nothing := []string{
		// Kept in the browser alone.
		"/system/preferences", "/system/steps/skip",
		// A question to a plugin or to an upstream.
		"/system/plugins/instance/:ref/check", "/system/plugins/propose", "/mail/deploy-check", "/search/api/keys/validate",
		"/releases/api/reaction-token/check", "/releases/api/feed/reactions/refresh",
		// Searches are in the log of requests.
		"/search/playground", "/search/guide/test", "/search/api/proxy/", "/search/mcp",
		// Requests and calls of language models are kept with what they cost.
		"/releases/api/translate/",
	}
	under := func(path string, prefixes []string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(path, p) })
	}
	name := regexp.MustCompile(`^[a-z]+(\.[a-z_]+)+$`)
	n := 0
	for _, m := range mounts {
		for _, r := range m.Routes {
			path, action := strings.TrimSuffix(m.BaseURL, "/")+r.Path, r.AuditAction(m.Service)
			changes := r.Confirm || path == "/search/api/user/token" || r.Method != http.MethodGet && r.Method != http.MethodHead &&
				r.Method != http.MethodOptions
			exempt := under(path, verbs) || under(path, nothing)
			switch {
			case action != "":
				n++
				if !name.MatchString(action) {
					t.Errorf("%s %s is called %q", r.Method, path, action)
				}
				if exempt {
					t.Errorf("%s %s is audited and listed as an exception", r.Method, path)
				}
			case changes && !exempt:
				t.Errorf("%s %s is not audited", r.Method, path)
			}
		}
	}
	if n < 60 {
		t.Errorf("only %d routes are audited", n)
	}
}

// TestAuditOfRequests: the row of a request tells by whom, from where, on what and with what result, and holds no secret.
func TestAuditOfRequests(t *testing.T) {
	a := startApp(t, nil)
	_, admin, err := a.users.Create(t.Context(), "ann@example.com", "Ann", auth.Admin)
	must(t, err)
	_, member, err := a.users.Create(t.Context(), "max@example.com", "Max", auth.Member)
	must(t, err)
	send := func(key, method, path, body string) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, "http://"+a.Addr()+path, strings.NewReader(body))
		must(t, err)
		req.Header.Set("Authorization", "Bearer "+key)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("X-Request-Id", "req-of-the-test")
		res, err := http.DefaultClient.Do(req)
		must(t, err)
		defer func() { _ = res.Body.Close() }()
		raw, err := io.ReadAll(res.Body)
		must(t, err)
		return res.StatusCode, string(raw)
	}
	status, made := send(admin, http.MethodPost, "/search/api/tokens", `{"note":"n"}`)
	var token struct{ Token string }
	must(t, json.Unmarshal([]byte(made), &token))
	if status != http.StatusCreated {
		t.Fatalf("got %d %s", status, made)
	}
	id := access.TokenID(token.Token)
	const secret = "tvly-planted-upstream-key"
	send(admin, http.MethodPost, "/search/api/keys", `{"api_key":"`+secret+`"}`)
	send(admin, http.MethodDelete, "/search/api/tokens/none", "")
	send(member, http.MethodDelete, "/search/api/tokens/"+id, "")
	send(admin, http.MethodGet, "/search/api/tokens/"+id+"/secret", "")
	_, err = a.ReloadBySignal(t.Context())
	must(t, err)
	send(admin, http.MethodPost, "/system/plugins/instance/search.main/restart", "")

	_, ndjson := send(admin, http.MethodGet, "/system/api/audit/export?format=ndjson", "")
	type row struct{ Action, Result, ActorName, Via, Address, TargetID, RequestID string }
	var rows []row
	for line := range strings.Lines(ndjson) {
		var r row
		must(t, json.Unmarshal([]byte(line), &r))
		rows = append(rows, r)
	}
	request := func(action, result, actor, target string) row {
		return row{action, result, actor, "api_key", "127.0.0.1", target, "req-of-the-test"}
	}
	for _, want := range []row{
		request("search.tokens.create", auth.ResultOK, "ann@example.com", id),
		request("search.tokens.delete", auth.ResultRefused, "ann@example.com", "none"),
		request("search.tokens.delete", auth.ResultRefused, "max@example.com", id),
		request("search.tokens.secret", auth.ResultRefused, "ann@example.com", id),
		request("core.plugins.restart", auth.ResultOK, "ann@example.com", "search.main"),
		{"core.reload", auth.ResultOK, "SIGHUP", "command_line", "", "", ""},
	} {
		if !slices.Contains(rows, want) {
			t.Errorf("the audit has no %+v:\n%s", want, ndjson)
		}
	}
	_, csv := send(admin, http.MethodGet, "/system/api/audit/export?actor=max@example.com", "")
	if lines := strings.Split(strings.TrimSpace(csv), "\n"); len(lines) != 2 || !strings.Contains(lines[1], "search.tokens.delete") {
		t.Errorf("filtered by the actor: %s", csv)
	}
	_, list := send(admin, http.MethodGet, "/system/api/audit?object="+id+"&action=search.tokens.create&from=2020-01-01T00:00:00Z", "")
	if strings.Count(list, `"id"`) != 1 {
		t.Errorf("filtered by the object: %s", list)
	}
	if _, none := send(admin, http.MethodGet, "/system/api/audit?until=2020-01-01T00:00:00Z", ""); strings.Contains(none, `"id"`) {
		t.Errorf("filtered by the time: %s", none)
	}
	for _, hidden := range []string{token.Token, secret, admin, member} {
		if strings.Contains(ndjson+csv+list, hidden) {
			t.Errorf("a secret is in the audit")
		}
	}
	if status, _ := send(member, http.MethodGet, "/system/api/audit/export", ""); status != http.StatusForbidden {
		t.Errorf("a member gets %d", status)
	}
	if status, _ := send(admin, http.MethodGet, "/system/api/audit/export?format=xml", ""); status != http.StatusBadRequest {
		t.Errorf("a bad format gets %d", status)
	}
}

// TestAuditActionOfRoutes is how routes are named that name themselves not.
func TestAuditActionOfRoutes(t *testing.T) {
	for _, tc := range []struct{ method, path, want string }{
		{http.MethodPost, "/api/tokens", "search.tokens.create"}, {http.MethodPost, "/tokens", "search.tokens.create"},
		{http.MethodPost, "/api/tokens/:id/secret/rotate", "search.tokens.secret.rotate"},
		{http.MethodDelete, "/api/keys/:id", "search.keys.delete"},
		{http.MethodPatch, "/api/tokens/:id/note", "search.tokens.note.change"}, {http.MethodGet, "/api/tokens", ""},
	} {
		if got := (httpd.Route{Method: tc.method, Path: tc.path, Policy: httpd.Admin}).AuditAction("search"); got != tc.want {
			t.Errorf("%s %s: got %q, want %q", tc.method, tc.path, got, tc.want)
		}
	}
}
