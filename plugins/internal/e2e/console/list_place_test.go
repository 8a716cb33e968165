package console

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/patchbay-dev/patchbay/plugins/codehost/github/githubtest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// rowAt scrolls so far that a row of a list stands in the middle of the window, and returns its selector.
func rowAt(b *kit.Browser, selector string, n int) (row string) {
	b.T.Helper()
	id, err := kit.Evaluate[string](b, fmt.Sprintf(`(() => { const row = document.querySelectorAll(%q)[%d]; row.scrollIntoView({ block: "center" }); return row.id; })()`, selector, n))
	if err != nil || id == "" {
		b.T.Fatalf("there is no row %d: %q, %v", n, id, err)
	}
	return fmt.Sprintf("[id='%s']", id)
}

// topOf returns where an element stands in the window, in pixels.
func topOf(b *kit.Browser, row string) int {
	b.T.Helper()
	top, err := kit.Evaluate[int](b, fmt.Sprintf(`Math.round(document.querySelector(%q)?.getBoundingClientRect().top ?? 99999) || 0`, row))
	if err != nil {
		b.T.Fatal(err)
	}
	return top
}

// staysAt checks that a row stands where it stood, to a few pixels.
func staysAt(b *kit.Browser, what, row string, at int) {
	b.T.Helper()
	if got := topOf(b, row); got < at-4 || got > at+4 {
		y, err := kit.Evaluate[float64](b, "scrollY")
		b.T.Errorf("%s: the row stands at %d instead of %d, with the page scrolled by %v: %v", what, got, at, y, err)
	}
}

// waitForRows waits until a list has a number of rows.
func waitForRows(b *kit.Browser, selector string, n int) {
	b.T.Helper()
	kit.Eventually(b.T, kit.BrowserLimit, fmt.Sprintf("there are %d of %s", n, selector), func() bool {
		got, err := kit.Evaluate[int](b, fmt.Sprintf(`document.querySelectorAll(%q).length`, selector))
		return err == nil && got == n
	})
}

// TestInboxKeepsItsPlace: the list of messages stays where one has scrolled to, when mail comes, when a message is opened and left again,
// and when it is marked; on a phone it is there again after a message.
func TestInboxKeepsItsPlace(t *testing.T) {
	t.Parallel()
	c := kit.StartCore(t, kit.MailHCL)
	b := kit.Browse(t, c)
	b.As(kit.Wide)
	b.Open("/mail/inbox")
	b.Press("header [data-open]", "#new-mailbox[open]")
	b.Do(chromedp.SendKeys(chromedp.CSS("#local-part"), "hello"))
	b.Press("#new-mailbox .btn.p", ".messages .empty")
	b.Shows("Send a mail to hello@mail.localhost")
	for i := range 40 {
		c.SendMail("hello@mail.localhost", fmt.Sprintf("Subject: Message %d", i), "Text.\n")
	}
	const rows = "a.message"
	waitForRows(b, rows, 40)
	b.Do(chromedp.WaitVisible(chromedp.CSS("[data-live-sign]:not(.cut) .on")))
	b.Mark()
	row := rowAt(b, rows, 20)
	at := topOf(b, row)
	c.SendMail("hello@mail.localhost", "Subject: News", "Text.\n")
	waitForRows(b, rows, 41)
	staysAt(b, "mail comes", row, at)
	b.Marked("the list of messages")
	b.Press(row, "#reader h2")
	staysAt(b, "a message is opened", row, at)
	kit.RequireValue(b, "the message is in view", `document.querySelector("#reader h2").getBoundingClientRect().top >= 0 && document.querySelector("#reader h2").getBoundingClientRect().bottom < innerHeight`, true)
	b.Press("#reader form[action*='/unread'] .btn", ".toast.ok")
	staysAt(b, "it is marked", row, at)
	b.Do(chromedp.Evaluate[chromedp.Void]("location.reload()"))
	b.Do(chromedp.WaitReady(chromedp.CSS("html.js")))
	waitForRows(b, rows, 41)
	staysAt(b, "the page is loaded again", row, at)
	// Whoever is at the top sees what comes.
	b.Open("/mail/domains")
	b.Open("/mail/inbox")
	kit.RequireValue(b, "another visit begins at the top", "scrollY", 0)
	c.SendMail("hello@mail.localhost", "Subject: More news", "Text.\n")
	waitForRows(b, rows, 42)
	kit.RequireValue(b, "the top stays the top", "scrollY", 0)

	b.As(kit.Narrow)
	b.Open("/mail/inbox")
	waitForRows(b, rows, 42)
	row = rowAt(b, rows, 30)
	at = topOf(b, row)
	b.Press(row, "#reader h2")
	kit.RequireValue(b, "a message begins at its top", "scrollY", 0)
	b.Press("#reader .back a", rows)
	staysAt(b, "back on a phone", row, at)
}

// TestFeedKeepsItsPlace: the feed stays where one has scrolled to, when a release is marked, and on the way back from one.
func TestFeedKeepsItsPlace(t *testing.T) {
	t.Parallel()
	hub := kit.FillHub(t)
	now := time.Now().UTC().Truncate(time.Second)
	hub.Change(func(s *githubtest.Server) {
		var many []*githubtest.Release
		for i := range 28 {
			many = append(many, &githubtest.Release{ID: int64(100 + i), Tag: fmt.Sprintf("v3.%d.0", 28-i), Body: "Text.",
				At: now.Add(-time.Duration(i) * 5 * time.Hour)})
		}
		s.Content("acme/engine").Releases = many
	})
	c := kit.NewCore(t, kit.ReleasesHCL(hub, `"acme/engine"`), "SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV=false")
	c.Start()
	t.Cleanup(c.Stop)
	b := kit.Browse(t, c)
	b.SetUp(c)
	b.As(kit.Wide)
	const rows = ".item[data-row]"
	b.Open("/releases/settings")
	b.FetchReleases(http.MethodPost, "sync/releases", "")
	b.Open("/releases/feed")
	waitForRows(b, rows, 28)
	row := rowAt(b, rows, 15)
	at := topOf(b, row)
	b.Press(row+" [data-mark][value=yes]", row+" [data-mark][value=no]")
	staysAt(b, "a release is marked", row, at)
	b.Press(row+" a.open", "article.notes")
	kit.RequireValue(b, "a release begins at its top", "scrollY", 0)
	b.Press(".crumb a", row)
	staysAt(b, "back by the link", row, at)
	b.Press(row+" a.open", "article.notes")
	b.Do(chromedp.Evaluate[chromedp.Void]("history.back()"))
	b.Do(chromedp.WaitVisible(chromedp.CSS(row)))
	staysAt(b, "back by the browser", row, at)
}
