package core

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

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

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
	kit.EachStorage(t, func(t *testing.T, s kit.Storage) {
		c := kit.NewcomerCore(t, s)
		c.Logged("curl -s ")
		kit.Contains(t, c.Logs(), "Create an access token and search", "token create", c.Base[len("http://127.0.0.1"):]+"/search/api/proxy/search")
		token := c.Token()
		a := c.Search(t, token, http.StatusOK)
		got := kit.Decode[searchAnswer](t, a.Body)
		if len(got.Results) == 0 {
			t.Fatalf("there are no results: %s", a.Body)
		}
		for _, r := range got.Results {
			if !strings.HasPrefix(r.URL, "file:") || strings.TrimSpace(r.Content) == "" || r.Score <= 0 || strings.Contains(r.URL, c.Dir) {
				t.Errorf("not a passage of a document: %+v", r)
			}
		}
		kit.Contains(t, strings.ToLower(got.Results[0].Content), "plugin")
		extracted := c.Post(t, token, "extract", `{"urls":"`+got.Results[0].URL+`"}`)
		if extracted.Status != http.StatusOK || !strings.Contains(strings.ToLower(extracted.Body), "restart") {
			t.Errorf("extract of %s: status %d: %.300s", got.Results[0].URL, extracted.Status, extracted.Body)
		}
		if n := len(c.Plugins()); n != 3 {
			t.Errorf("%d plugin processes run, want 3", n)
		}
		db := c.Records(t, s)
		row := db.Audit(a.Header.Get("X-Request-Id"))
		if row.Operation != "search" || row.Outcome != kit.OutcomeSuccess || row.Status != 200 || row.TokenID != token[3:7] {
			t.Errorf("audit row %+v", row)
		}
		if used := db.Balanced(c, token); used.DailySuccess != 2 || used.HourlyCredits != 0 || used.TokenID != token[3:7] {
			t.Errorf("usage %+v", used)
		}
		c.Restart()
		c.Search(t, token, http.StatusOK)
		if used := db.Balanced(c, token); used.HourlyRequests != 3 {
			t.Errorf("usage after the restart %+v", used)
		}
	})
}

// TestFirstRunLinkLooksAround: nobody is let in on a fresh installation but the browser that opens the printed link.
func TestFirstRunLinkLooksAround(t *testing.T) {
	t.Parallel()
	c := kit.NewcomerCore(t, kit.Storage{})
	_, token, _ := strings.Cut(c.SetupPath(), "?token=")
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
	if got := status(browser.Get(c.Base + "/system")); got != http.StatusUnauthorized {
		t.Errorf("without the link: status %d", got)
	}
	if got := status(browser.PostForm(c.Base+"/system/setup/look-around", url.Values{"token": {token}})); got != http.StatusOK {
		t.Errorf("looking around: status %d", got)
	}
	for _, path := range []string{"/system", "/system/plugins", "/search/tokens", "/system/account"} {
		if got := status(browser.Get(c.Base + path)); got != http.StatusOK {
			t.Errorf("%s: status %d", path, got)
		}
	}
	c.CLI("user", "create", "-email", "ann@example.com", "-name", "Ann", "-role", "admin")
	if got := status(browser.Get(c.Base + "/system")); got != http.StatusUnauthorized {
		t.Errorf("after the first user was made: status %d", got)
	}
}

func TestTokenDisabledByTheCommandLineStopsWithinASecond(t *testing.T) {
	t.Parallel()
	kit.EachStorage(t, func(t *testing.T, s kit.Storage) {
		c := kit.NewcomerCore(t, s)
		token := c.Token()
		c.Search(t, token, http.StatusOK)
		for range 2 {
			c.CLI("token", "disable", token[3:7])
			disabled := time.Now()
			kit.Eventually(t, 2*time.Second, "the token stops", func() bool {
				return c.Post(t, token, "search", `{"query":"plugins"}`).Status == http.StatusUnauthorized
			})
			if took := time.Since(disabled); took > kit.Slower(time.Second) {
				t.Errorf("the token stopped after %s", took)
			}
			c.CLI("token", "enable", token[3:7])
			kit.Eventually(t, 2*time.Second, "the token works again", func() bool {
				return c.Post(t, token, "search", `{"query":"plugins"}`).Status == http.StatusOK
			})
		}
	})
}

func TestCommandLineBesideARunningCore(t *testing.T) {
	t.Parallel()
	admin := testkit.FreeAddress(t)
	c := kit.NewCore(t, `
service "search" {
  backend = search.docs
}
search "local" "docs" {
  config { folders = ["docs"] }
}
`, "SVC_ADMIN_ADDR="+admin)
	if err := os.Mkdir(filepath.Join(c.Dir, "docs"), 0o700); err != nil {
		t.Fatal(err)
	}
	if out := c.Run("", "health"); out.Status != 1 {
		t.Errorf("health without a core: status %d", out.Status)
	}
	c.Start()
	t.Cleanup(c.Stop)
	user := c.CLI("user", "create", "-email", "ada@example.org", "-name", "Ada", "-role", "admin")
	if !regexp.MustCompile(`^svc_ak_[A-Za-z0-9_-]{43}$`).MatchString(user) {
		t.Errorf("user create printed %q", user)
	}
	kit.Contains(t, c.CLI("user", "list"), "ada@example.org", "Ada", "admin", "enabled")
	c.CLI("user", "disable", "ada@example.org")
	kit.Contains(t, c.CLI("user", "list"), "disabled")
	if again := c.CLI("user", "reset", "ada@example.org"); !strings.HasPrefix(again, "svc_ak_") || again == user {
		t.Errorf("user reset printed %q", again)
	}
	if out := c.Run("", "user", "create", "-email", "ada@example.org", "-name", "Ada"); out.Status == 0 {
		t.Error("the same user was created twice")
	}
	if ids := c.AddKeys("first-key", "second-key"); len(ids) != 2 || ids[0] == ids[1] {
		t.Errorf("key add printed %q", ids)
	}
	if out := c.Run("", "key", "add"); out.Status != 2 {
		t.Errorf("key add without keys: status %d", out.Status)
	}
	if token := c.CLI("token", "create", "-json"); !regexp.MustCompile(`^\{\s*"note": "",\s*"token": "th-[A-Za-z0-9]{4}-[A-Za-z0-9]{24}"\s*\}$`).MatchString(token) {
		t.Errorf("token create -json printed %q", token)
	}
	kit.Contains(t, c.CLI("config", "check"), "valid")
	kit.Contains(t, c.CLI("config", "show"), "search.docs", "SVC_ADMIN_ADDR", "folders")
	kit.Contains(t, c.CLI("plugin", "list"), "local", "tavily", "built-in")
	kit.Contains(t, c.CLI("plugin", "describe", "search/local"), "folders", `search "local" "main"`)
	kit.Contains(t, c.CLI("version"), "patchbay", "commit", "go1.")
	c.CLI("health")
	c.CLI("health", "-url", "http://"+admin+"/livez")
	if out := c.Run("", "plugin", "describe", "nothing"); out.Status != 1 || !strings.Contains(out.Stderr, "search/local") {
		t.Errorf("describe of an unknown plugin: status %d: %s", out.Status, out.Stderr)
	}
	if out := c.Run("", "frobnicate"); out.Status == 0 {
		t.Error("an unknown command succeeded")
	}
}

// TestFirstStartBesideCommands makes a new database from several processes at once.
func TestFirstStartBesideCommands(t *testing.T) {
	t.Parallel()
	kit.EachStorage(t, func(t *testing.T, s kit.Storage) {
		c := kit.LocalCore(t, s.HCL+kit.LocalHCL)
		tokens := make([]kit.Output, 4)
		var wg sync.WaitGroup
		for i := range tokens {
			wg.Go(func() { tokens[i] = c.Run("", "token", "create") })
		}
		c.Start()
		t.Cleanup(c.Stop)
		wg.Wait()
		for _, out := range tokens {
			if out.Status != 0 {
				t.Errorf("token create: status %d: %s", out.Status, out.Stderr)
				continue
			}
			c.Search(t, strings.TrimSpace(out.Stdout), http.StatusOK)
		}
	})
}
