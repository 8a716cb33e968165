package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/patchbay-dev/patchbay/plugins/codehost/github/githubtest"
)

// releasesHCL is a release feed of a double of GitHub.
func releasesHCL(hub *githubtest.Server, repos string) string {
	return fmt.Sprintf(`
codehost "github" "hub" {
  config { base_url = %q }
}
service "releases" {
  codehosts = [codehost.hub]
  repos     = [%s]
}
`, hub.URL, repos)
}

const hostileNotes = "## What is new\n\n- A [link](javascript:parent.ran=1) and `code`\n\n![pixel](https://images.example.com/pixel.png)\n\n" +
	"<script>window.ran = 1</script><img src=x onerror=\"window.ran=1\"><iframe src=\"https://example.com/\"></iframe><p style=\"position:fixed\">text</p>\n\n" +
	"```go\nfunc main() { fmt.Println(\"hello\") }\n```\n\n| Before | After |\n|---|---|\n| 12 ms | 3 ms |\n"

// fillHub puts two repositories with releases, a stargazer and a follower into the double.
func fillHub(t *testing.T) *githubtest.Server {
	t.Helper()
	hub := githubtest.New(t)
	now := time.Now().UTC().Truncate(time.Second)
	for _, name := range []string{"acme/engine", "acme/loom", "ada/notes"} {
		hub.AddRepo(githubtest.Repo{FullName: name})
	}
	hub.Token("ghp_a_token_of_ada_lovelace", "ada")
	hub.Change(func(s *githubtest.Server) {
		s.Content("acme/engine").Releases = []*githubtest.Release{
			{ID: 12, Tag: "v2.0.0-rc.1", Name: "Second edition, first candidate", Body: hostileNotes, At: now.Add(-time.Hour), Prerelease: true},
			{ID: 11, Tag: "v1.4.0", Name: "Punched cards", Body: "Cards are read twice as fast.", At: now.Add(-30 * time.Hour)},
		}
		s.Content("acme/loom").Releases = []*githubtest.Release{{ID: 21, Tag: "v0.9.1", Body: "", At: now.Add(-26 * time.Hour)}}
		s.Account("ada").Starred = []githubtest.Star{{Repo: "acme/loom", At: now.Add(-100 * time.Hour)}}
		s.Account("ada").Followers = []string{"grace"}
		s.Account("ada").Notifications = []githubtest.Notification{{ID: "5", Repo: "acme/loom", Title: "Patterns are lost", Type: "Issue",
			Reason: "mention", UpdatedAt: now.Add(-2 * time.Hour), Unread: true}}
		s.Content("ada/notes").Stargazers = []githubtest.Star{{Repo: "grace", At: now.Add(-3 * time.Hour)}}
	})
	return hub
}

// TestReleasesPages follows repositories in the browser, reads their releases, and looks at every page in every look.
func TestReleasesPages(t *testing.T) {
	t.Parallel()
	hub := fillHub(t)
	hub.SetQuota(githubtest.Quota{Limit: 5000, Remaining: 5000, Reset: time.Now().Add(time.Hour)})
	c := newCore(t, releasesHCL(hub, `"acme/engine"`), "SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV=false")
	c.start()
	t.Cleanup(c.stop)
	b := browse(t, c)
	source := axe(t)
	b.setUp(c)
	b.open("/releases/settings")
	b.do(chromedp.SendKeys(chromedp.CSS("#token"), "ghp_a_token_of_ada_lovelace"))
	b.press("form[action$='/token'] .btn.p", ".toast.ok")
	b.shows("ghp_…lace")
	b.open("/releases/feed")
	eventually(t, startWithin, "the feed has the releases of both repositories", func() bool {
		n, err := evaluate[int](b, `document.querySelectorAll(".item .repo").length`)
		return err == nil && n >= 4
	})
	b.shows("Second edition, first candidate")
	// Keys: j takes the first item, o opens it.
	b.do(chromedp.KeyEvent("j"))
	evaluated(b, "a row keeps the focus when its list is drawn anew",
		`document.activeElement.matches("[data-row][tabindex='-1']") && document.querySelectorAll("[data-row]:not([tabindex])").length`, 0)
	// The list may be drawn anew with another release between the two keys: then they are pressed again.
	var pressed time.Time
	eventually(t, startWithin, "o opens the release", func() bool {
		if found, err := evaluate[bool](b, `document.querySelector("article.notes") !== null`); err != nil || found {
			return err == nil
		}
		if time.Since(pressed) > 5*time.Second {
			pressed = time.Now()
			b.do(chromedp.KeyEvent(kb.Escape), chromedp.KeyEvent("j"), chromedp.KeyEvent("o"))
		}
		return false
	})
	b.shows("What is new")
	evaluated(b, "nothing in the notes was run", `window.ran === undefined`, true)
	evaluated(b, "what could run or load is gone",
		`document.querySelectorAll("article.notes :is(script, img, iframe, [style], [onerror])").length`, 0)
	evaluated(b, "code has its colours", `document.querySelectorAll(".chroma .nf").length > 0`, true)
	path := func() string {
		t.Helper()
		at, err := evaluate[string](b, "location.pathname")
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	release := path()
	evaluated(b, "nothing was left yet", `document.querySelectorAll(".reaction[aria-pressed=true]").length`, 0)
	b.press(".reaction[value=heart]", ".reaction[value=heart][aria-pressed=true]")
	evaluated(b, "the reaction is counted", `document.querySelector(".reaction[value=heart]").textContent.trim()`, "❤️ 1")
	b.press(".reaction[value=heart]", ".reaction[value=heart][aria-pressed=false]")
	b.press(".reaction[value=rocket]", ".reaction[value=rocket][aria-pressed=true]")
	b.open("/releases/feed")
	b.do(chromedp.SendKeys(chromedp.CSS("#feed-search"), "cards twice"))
	b.press(".feed-search .btn", "#feed-search[value='cards twice']")
	evaluated(b, "the search finds one release", `[...document.querySelectorAll(".item h3")].map(h => h.textContent.trim()).join()`,
		"Punched cards v1.4.0")
	b.open("/releases/feed")
	evaluated(b, "a release that was opened is read", `document.querySelectorAll(".item.read").length`, 1)
	b.open("/releases/repos")
	b.do(chromedp.SendKeys(chromedp.CSS("#name"), hub.URL+"/ada/notes/releases"))
	b.press("form .btn.p", ".toast.ok")
	b.shows("ada/notes")
	b.open("/releases/repos")
	evaluated(b, "many are typed", `document.querySelector("#import-content").closest("details").open = true`, true)
	b.do(chromedp.SendKeys(chromedp.CSS("#import-content"), "acme/loom\nada/cards\nhttps://elsewhere.example/a/b\nnonsense"))
	b.press("form[action$='/import'] .btn", "#imported .problems")
	b.shows("1 repository is followed from now on.")
	evaluated(b, "each line has its problem",
		`[...document.querySelectorAll("#imported li")].map(e => e.textContent.replace(/\s+/g, " ").trim()).join("; ")`,
		"Line 3 https://elsewhere.example/a/b – elsewhere.example is not the code host; Line 4 nonsense – write owner/name, or the address of a repository")
	b.open("/releases/settings")
	b.do(chromedp.SendKeys(chromedp.CSS("#feed-name"), "My reader"))
	b.press("form[action$='/feeds'] .btn.p", "#feeds .note.ok")
	address, err := evaluate[string](b, `document.querySelector("#feeds .note.ok code, #feeds .note.ok pre").textContent.trim()`)
	if err != nil || !strings.Contains(address, "/releases/api/feed.atom?token=svc_ft_") {
		t.Fatalf("the address of the feed is %q, %v", address, err)
	}
	evaluated(b, "a reader reads the feed", fmt.Sprintf(`fetch(%q, {credentials: "omit"}).then(r => r.text()).then(text => text.includes("Punched cards"))`, address), true)
	b.open("/releases/hosts")
	evaluated(b, "the limit of Ada's token is known",
		`[...document.querySelectorAll("td")].some(e => /^4,9\d\d \/ 5,000$/.test(e.textContent.trim()))`, true)
	evaluated(b, "the tasks lead to their jobs", `document.querySelectorAll("a[href^='/system/jobs/job_']").length > 0`, true)
	b.open("/system")
	b.shows("Unread releases, last 7 days")
	b.open("/releases/briefs")
	b.press(".top .btn", "article.notes")
	brief := path()
	for name, path := range map[string]string{
		"feed": "/releases/feed", "search": "/releases/feed?q=after:soon", "nothing": "/releases/followers", "briefs": "/releases/briefs",
		"brief": brief, "inbox": "/releases/inbox",
		"release": release, "repos": "/releases/repos", "settings": "/releases/settings", "hosts": "/releases/hosts",
		"focus": "/releases/focus/repo/acme/engine",
	} {
		b.walk("releases-"+name, path, source, wide, narrow)
	}
	b.as(wide)
	b.expect("400")
	b.open("/releases/repos")
	b.do(chromedp.SendKeys(chromedp.CSS("#name"), "no name"))
	b.press("form .btn.p", ".error")
	b.expect("422")
	b.open("/releases/repos")
	b.do(chromedp.SendKeys(chromedp.CSS("#name"), "acme/ghost"))
	b.press("form .btn.p", ".error")
	b.shows("The code host has no repository acme/ghost")
	evaluated(b, "what was typed stands there", `document.querySelector("#name").value`, "acme/ghost")
}
