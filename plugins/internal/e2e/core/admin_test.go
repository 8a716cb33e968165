package core

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

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// callAdministration calls an endpoint of the administration and expects a status.
func callAdministration(t testing.TB, c *kit.Core, key, method, path, body string, want int) kit.Answer {
	t.Helper()
	a := c.Send(t, kit.Request{Method: method, Path: "/search/api/" + path, Token: key, Body: body})
	if a.Status != want {
		t.Errorf("%s %s: status %d, want %d: %s", method, path, a.Status, want, a.Body)
	}
	return a
}

// followLog reads the live log until the test ends.
func followLog(t *testing.T, c *kit.Core, key string) <-chan map[string]any {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	req, err := c.Build(kit.Request{Method: http.MethodGet, Path: "/search/api/logs/events", Token: key})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := kit.HTTPClient.Do(req.WithContext(ctx))
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
	kit.EachStorage(t, func(t *testing.T, s kit.Storage) {
		up := kit.StartUpstream(t, "-no-history")
		c := kit.StartCore(t, s.HCL+kit.WebHCL(up.URL, "", kit.EndlessLimits))
		admin := c.User("admin@example.org", "admin")

		imported := callAdministration(t, c, admin, http.MethodPost, "keys/batch", `{"api_keys":["key-one","key-two","","key-one"]}`, http.StatusOK)
		summary := kit.Decode[struct {
			Results []struct{ Status, ID string }
			Summary struct {
				Created          int
				DuplicateInInput int `json:"duplicate_in_input"`
				IgnoredEmpty     int `json:"ignored_empty"`
			}
		}](t, imported.Body)
		if summary.Summary.Created != 2 || summary.Summary.DuplicateInInput != 1 || summary.Summary.IgnoredEmpty != 1 ||
			len(summary.Results) != 4 {
			t.Errorf("batch: %s", imported.Body)
		}
		keys := callAdministration(t, c, admin, http.MethodGet, "keys", "", http.StatusOK)
		if list := kit.Decode[struct{ Total int }](t, keys.Body); list.Total != 2 {
			t.Errorf("keys: %s", keys.Body)
		}
		for _, a := range []kit.Answer{imported, keys} {
			if strings.Contains(a.Body, "key-one") || strings.Contains(a.Body, "key-two") {
				t.Errorf("a key is shown: %s", a.Body)
			}
		}

		token := kit.Decode[struct{ Token string }](t,
			callAdministration(t, c, admin, http.MethodPost, "tokens", `{"note":"made by the API","limits":{"requests_hour":3}}`, http.StatusCreated).Body).Token
		live := followLog(t, c, admin)
		sent := c.Search(t, token, http.StatusOK)
		select {
		case row := <-live:
			if row["request_id"] != sent.Header.Get("X-Request-Id") || row["result_status"] != "success" || row["auth_token_id"] != token[3:7] {
				t.Errorf("live row %v", row)
			}
		case <-time.After(kit.Patience * 10 * time.Second):
			t.Error("the live log says nothing of the request")
		}
		logged := kit.Decode[struct{ Items []map[string]any }](t, callAdministration(t, c, admin, http.MethodGet, "logs/list", "", http.StatusOK).Body)
		if len(logged.Items) != 1 || logged.Items[0]["request_id"] != sent.Header.Get("X-Request-Id") {
			t.Errorf("log %v", logged)
		}
		tokens := callAdministration(t, c, admin, http.MethodGet, "tokens?q=made", "", http.StatusOK)
		list := kit.Decode[struct {
			Total int
			Items []struct {
				ID    string
				Limit int64 `json:"quota_requests_limit"`
				Used  int64 `json:"quota_requests_used"`
			}
		}](t, tokens.Body)
		if list.Total != 1 || list.Items[0].ID != token[3:7] || list.Items[0].Limit != 3 || list.Items[0].Used != 1 ||
			strings.Contains(tokens.Body, token) {
			t.Errorf("tokens: %s", tokens.Body)
		}

		// What the API changes holds at once, and a token that it deletes is refused.
		callAdministration(t, c, admin, http.MethodPatch, "tokens/"+token[3:7]+"/status", `{"enabled":false}`, http.StatusNoContent)
		c.Search(t, token, http.StatusUnauthorized)
		callAdministration(t, c, admin, http.MethodPatch, "tokens/"+token[3:7]+"/status", `{"enabled":true}`, http.StatusNoContent)
		c.Search(t, token, http.StatusOK)
		callAdministration(t, c, admin, http.MethodDelete, "tokens/"+token[3:7], "", http.StatusNoContent)
		c.Search(t, token, http.StatusUnauthorized)
		for _, secret := range []string{admin, token, "key-one", "key-two"} {
			if strings.Contains(c.Logs(), secret) {
				t.Error("a secret is in the log")
			}
		}
	})
}

func TestWhatAMemberMayDo(t *testing.T) {
	t.Parallel()
	c := kit.LocalCore(t, kit.LocalHCL, "SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV=false")
	c.Start()
	t.Cleanup(c.Stop)
	admin, member := c.User("admin@example.org", "admin"), c.User("member@example.org", "member")
	for path, method := range map[string]string{
		"tokens": http.MethodGet, "tokens/batch": http.MethodPost, "keys": http.MethodGet, "keys/batch": http.MethodPost,
		"logs/list":   http.MethodGet,
		"logs/events": http.MethodGet, "metrics": http.MethodGet,
	} {
		callAdministration(t, c, member, method, path, "{}", http.StatusForbidden).Refused(t, http.StatusForbidden, "forbidden")
		callAdministration(t, c, "", method, path, "{}", http.StatusUnauthorized).Refused(t, http.StatusUnauthorized, "unauthorized")
		callAdministration(t, c, "svc_ak_"+strings.Repeat("x", 43), method, path, "{}", http.StatusUnauthorized)
	}
	for _, path := range []string{"user/dashboard", "user/tokens", "user/logs"} {
		callAdministration(t, c, member, http.MethodGet, path, "", http.StatusOK)
		callAdministration(t, c, "", http.MethodGet, path, "", http.StatusUnauthorized)
	}
	callAdministration(t, c, member, http.MethodGet, "user/token", "", http.StatusNotFound)
	// An access token is no API key, and an API key no access token.
	token := c.Token()
	callAdministration(t, c, token, http.MethodGet, "tokens", "", http.StatusUnauthorized)
	c.Search(t, member, http.StatusUnauthorized)
	callAdministration(t, c, admin, http.MethodGet, "tokens", "", http.StatusOK)
	// Whoever is kept out is refused at once, without a restart.
	c.CLI("user", "disable", "member@example.org")
	for _, path := range []string{"user/dashboard", "tokens"} {
		callAdministration(t, c, member, http.MethodGet, path, "", http.StatusForbidden).Refused(t, http.StatusForbidden, "account_disabled")
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
		kit.CopyAll(t, from, filepath.Join(dir, name))
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
	c := kit.LocalCore(t, strings.Replace(kit.LocalHCL, "backend =", "base_url = \"/find\"\n  backend =", 1))
	c.Start()
	t.Cleanup(c.Stop)
	s := &kit.Supervised{Core: kit.NewCore(t, supervisorHCL, "SVC_SUPERVISOR_HTTP_ADDR=127.0.0.1:0")}
	s.Command = "supervise"
	s.Start()
	t.Cleanup(s.Stop)
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
		from  *kit.Core
		base  string
		holds []string
		// wrong, in place of right, makes the document invalid.
		right, wrong string
	}{
		{c, "/find", []string{`"/find"`, `"/api/proxy/search"`, `"/api/tokens"`, `"/mcp"`}, `"type":"integer"`, `"type":"integr"`},
		{s.Core, "/supervisor", []string{`"/supervisor"`, `"/self-upgrade/rollback"`, `"forwardedIdentity"`}, `"type":"boolean"`,
			`"type":"boole"`},
	} {
		doc := tt.from.Send(t, kit.Request{Method: http.MethodGet, Path: tt.base + "/openapi.json"})
		if doc.Status != http.StatusOK || doc.Header.Get("Content-Type") != "application/json" {
			t.Fatalf("%s: status %d, %s", tt.base, doc.Status, doc.Header.Get("Content-Type"))
		}
		kit.Contains(t, doc.Body, tt.holds...)
		if page := tt.from.Send(t, kit.Request{Method: http.MethodGet, Path: tt.base + "/docs"}); page.Status != http.StatusOK ||
			!strings.HasPrefix(page.Header.Get("Content-Type"), "text/html") {
			t.Errorf("%s: docs: status %d, %s", tt.base, page.Status, page.Header.Get("Content-Type"))
		}
		if out, err := check(doc.Body); err != nil || !strings.Contains(out, " 0 findings") {
			t.Errorf("the document of %s is not valid: %v\n%s", tt.base, err, out)
		}
		// The check is one that finds something.
		if out, err := check(strings.Replace(doc.Body, tt.right, tt.wrong, 1)); err == nil {
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
