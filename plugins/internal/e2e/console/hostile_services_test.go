package console

import (
	"fmt"
	"mime"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/patchbay-dev/patchbay/plugins/codehost/github/githubtest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
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
		for i, text := range kit.HostileTexts {
			at := now.Add(-time.Duration(i+1) * time.Hour)
			body := text + "\n\n# " + text + "\n\n```\n" + strings.Repeat("x", 500) + "\n```\n\n| " + text + " | b |\n|---|---|\n| " + kit.UnbrokenText +
				" | 1 |\n\n- [" + kit.UnbrokenText + "](https://example.com/" + kit.UnbrokenText + ")\n"
			s.Content(repo).Releases = append(s.Content(repo).Releases,
				&githubtest.Release{ID: int64(10 + i), Tag: fmt.Sprintf("v1.%d.0-%s", i, kit.UnbrokenText[:120]), Name: text, Body: body, At: at,
					Prerelease: i%2 == 0})
			s.Account("ada").Notifications = append(s.Account("ada").Notifications,
				githubtest.Notification{ID: fmt.Sprint(i), Repo: repo, Title: text, Type: "Issue", Reason: "mention", UpdatedAt: at, Unread: i%2 == 0})
		}
		s.Account("ada").Followers = []string{strings.Repeat("long", 9) + "bob"}
		s.Content("ada/notes").Stargazers = []githubtest.Star{{Repo: strings.Repeat("long", 9) + "bob", At: now.Add(-3 * time.Hour)}}
	})
	return hub, repo
}

// sendHostile sends messages with the hostile texts in all that a list or a page shows of them.
func sendHostile(c *kit.Core, to string) {
	c.T.Helper()
	for i, text := range kit.HostileTexts {
		name := mime.BEncoding.Encode("utf-8", text)
		header := "Subject: " + strings.ReplaceAll(name, "?= =?", "?=\r\n =?") + "\r\nX-Long: " + kit.UnbrokenText +
			"\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b"
		kind := "text/plain"
		if i%2 == 1 {
			kind = "text/html"
		}
		c.SendMail(to, header, "--b\nContent-Type: "+kind+"; charset=utf-8\n\nYour verification code is 48291"+fmt.Sprint(i)+"\n\n"+text+"\n"+kit.UnbrokenText+"\n"+
			"--b\nContent-Type: text/csv\nContent-Disposition: attachment; filename=\""+kit.UnbrokenText[:200]+".csv\"\n\n1\n--b--\n")
	}
}

// useMailWithoutScript makes a mailbox with a hostile name, reads mail and changes the mailbox, by plain forms and links, and returns
// the address of a message.
func useMailWithoutScript(b *kit.Browser, c *kit.Core) (message string) {
	b.T.Helper()
	local := strings.Repeat("a-long-name.", 5) + "ada"
	b.Open("/mail/inbox?open=new-mailbox")
	b.Do(chromedp.SendKeys(chromedp.CSS("#local-part"), local))
	b.Press("form[action$='/mailboxes'] .btn.p", ".messages .empty")
	address := local + "@mail.localhost"
	b.Shows(address)
	sendHostile(c, address)
	mailbox, err := kit.Evaluate[string](b, "location.search")
	if err != nil {
		b.T.Fatal(err)
	}
	b.Open("/mail/inbox" + mailbox)
	b.Press("a.message.new", "#reader .verification")
	b.Shows("48291")
	if message, err = kit.Evaluate[string](b, "location.search"); err != nil {
		b.T.Fatal(err)
	}
	b.Do(chromedp.Click(chromedp.CSS("#box-settings summary")),
		chromedp.SendKeys(chromedp.CSS("#tags"), strings.Repeat("tag", 10)+", another"))
	b.Press("form[action$='/tags'] .btn", ".toast.ok")
	b.Open("/mail/inbox" + mailbox)
	b.Do(chromedp.Click(chromedp.CSS("#box-settings summary")))
	b.Press("form[action$='/extend'] .btn", ".toast.ok")
	b.Open("/mail/inbox")
	b.Do(chromedp.SendKeys(chromedp.CSS("#mail-search"), "verification -482910\r"))
	b.Do(chromedp.WaitVisible(chromedp.CSS("#mail-search[value='verification -482910']")))
	kit.RequireValue(b, "the search finds the others", `document.querySelectorAll("a.message").length`, len(kit.HostileTexts)-1)
	b.Open("/mail/domains")
	b.Press("form[action$='/catch-all'] .btn", ".toast.ok")
	return message
}

// useReleasesWithoutScript gives a token, reads a release, searches, marks and follows, by plain forms and links, and returns the
// address of the release.
func useReleasesWithoutScript(b *kit.Browser) (release string) {
	b.T.Helper()
	b.Open("/releases/settings")
	b.Do(chromedp.SendKeys(chromedp.CSS("#token"), "ghp_a_token_of_ada_lovelace"))
	b.Press("form[action$='/token'] .btn.p", ".toast.ok")
	kit.Eventually(b.T, kit.StartWithin, "the feed has the releases", func() bool {
		b.Open("/releases/feed")
		n, err := kit.Evaluate[int](b, `document.querySelectorAll(".item a.open").length`)
		return err == nil && n >= len(kit.HostileTexts)
	})
	b.Press("form.mark [value=yes]", "form.mark [value=no]")
	b.Press(".item a.open[href^='/releases/']", "article.notes")
	release, err := kit.Evaluate[string](b, "location.pathname")
	if err != nil {
		b.T.Fatal(err)
	}
	b.Press(".reaction[value=heart]", ".reaction[value=heart][aria-pressed=true]")
	b.Press(".reaction[value=heart]", ".reaction[value=heart][aria-pressed=false]")
	b.Open("/releases/feed")
	b.Do(chromedp.SendKeys(chromedp.CSS("#feed-search"), "words"))
	b.Press(".feed-search .btn", "#feed-search[value='words']")
	b.Open("/releases/repos")
	b.Do(chromedp.SendKeys(chromedp.CSS("#name"), "ada/notes"))
	b.Press("form .btn.p", ".toast.ok")
	b.Open("/releases/briefs")
	b.Press(".top .btn", "article.notes")
	return release
}

// TestMailAndReleasesHoldHostileTexts: mail and releases are read and changed without a script, and their pages hold texts that are
// hostile: nothing is cut, lies over anything else, or is run.
func TestMailAndReleasesHoldHostileTexts(t *testing.T) {
	t.Parallel()
	hub, repo := hostileHub(t)
	c := kit.NewCore(t, kit.MailHCL+kit.ReleasesHCL(hub, fmt.Sprintf("%q", repo)), "SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV=false")
	c.Start()
	t.Cleanup(c.Stop)
	b := kit.Browse(t, c)
	source := kit.ReadAxe(t)
	b.SetUp(c)
	b.WithoutScript(true)
	message := useMailWithoutScript(b, c)
	release := useReleasesWithoutScript(b)
	b.WithoutScript(false)
	pages := [][2]string{
		{"mail-inbox", "/mail/inbox"}, {"mail-message", "/mail/inbox" + message}, {"mail-headers", "/mail/inbox" + message + "&view=headers"},
		{"mail-domains", "/mail/domains"}, {"mail-docs", "/mail/api-keys/docs"},
		{"releases-feed", "/releases/feed"}, {"releases-release", release}, {"releases-inbox", "/releases/inbox"},
		{"releases-followers", "/releases/followers"}, {"releases-repos", "/releases/repos"},
		{"releases-briefs", "/releases/briefs"}, {"releases-settings", "/releases/settings"},
	}
	for _, page := range pages {
		walkHostile(b, page, source)
	}
}
