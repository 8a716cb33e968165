package releases

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/patchbay-dev/patchbay/plugins/codehost/github/githubtest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// TestReleasesPages follows repositories in the browser, reads their releases, and looks at every page in every look.
func TestReleasesPages(t *testing.T) {
	t.Parallel()
	hub := kit.FillHub(t)
	hub.SetQuota(githubtest.Quota{Limit: 5000, Remaining: 5000, Reset: time.Now().Add(time.Hour)})
	c := kit.NewCore(t, kit.ReleasesHCL(hub, `"acme/engine"`), "SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV=false")
	c.Start()
	t.Cleanup(c.Stop)
	b := kit.Browse(t, c)
	source := kit.ReadAxe(t)
	b.SetUp(c)
	b.Open("/releases/settings")
	b.Do(chromedp.SendKeys(chromedp.CSS("#token"), "ghp_a_token_of_ada_lovelace"))
	b.Press("form[action$='/token'] .btn.p", ".toast.ok")
	b.Shows("ghp_…lace")
	b.Open("/releases/feed")
	kit.Eventually(t, kit.StartWithin, "the feed has the releases of both repositories", func() bool {
		n, err := kit.Evaluate[int](b, `document.querySelectorAll(".item .repo").length`)
		return err == nil && n >= 4
	})
	b.Shows("Second edition, first candidate")
	// Keys: j takes the first item, o opens it.
	b.Do(chromedp.KeyEvent("j"))
	kit.RequireValue(b, "a row keeps the focus when its list is drawn anew",
		`document.activeElement.matches("[data-row][tabindex='-1']") && document.querySelectorAll("[data-row]:not([tabindex])").length`, 0)
	// The list may be drawn anew with another release between the two keys: then they are pressed again.
	var pressed time.Time
	kit.Eventually(t, kit.StartWithin, "o opens the release", func() bool {
		if found, err := kit.Evaluate[bool](b, `document.querySelector("article.notes") !== null`); err != nil || found {
			return err == nil
		}
		if time.Since(pressed) > 5*time.Second {
			pressed = time.Now()
			b.Do(chromedp.KeyEvent(kb.Escape), chromedp.KeyEvent("j"), chromedp.KeyEvent("o"))
		}
		return false
	})
	b.Shows("What is new")
	kit.RequireValue(b, "nothing in the notes was run", `window.ran === undefined`, true)
	kit.RequireValue(b, "what could run or load is gone",
		`document.querySelectorAll("article.notes :is(script, img, iframe, [style], [onerror])").length`, 0)
	kit.RequireValue(b, "code has its colours", `document.querySelectorAll(".chroma .nf").length > 0`, true)
	path := func() string {
		t.Helper()
		at, err := kit.Evaluate[string](b, "location.pathname")
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	release := path()
	kit.RequireValue(b, "nothing was left yet", `document.querySelectorAll(".reaction[aria-pressed=true]").length`, 0)
	b.Press(".reaction[value=heart]", ".reaction[value=heart][aria-pressed=true]")
	kit.RequireValue(b, "the reaction is counted", `document.querySelector(".reaction[value=heart]").textContent.trim()`, "❤️ 1")
	b.Press(".reaction[value=heart]", ".reaction[value=heart][aria-pressed=false]")
	b.Press(".reaction[value=rocket]", ".reaction[value=rocket][aria-pressed=true]")
	b.Open("/releases/feed")
	b.Do(chromedp.SendKeys(chromedp.CSS("#feed-search"), "cards twice"))
	b.Press(".feed-search .btn", "#feed-search[value='cards twice']")
	kit.RequireValue(b, "the search finds one release", `[...document.querySelectorAll(".item h3")].map(h => h.textContent.trim()).join()`,
		"Punched cards v1.4.0")
	b.Open("/releases/feed")
	kit.RequireValue(b, "a release that was opened is read", `document.querySelectorAll(".item.read").length`, 1)
	b.Open("/releases/repos")
	b.Do(chromedp.SendKeys(chromedp.CSS("#name"), hub.URL+"/ada/notes/releases"))
	b.Press("form .btn.p", ".toast.ok")
	b.Shows("ada/notes")
	b.Open("/releases/repos")
	kit.RequireValue(b, "many are typed", `document.querySelector("#import-content").closest("details").open = true`, true)
	b.Do(chromedp.SendKeys(chromedp.CSS("#import-content"), "acme/loom\nada/cards\nhttps://elsewhere.example/a/b\nnonsense"))
	b.Press("form[action$='/import'] .btn", "#imported .problems")
	b.Shows("1 repository is followed from now on.")
	kit.RequireValue(b, "each line has its problem",
		`[...document.querySelectorAll("#imported li")].map(e => e.textContent.replace(/\s+/g, " ").trim()).join("; ")`,
		"Line 3 https://elsewhere.example/a/b – elsewhere.example is not the code host; Line 4 nonsense – write owner/name, or the address of a repository")
	b.Open("/releases/settings")
	b.Do(chromedp.SendKeys(chromedp.CSS("#feed-name"), "My reader"))
	b.Press("form[action$='/feeds'] .btn.p", "#feeds .note.ok")
	address, err := kit.Evaluate[string](b, `document.querySelector("#feeds .note.ok code, #feeds .note.ok pre").textContent.trim()`)
	if err != nil || !strings.Contains(address, "/releases/api/feed.atom?token=svc_ft_") {
		t.Fatalf("the address of the feed is %q, %v", address, err)
	}
	kit.RequireValue(b, "a reader reads the feed", fmt.Sprintf(`fetch(%q, {credentials: "omit"}).then(r => r.text()).then(text => text.includes("Punched cards"))`, address), true)
	b.Open("/releases/hosts")
	kit.RequireValue(b, "the limit of Ada's token is known",
		`[...document.querySelectorAll("td")].some(e => /^4,9\d\d \/ 5,000$/.test(e.textContent.trim()))`, true)
	kit.RequireValue(b, "the tasks lead to their jobs", `document.querySelectorAll("a[href^='/system/jobs/job_']").length > 0`, true)
	b.Open("/system")
	b.Shows("Unread releases, last 7 days")
	b.Open("/releases/briefs")
	b.Press(".top .btn", "article.notes")
	brief := path()
	for name, path := range map[string]string{
		"feed": "/releases/feed", "search": "/releases/feed?q=after:soon", "nothing": "/releases/followers", "briefs": "/releases/briefs",
		"brief": brief, "inbox": "/releases/inbox",
		"release": release, "repos": "/releases/repos", "settings": "/releases/settings", "hosts": "/releases/hosts",
		"focus": "/releases/focus/repo/acme/engine",
	} {
		b.Walk("releases-"+name, path, source, kit.Wide, kit.Narrow)
	}
	b.As(kit.Wide)
	b.Expect("400")
	b.Open("/releases/repos")
	b.Do(chromedp.SendKeys(chromedp.CSS("#name"), "no name"))
	b.Press("form .btn.p", ".error")
	b.Expect("422")
	b.Open("/releases/repos")
	b.Do(chromedp.SendKeys(chromedp.CSS("#name"), "acme/ghost"))
	b.Press("form .btn.p", ".error")
	b.Shows("The code host has no repository acme/ghost")
	kit.RequireValue(b, "what was typed stands there", `document.querySelector("#name").value`, "acme/ghost")
}
