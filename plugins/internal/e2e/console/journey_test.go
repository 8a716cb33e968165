package console

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/notify/telegram/telegramtest"
)

// What is done with what was found.
const (
	clickIt = `found.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, view: window }))`
	markIt  = `found.setAttribute("data-picked", "")`
)

// maxClicks is how many clicks a task may take from home.
const maxClicks = 4

// journey is a person at a browser, who finds buttons, links and fields by what is written on them.
type journey struct {
	*kit.Browser
	clicks int
	// picks numbers the calls of pick.
	picks int
}

// task goes home, does something and counts its clicks.
func (j *journey) task(name string, do func()) {
	j.T.Helper()
	j.clicks = 0
	j.Open("/system")
	do()
	j.T.Logf("%s: %d clicks", name, j.clicks)
	if j.clicks > maxClicks {
		j.T.Errorf("%s takes %d clicks from home, more than %d", name, j.clicks, maxClicks)
	}
}

// click clicks the first button or link with a text that can be seen: in an open dialog, else in the page, else beside it.
func (j *journey) click(text string) {
	j.T.Helper()
	j.clicks++
	j.pick(text, `[...document.querySelectorAll("dialog[open], main, body")].flatMap((part) => [...part.querySelectorAll("a, button, summary")])
		.find((e) => (e.innerText.trim() === text || e.getAttribute("aria-label") === text) && !e.disabled && e.checkVisibility())`, clickIt)
}

// fill types into the field with a label; what stood there is replaced.
func (j *journey) fill(label, text string) {
	j.T.Helper()
	j.pick(label, `[...document.querySelectorAll("dialog[open] label, main label")].filter((l) => l.innerText.trim().startsWith(text) && l.checkVisibility()).map((l) => l.control)[0]`, markIt)
	j.FillIn("[data-picked]", "")
	j.Do(chromedp.SendKeys(chromedp.CSS("[data-picked]"), text))
}

// clickOn clicks what has no words of its own.
func (j *journey) clickOn(selector string) {
	j.T.Helper()
	j.clicks++
	j.pick(selector, "document.querySelector(text)", clickIt)
}

// set chooses a value of a list by keyboard.
func (j *journey) set(label, value string) {
	j.T.Helper()
	j.pick(label, `[...document.querySelectorAll("main select")].find((s) => (s.getAttribute("aria-label") || s.labels[0]?.innerText || "").includes(text))`, markIt)
	j.FillIn("[data-picked]", value)
}

// secret waits for a text that begins with prefix and is shown as code, and returns it.
func (j *journey) secret(prefix string) (out string) {
	j.T.Helper()
	kit.Eventually(j.T, kit.BrowserLimit, "the secret is shown", func() bool {
		var err error
		out, err = kit.Evaluate[string](j.Browser, fmt.Sprintf(`[...document.querySelectorAll("code, pre")].map((e) => e.innerText.trim()).find((s) => s.startsWith(%q)) || ""`, prefix))
		return err == nil && out != ""
	})
	return out
}

// pick waits for what an expression finds by text, and marks it or clicks it. Both are one step: a live part of the page may
// be another one in the next. A click can open a page before its answer is here; the number in the session's storage tells that
// it was made, so that the next page, which may have a button of the same name, gets none.
func (j *journey) pick(text, expression, then string) {
	j.T.Helper()
	j.picks++
	script := fmt.Sprintf(`(() => { const pick = "%[1]d"; if (sessionStorage.pick === pick) return true; const text = %[2]q; document.querySelector("[data-picked]")?.removeAttribute("data-picked"); const found = %[3]s; if (found) { sessionStorage.pick = pick; %[4]s } return !!found; })()`, j.picks, text, expression, then)
	for deadline := time.Now().Add(kit.BrowserLimit / 2); ; time.Sleep(kit.PollEvery) {
		if found, err := kit.Evaluate[bool](j.Browser, script); err == nil && found {
			return
		}
		if time.Now().After(deadline) {
			j.T.Fatalf("there is no %q at %s", text, j.Where())
		}
	}
}

// TestFirstDay does what a new operator does on the first day, from an empty machine: in by the printed link, a token, a search,
// why one failed, another provider, why a plugin was restarted, an update and its rollback, Telegram, a colleague, and out.
func TestFirstDay(t *testing.T) {
	t.Parallel()
	bin := dockertest.NewestCompose(t)
	a := kit.StartApp(t, bin, dockertest.Behaviour{Version: "1.0.0", Healthcheck: true})
	bot := telegramtest.New(t)
	c := kit.NewCore(t, fmt.Sprintf(`
search "searxng" "web" {
  config { base_url = "http://127.0.0.1:9" }
}
search "local" "docs" {
  config { folders = ["docs"] }
}
service "search" {
  base_url = "/search"
  backend  = search.web
}
notify "telegram" "bot" {
  config {
    base_url    = %q
    allow_hosts = [%q]
  }
}
`, bot.URL, bot.Host)+kit.ContainersHCL(bin.Path, "notify = notify.bot"), "SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV=false")
	if err := os.Mkdir(filepath.Join(c.Dir, "docs"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.Dir, "docs", "start.md"), []byte("# Start\n\nHow to begin with Patchbay.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Start()
	t.Cleanup(c.Stop)
	j := &journey{Browser: kit.Browse(t, c)}
	j.Authenticator(true)

	j.Open(c.SetupPath())
	j.fill("Email", "ada@example.com")
	j.fill("Name", "Ada Lovelace")
	j.click("Continue")
	j.click("Add a passkey")
	j.fill("Name of the new passkey", "Laptop")
	j.click("Continue")
	j.Shows("Laptop")
	t.Logf("become administrator, with a passkey: %d clicks", j.clicks)

	token := ""
	j.task("make a token", func() {
		j.click("New token")
		j.fill("Note", "First token")
		j.click("Create token")
		token = j.secret("th-")
	})
	j.task("search", func() {
		kit.RequireValue(j.Browser, "the first search is a command with the whole address",
			`[...document.querySelectorAll("pre")].some((e) => e.textContent.includes("curl -s " + location.origin + "/search/api/proxy/search"))`,
			true)
		j.click("Playground")
		j.fill("query", "how to begin")
		j.click("Send")
		j.Shows("The provider ")
	})
	j.task("see why a request failed", func() {
		j.click("Requests")
		j.clickOn("main tbody tr a")
		j.Shows("127.0.0.1")
	})
	j.task("use another provider", func() {
		j.clickOn(".bay a[href$='search.web']")
		j.click("Use another")
		j.set("search.web", "")
		j.set("search.docs", "1")
		j.click("Check")
		j.Shows("+  backend  = search.docs")
		j.click("Apply")
		j.Shows("The change is in use")
	})
	c.Search(t, token, http.StatusOK)
	for _, pid := range c.Plugins() {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	j.task("find out why a plugin was restarted", func() {
		j.clickOn(".bay a[href$='search.docs']")
		j.Shows("killed")
	})

	a.Push(t, dockertest.Behaviour{Version: "1.1.0", Healthcheck: true})
	j.task("check for new versions", func() {
		j.click("Stacks")
		j.Shows(a.Project)
		j.click("Check everything")
		j.Shows("1 with a new version")
	})
	j.task("update a container", func() {
		j.clickOn("main a[href='/stacks?show=updates']")
		j.click("Update 1 service")
		// The button of the page that follows has the same name.
		j.Shows("Commands that will run")
		j.click("Update 1 service")
		j.Shows("success")
	})
	j.task("roll it back", func() {
		j.click("Stacks")
		j.click("web")
		j.click("Roll back to 1.0.0…")
		j.click("Roll back")
		j.Shows("success")
	})
	j.task("set up Telegram", func() {
		j.click("Notifications")
		j.clickOn("summary:has(+ #set-chat)")
		j.fill("Bot token", bot.Token)
		j.fill("Chat id", bot.ChatID)
		j.click("Save and switch on")
		j.Do(chromedp.WaitVisible(chromedp.CSS(".toast.ok")))
		j.click("Test: Chat")
		j.Shows("The channel has taken the test.")
	})
	j.task("invite a user", func() {
		// It counts what waits beside its name: the provider that was replaced cannot be reached.
		j.clickOn("details.group:has(a[href='/system/users']) > summary")
		j.click("Users")
		j.click("Invite user")
		j.fill("Email", "grace@example.com")
		j.fill("Name", "Grace Hopper")
		j.click("Create invitation")
		j.Shows("/system/setup?token=")
	})
	j.task("sign out", func() {
		j.click("Sign out")
		j.Shows("You are signed out.")
	})
}
