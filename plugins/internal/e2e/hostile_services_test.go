package e2e

import (
	"fmt"
	"mime"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/patchbay-dev/patchbay/plugins/codehost/github/githubtest"
)

// hostileHub is a double of GitHub whose names and texts are as long as they may be.
func hostileHub(t *testing.T) (hub *githubtest.Server, repo string) {
	t.Helper()
	hub = githubtest.New(t)
	repo = "acme/" + strings.Repeat("engine-of-", 9) + "acme"
	hub.AddRepo(githubtest.Repo{FullName: repo})
	hub.AddRepo(githubtest.Repo{FullName: "ada/notes"})
	hub.Token("ghp_a_token_of_ada_lovelace", "ada")
	now := time.Now().UTC().Truncate(time.Second)
	hub.Change(func(s *githubtest.Server) {
		for i, text := range hostile {
			at := now.Add(-time.Duration(i+1) * time.Hour)
			body := text + "\n\n# " + text + "\n\n```\n" + strings.Repeat("x", 500) + "\n```\n\n| " + text + " | b |\n|---|---|\n| " + unbroken +
				" | 1 |\n\n- [" + unbroken + "](https://example.com/" + unbroken + ")\n"
			s.Content(repo).Releases = append(s.Content(repo).Releases,
				&githubtest.Release{ID: int64(10 + i), Tag: fmt.Sprintf("v1.%d.0-%s", i, unbroken[:120]), Name: text, Body: body, At: at,
					Prerelease: i%2 == 0})
			s.Account("ada").Notifications = append(s.Account("ada").Notifications,
				githubtest.Notification{ID: fmt.Sprint(i), Repo: repo, Title: text, Type: "Issue", Reason: "mention", UpdatedAt: at, Unread: i%2 == 0})
		}
		s.Account("ada").Followers = []string{strings.Repeat("long", 9) + "bob"}
		s.Content("ada/notes").Stargazers = []githubtest.Star{{Repo: strings.Repeat("long", 9) + "bob", At: now.Add(-3 * time.Hour)}}
	})
	return hub, repo
}

// withoutScript switches the scripts of pages off or on.
func (b *browser) withoutScript(off bool) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled,
		emulation.SetScriptExecutionDisabledParams{Value: off}); err != nil {
		b.t.Fatal(err)
	}
}

// sendHostile sends messages with the hostile texts in all that a list or a page shows of them.
func (c *core) sendHostile(to string) {
	c.t.Helper()
	for i, text := range hostile {
		name := mime.BEncoding.Encode("utf-8", text)
		header := "Subject: " + strings.ReplaceAll(name, "?= =?", "?=\r\n =?") + "\r\nX-Long: " + unbroken +
			"\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b"
		kind := "text/plain"
		if i%2 == 1 {
			kind = "text/html"
		}
		c.sendMail(to, header, "--b\nContent-Type: "+kind+"; charset=utf-8\n\nYour verification code is 48291"+fmt.Sprint(i)+"\n\n"+text+"\n"+unbroken+"\n"+
			"--b\nContent-Type: text/csv\nContent-Disposition: attachment; filename=\""+unbroken[:200]+".csv\"\n\n1\n--b--\n")
	}
}

// useMailWithoutScript makes a mailbox with a hostile name, reads mail and changes the mailbox, by plain forms and links, and returns
// the address of a message.
func (b *browser) useMailWithoutScript(c *core) (message string) {
	b.t.Helper()
	local := strings.Repeat("a-long-name.", 5) + "ada"
	b.open("/mail/inbox?open=new-mailbox")
	b.do(chromedp.SendKeys(chromedp.CSS("#local-part"), local))
	b.press("form[action$='/mailboxes'] .btn.p", ".messages .empty")
	address := local + "@mail.localhost"
	b.shows(address)
	c.sendHostile(address)
	mailbox, err := evaluate[string](b, "location.search")
	if err != nil {
		b.t.Fatal(err)
	}
	b.open("/mail/inbox" + mailbox)
	b.press("a.message.new", "#reader .verification")
	b.shows("48291")
	if message, err = evaluate[string](b, "location.search"); err != nil {
		b.t.Fatal(err)
	}
	b.do(chromedp.Click(chromedp.CSS("#box-settings summary")),
		chromedp.SendKeys(chromedp.CSS("#tags"), strings.Repeat("tag", 10)+", another"))
	b.press("form[action$='/tags'] .btn", ".toast.ok")
	b.open("/mail/inbox" + mailbox)
	b.do(chromedp.Click(chromedp.CSS("#box-settings summary")))
	b.press("form[action$='/extend'] .btn", ".toast.ok")
	b.open("/mail/inbox")
	b.do(chromedp.SendKeys(chromedp.CSS("#mail-search"), "verification -482910\r"))
	b.do(chromedp.WaitVisible(chromedp.CSS("#mail-search[value='verification -482910']")))
	evaluated(b, "the search finds the others", `document.querySelectorAll("a.message").length`, len(hostile)-1)
	b.open("/mail/domains")
	b.press("form[action$='/catch-all'] .btn", ".toast.ok")
	return message
}

// useReleasesWithoutScript gives a token, reads a release, searches, marks and follows, by plain forms and links, and returns the
// address of the release.
func (b *browser) useReleasesWithoutScript() (release string) {
	b.t.Helper()
	b.open("/releases/settings")
	b.do(chromedp.SendKeys(chromedp.CSS("#token"), "ghp_a_token_of_ada_lovelace"))
	b.press("form[action$='/token'] .btn.p", ".toast.ok")
	eventually(b.t, startWithin, "the feed has the releases", func() bool {
		b.open("/releases/feed")
		n, err := evaluate[int](b, `document.querySelectorAll(".item a.open").length`)
		return err == nil && n >= len(hostile)
	})
	b.press("form.mark [value=yes]", "form.mark [value=no]")
	b.press(".item a.open[href^='/releases/']", "article.notes")
	release, err := evaluate[string](b, "location.pathname")
	if err != nil {
		b.t.Fatal(err)
	}
	b.press(".reaction[value=heart]", ".reaction[value=heart][aria-pressed=true]")
	b.press(".reaction[value=heart]", ".reaction[value=heart][aria-pressed=false]")
	b.open("/releases/feed")
	b.do(chromedp.SendKeys(chromedp.CSS("#feed-search"), "words"))
	b.press(".feed-search .btn", "#feed-search[value='words']")
	b.open("/releases/repos")
	b.do(chromedp.SendKeys(chromedp.CSS("#name"), "ada/notes"))
	b.press("form .btn.p", ".toast.ok")
	b.open("/releases/briefs")
	b.press(".top .btn", "article.notes")
	return release
}

// TestMailAndReleasesHoldHostileTexts: mail and releases are read and changed without a script, and their pages hold texts that are
// hostile: nothing is cut, lies over anything else, or is run.
func TestMailAndReleasesHoldHostileTexts(t *testing.T) {
	t.Parallel()
	hub, repo := hostileHub(t)
	c := newCore(t, mailHCL+releasesHCL(hub, fmt.Sprintf("%q", repo)), "SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV=false")
	c.start()
	t.Cleanup(c.stop)
	b := browse(t, c)
	source := axe(t)
	b.setUp(c)
	b.withoutScript(true)
	message := b.useMailWithoutScript(c)
	release := b.useReleasesWithoutScript()
	b.withoutScript(false)
	pages := [][2]string{
		{"mail-inbox", "/mail/inbox"}, {"mail-message", "/mail/inbox" + message}, {"mail-headers", "/mail/inbox" + message + "&view=headers"},
		{"mail-domains", "/mail/domains"}, {"mail-docs", "/mail/api-keys/docs"},
		{"releases-feed", "/releases/feed"}, {"releases-release", release}, {"releases-inbox", "/releases/inbox"},
		{"releases-followers", "/releases/followers"}, {"releases-repos", "/releases/repos"},
		{"releases-briefs", "/releases/briefs"}, {"releases-settings", "/releases/settings"},
	}
	for _, page := range pages {
		b.walkHostile(page, source)
	}
}
