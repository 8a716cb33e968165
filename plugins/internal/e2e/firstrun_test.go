package e2e

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// newcomer is a core with the repository's own plugin.hcl and copies of the documents that it names.
func newcomer(t *testing.T, s storage) *core {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(), "plugin.hcl"))
	if err != nil {
		t.Fatal(err)
	}
	// Several cores run at once.
	hcl := strings.Replace(string(text), "127.0.0.1:2525", "127.0.0.1:0", 1)
	if s.hcl != "" {
		hcl = regexp.MustCompile(`(?s)storage "sqlite" \{.*?\n\}`).ReplaceAllLiteralString(hcl, s.hcl)
	}
	c := newCore(t, hcl, "SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV=false")
	copyDocuments(t, c.dir)
	c.start()
	t.Cleanup(c.stop)
	return c
}

// copyDocuments copies the documents that plugin.hcl names to a folder.
func copyDocuments(t testing.TB, dir string) {
	t.Helper()
	for _, name := range []string{"core/docs", "sdk/docs"} {
		copyAll(t, filepath.Join(root(), name), filepath.Join(dir, name))
	}
}

func copyAll(t testing.TB, from, to string) {
	t.Helper()
	info, err := os.Stat(from)
	if err != nil {
		t.Fatal(err)
	}
	if info.IsDir() {
		if err := os.CopyFS(to, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

type searchAnswer struct {
	Query   string
	Results []struct {
		URL, Title, Content string
		Score               float64
	}
	Usage *struct{ Credits int64 }
}

func TestFirstRunAnswersFromRealDocuments(t *testing.T) {
	t.Parallel()
	eachStorage(t, func(t *testing.T, s storage) {
		c := newcomer(t, s)
		c.logged("curl -s ")
		contains(t, c.logs(), "Create an access token and search", "token create", c.base[len("http://127.0.0.1"):]+"/search/api/proxy/search")
		token := c.token()
		a := c.search(t, token, http.StatusOK)
		got := decode[searchAnswer](t, a.body)
		if len(got.Results) == 0 {
			t.Fatalf("there are no results: %s", a.body)
		}
		for _, r := range got.Results {
			if !strings.HasPrefix(r.URL, "file:") || strings.TrimSpace(r.Content) == "" || r.Score <= 0 || strings.Contains(r.URL, c.dir) {
				t.Errorf("not a passage of a document: %+v", r)
			}
		}
		contains(t, strings.ToLower(got.Results[0].Content), "plugin")
		extracted := c.post(t, token, "extract", `{"urls":"`+got.Results[0].URL+`"}`)
		if extracted.status != http.StatusOK || !strings.Contains(strings.ToLower(extracted.body), "restart") {
			t.Errorf("extract of %s: status %d: %.300s", got.Results[0].URL, extracted.status, extracted.body)
		}
		if n := len(c.plugins()); n != 3 {
			t.Errorf("%d plugin processes run, want 3", n)
		}
		db := c.records(t, s)
		row := db.audit(a.header.Get("X-Request-Id"))
		if row.operation != "search" || row.outcome != outcomeSuccess || row.status != 200 || row.tokenID != token[3:7] {
			t.Errorf("audit row %+v", row)
		}
		if used := db.balanced(c, token); used.DailySuccess != 2 || used.HourlyCredits != 0 || used.TokenID != token[3:7] {
			t.Errorf("usage %+v", used)
		}
		c.restart()
		c.search(t, token, http.StatusOK)
		if used := db.balanced(c, token); used.HourlyRequests != 3 {
			t.Errorf("usage after the restart %+v", used)
		}
	})
}

// TestFirstRunLinkLooksAround: nobody is let in on a fresh installation but the browser that opens the printed link.
func TestFirstRunLinkLooksAround(t *testing.T) {
	t.Parallel()
	c := newcomer(t, storage{})
	_, token, _ := strings.Cut(c.setupPath(), "?token=")
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	status := func(resp *http.Response, err error) int {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		return resp.StatusCode
	}
	if got := status(browser.Get(c.base + "/system")); got != http.StatusUnauthorized {
		t.Errorf("without the link: status %d", got)
	}
	if got := status(browser.PostForm(c.base+"/system/setup/look-around", url.Values{"token": {token}})); got != http.StatusOK {
		t.Errorf("looking around: status %d", got)
	}
	for _, path := range []string{"/system", "/system/plugins", "/search/tokens", "/system/account"} {
		if got := status(browser.Get(c.base + path)); got != http.StatusOK {
			t.Errorf("%s: status %d", path, got)
		}
	}
	c.cli("user", "create", "-email", "ann@example.com", "-name", "Ann", "-role", "admin")
	if got := status(browser.Get(c.base + "/system")); got != http.StatusUnauthorized {
		t.Errorf("after the first user was made: status %d", got)
	}
}

func TestTokenDisabledByTheCommandLineStopsWithinASecond(t *testing.T) {
	t.Parallel()
	eachStorage(t, func(t *testing.T, s storage) {
		c := newcomer(t, s)
		token := c.token()
		c.search(t, token, http.StatusOK)
		for range 2 {
			c.cli("token", "disable", token[3:7])
			disabled := time.Now()
			eventually(t, 2*time.Second, "the token stops", func() bool {
				return c.post(t, token, "search", `{"query":"plugins"}`).status == http.StatusUnauthorized
			})
			if took := time.Since(disabled); took > slower(time.Second) {
				t.Errorf("the token stopped after %s", took)
			}
			c.cli("token", "enable", token[3:7])
			eventually(t, 2*time.Second, "the token works again", func() bool {
				return c.post(t, token, "search", `{"query":"plugins"}`).status == http.StatusOK
			})
		}
	})
}

func TestCommandLineBesideARunningCore(t *testing.T) {
	t.Parallel()
	admin := testkit.FreeAddress(t)
	c := newCore(t, `
service "search" {
  backend = search.docs
}
search "local" "docs" {
  config { folders = ["docs"] }
}
`, "SVC_ADMIN_ADDR="+admin)
	if err := os.Mkdir(filepath.Join(c.dir, "docs"), 0o700); err != nil {
		t.Fatal(err)
	}
	if out := c.run("", "health"); out.status != 1 {
		t.Errorf("health without a core: status %d", out.status)
	}
	c.start()
	t.Cleanup(c.stop)
	user := c.cli("user", "create", "-email", "ada@example.org", "-name", "Ada", "-role", "admin")
	if !regexp.MustCompile(`^svc_ak_[A-Za-z0-9_-]{43}$`).MatchString(user) {
		t.Errorf("user create printed %q", user)
	}
	contains(t, c.cli("user", "list"), "ada@example.org", "Ada", "admin", "enabled")
	c.cli("user", "disable", "ada@example.org")
	contains(t, c.cli("user", "list"), "disabled")
	if again := c.cli("user", "reset", "ada@example.org"); !strings.HasPrefix(again, "svc_ak_") || again == user {
		t.Errorf("user reset printed %q", again)
	}
	if out := c.run("", "user", "create", "-email", "ada@example.org", "-name", "Ada"); out.status == 0 {
		t.Error("the same user was created twice")
	}
	if ids := c.addKeys("first-key", "second-key"); len(ids) != 2 || ids[0] == ids[1] {
		t.Errorf("key add printed %q", ids)
	}
	if out := c.run("", "key", "add"); out.status != 2 {
		t.Errorf("key add without keys: status %d", out.status)
	}
	if token := c.cli("token", "create", "-json"); !regexp.MustCompile(`^\{\s*"note": "",\s*"token": "th-[A-Za-z0-9]{4}-[A-Za-z0-9]{24}"\s*\}$`).MatchString(token) {
		t.Errorf("token create -json printed %q", token)
	}
	contains(t, c.cli("config", "check"), "valid")
	contains(t, c.cli("config", "show"), "search.docs", "SVC_ADMIN_ADDR", "folders")
	contains(t, c.cli("plugin", "list"), "local", "tavily", "built-in")
	contains(t, c.cli("plugin", "describe", "search/local"), "folders", `search "local" "main"`)
	contains(t, c.cli("version"), "patchbay", "commit", "go1.")
	c.cli("health")
	c.cli("health", "-url", "http://"+admin+"/livez")
	if out := c.run("", "plugin", "describe", "nothing"); out.status != 1 || !strings.Contains(out.stderr, "search/local") {
		t.Errorf("describe of an unknown plugin: status %d: %s", out.status, out.stderr)
	}
	if out := c.run("", "frobnicate"); out.status == 0 {
		t.Error("an unknown command succeeded")
	}
}

// TestFirstStartBesideCommands makes a new database from several processes at once.
func TestFirstStartBesideCommands(t *testing.T) {
	t.Parallel()
	eachStorage(t, func(t *testing.T, s storage) {
		c := localCore(t, s.hcl+localHCL)
		tokens := make([]output, 4)
		var wg sync.WaitGroup
		for i := range tokens {
			wg.Go(func() { tokens[i] = c.run("", "token", "create") })
		}
		c.start()
		t.Cleanup(c.stop)
		wg.Wait()
		for _, out := range tokens {
			if out.status != 0 {
				t.Errorf("token create: status %d: %s", out.status, out.stderr)
				continue
			}
			c.search(t, strings.TrimSpace(out.stdout), http.StatusOK)
		}
	})
}
