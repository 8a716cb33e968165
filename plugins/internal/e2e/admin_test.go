package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// user makes a user and returns the API key.
func (c *core) user(email, role string) string {
	c.t.Helper()
	return c.cli("user", "create", "-email", email, "-name", "Somebody", "-role", role)
}

// call calls an endpoint of the administration and expects a status.
func (c *core) call(t testing.TB, key, method, path, body string, want int) answer {
	t.Helper()
	a := c.send(t, request{method: method, path: "/search/api/" + path, token: key, body: body})
	if a.status != want {
		t.Errorf("%s %s: status %d, want %d: %s", method, path, a.status, want, a.body)
	}
	return a
}

// followLog reads the live log until the test ends.
func (c *core) followLog(t *testing.T, key string) <-chan map[string]any {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	req, err := c.build(request{method: http.MethodGet, path: "/search/api/logs/events", token: key})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http1.Do(req.WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("log events: status %d, %s", resp.StatusCode, resp.Header.Get("Content-Type"))
	}
	rows := make(chan map[string]any, 16)
	go func() {
		defer close(rows)
		lines := bufio.NewScanner(resp.Body)
		event := ""
		for lines.Scan() {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			var row map[string]any
			switch {
			case name == "event":
				event = value
			case name == "data" && event == "request" && json.Unmarshal([]byte(value), &row) == nil:
				rows <- row
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		_ = resp.Body.Close()
		for range rows {
		}
	})
	return rows
}

func TestAdministrationWithAnAPIKey(t *testing.T) {
	t.Parallel()
	eachStorage(t, func(t *testing.T, s storage) {
		up := startUpstream(t, "-no-history")
		c := startCore(t, s.hcl+webHCL(up.url, "", endless))
		admin := c.user("admin@example.org", "admin")

		imported := c.call(t, admin, http.MethodPost, "keys/batch", `{"api_keys":["key-one","key-two","","key-one"]}`, http.StatusOK)
		summary := decode[struct {
			Results []struct{ Status, ID string }
			Summary struct {
				Created          int
				DuplicateInInput int `json:"duplicate_in_input"`
				IgnoredEmpty     int `json:"ignored_empty"`
			}
		}](t, imported.body)
		if summary.Summary.Created != 2 || summary.Summary.DuplicateInInput != 1 || summary.Summary.IgnoredEmpty != 1 ||
			len(summary.Results) != 4 {
			t.Errorf("batch: %s", imported.body)
		}
		keys := c.call(t, admin, http.MethodGet, "keys", "", http.StatusOK)
		if list := decode[struct{ Total int }](t, keys.body); list.Total != 2 {
			t.Errorf("keys: %s", keys.body)
		}
		for _, a := range []answer{imported, keys} {
			if strings.Contains(a.body, "key-one") || strings.Contains(a.body, "key-two") {
				t.Errorf("a key is shown: %s", a.body)
			}
		}

		token := decode[struct{ Token string }](t,
			c.call(t, admin, http.MethodPost, "tokens", `{"note":"made by the API","limits":{"requests_hour":3}}`, http.StatusCreated).body).Token
		live := c.followLog(t, admin)
		sent := c.search(t, token, http.StatusOK)
		select {
		case row := <-live:
			if row["request_id"] != sent.header.Get("X-Request-Id") || row["result_status"] != "success" || row["auth_token_id"] != token[3:7] {
				t.Errorf("live row %v", row)
			}
		case <-time.After(patience * 10 * time.Second):
			t.Error("the live log says nothing of the request")
		}
		logged := decode[struct{ Items []map[string]any }](t, c.call(t, admin, http.MethodGet, "logs/list", "", http.StatusOK).body)
		if len(logged.Items) != 1 || logged.Items[0]["request_id"] != sent.header.Get("X-Request-Id") {
			t.Errorf("log %v", logged)
		}
		tokens := c.call(t, admin, http.MethodGet, "tokens?q=made", "", http.StatusOK)
		list := decode[struct {
			Total int
			Items []struct {
				ID    string
				Limit int64 `json:"quota_requests_limit"`
				Used  int64 `json:"quota_requests_used"`
			}
		}](t, tokens.body)
		if list.Total != 1 || list.Items[0].ID != token[3:7] || list.Items[0].Limit != 3 || list.Items[0].Used != 1 ||
			strings.Contains(tokens.body, token) {
			t.Errorf("tokens: %s", tokens.body)
		}

		// What the API changes holds at once, and a token that it deletes is refused.
		c.call(t, admin, http.MethodPatch, "tokens/"+token[3:7]+"/status", `{"enabled":false}`, http.StatusNoContent)
		c.search(t, token, http.StatusUnauthorized)
		c.call(t, admin, http.MethodPatch, "tokens/"+token[3:7]+"/status", `{"enabled":true}`, http.StatusNoContent)
		c.search(t, token, http.StatusOK)
		c.call(t, admin, http.MethodDelete, "tokens/"+token[3:7], "", http.StatusNoContent)
		c.search(t, token, http.StatusUnauthorized)
		for _, secret := range []string{admin, token, "key-one", "key-two"} {
			if strings.Contains(c.logs(), secret) {
				t.Error("a secret is in the log")
			}
		}
	})
}

func TestWhatAMemberMayDo(t *testing.T) {
	t.Parallel()
	c := localCore(t, localHCL, "SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV=false")
	c.start()
	t.Cleanup(c.stop)
	admin, member := c.user("admin@example.org", "admin"), c.user("member@example.org", "member")
	for path, method := range map[string]string{
		"tokens": http.MethodGet, "tokens/batch": http.MethodPost, "keys": http.MethodGet, "keys/batch": http.MethodPost,
		"logs/list":   http.MethodGet,
		"logs/events": http.MethodGet, "metrics": http.MethodGet,
	} {
		c.call(t, member, method, path, "{}", http.StatusForbidden).refused(t, http.StatusForbidden, "forbidden")
		c.call(t, "", method, path, "{}", http.StatusUnauthorized).refused(t, http.StatusUnauthorized, "unauthorized")
		c.call(t, "svc_ak_"+strings.Repeat("x", 43), method, path, "{}", http.StatusUnauthorized)
	}
	for _, path := range []string{"user/dashboard", "user/tokens", "user/logs"} {
		c.call(t, member, http.MethodGet, path, "", http.StatusOK)
		c.call(t, "", http.MethodGet, path, "", http.StatusUnauthorized)
	}
	c.call(t, member, http.MethodGet, "user/token", "", http.StatusNotFound)
	// An access token is no API key, and an API key no access token.
	token := c.token()
	c.call(t, token, http.MethodGet, "tokens", "", http.StatusUnauthorized)
	c.search(t, member, http.StatusUnauthorized)
	c.call(t, admin, http.MethodGet, "tokens", "", http.StatusOK)
	// Whoever is kept out is refused at once, without a restart.
	c.cli("user", "disable", "member@example.org")
	for _, path := range []string{"user/dashboard", "tokens"} {
		c.call(t, member, http.MethodGet, path, "", http.StatusForbidden).refused(t, http.StatusForbidden, "account_disabled")
	}
}

// The OpenAPI documents, as the core and the supervisor serve them, pass validators that others have written.
func TestOpenAPIDocumentIsValid(t *testing.T) {
	t.Parallel()
	_, nodeErr := exec.LookPath("node")
	_, npmErr := exec.LookPath("npm")
	testkit.Require(t, "node", nodeErr == nil && npmErr == nil, "install Node 20 or newer with npm")
	dir := t.TempDir()
	for _, name := range []string{"check.mjs", "package.json", "package-lock.json"} {
		from := filepath.Join("openapi", name)
		copyAll(t, from, filepath.Join(dir, name))
		text, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), `"resolved"`) || strings.Contains(string(text), "://registry") {
			t.Errorf("%s names a registry", name)
		}
	}
	if err := testkit.InstallPackages(dir); err != nil {
		t.Fatal(err)
	}
	c := localCore(t, strings.Replace(localHCL, "backend =", "base_url = \"/find\"\n  backend =", 1))
	c.start()
	t.Cleanup(c.stop)
	s := &supervised{core: newCore(t, supervisorHCL, "SVC_SUPERVISOR_HTTP_ADDR=127.0.0.1:0")}
	s.command = "supervise"
	s.start()
	t.Cleanup(s.stop)
	check := func(text string) (string, error) {
		if err := os.WriteFile(filepath.Join(dir, "openapi.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("node", "check.mjs", "openapi.json")
		cmd.Dir = dir
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for _, tt := range []struct {
		from  *core
		base  string
		holds []string
		// wrong, in place of right, makes the document invalid.
		right, wrong string
	}{
		{c, "/find", []string{`"/find"`, `"/api/proxy/search"`, `"/api/tokens"`, `"/mcp"`}, `"type":"integer"`, `"type":"integr"`},
		{s.core, "/supervisor", []string{`"/supervisor"`, `"/self-upgrade/rollback"`, `"forwardedIdentity"`}, `"type":"boolean"`,
			`"type":"boole"`},
	} {
		doc := tt.from.send(t, request{method: http.MethodGet, path: tt.base + "/openapi.json"})
		if doc.status != http.StatusOK || doc.header.Get("Content-Type") != "application/json" {
			t.Fatalf("%s: status %d, %s", tt.base, doc.status, doc.header.Get("Content-Type"))
		}
		contains(t, doc.body, tt.holds...)
		if page := tt.from.send(t, request{method: http.MethodGet, path: tt.base + "/docs"}); page.status != http.StatusOK ||
			!strings.HasPrefix(page.header.Get("Content-Type"), "text/html") {
			t.Errorf("%s: docs: status %d, %s", tt.base, page.status, page.header.Get("Content-Type"))
		}
		if out, err := check(doc.body); err != nil || !strings.Contains(out, " 0 findings") {
			t.Errorf("the document of %s is not valid: %v\n%s", tt.base, err, out)
		}
		// The check is one that finds something.
		if out, err := check(strings.Replace(doc.body, tt.right, tt.wrong, 1)); err == nil {
			t.Errorf("%s: a wrong type was not found: %s", tt.base, out)
		}
	}
}

// supervisorHCL is a supervisor of a unit, which it looks at when something is asked for.
const supervisorHCL = `
supervisor {
  systemd {
    url        = "https://releases.example/{tag}/"
    public_key = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3"
  }
}
`
