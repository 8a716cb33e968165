package e2e

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/patchbay-dev/patchbay/plugins/codehost/github/githubtest"
)

// rowAt scrolls so far that a row of a list stands in the middle of the window, and returns its selector.
func (b *browser) rowAt(selector string, n int) (row string) {
	b.t.Helper()
	id, err := evaluate[string](b, fmt.Sprintf(`(() => { const row = document.querySelectorAll(%q)[%d]; row.scrollIntoView({ block: "center" }); return row.id; })()`, selector, n))
	if err != nil || id == "" {
		b.t.Fatalf("there is no row %d: %q, %v", n, id, err)
	}
	return fmt.Sprintf("[id='%s']", id)
}

// topOf returns where an element stands in the window, in pixels.
func (b *browser) topOf(row string) int {
	b.t.Helper()
	top, err := evaluate[int](b, fmt.Sprintf(`Math.round(document.querySelector(%q)?.getBoundingClientRect().top ?? 99999) || 0`, row))
	if err != nil {
		b.t.Fatal(err)
	}
	return top
}

// staysAt checks that a row stands where it stood, to a few pixels.
func (b *browser) staysAt(what, row string, at int) {
	b.t.Helper()
	if got := b.topOf(row); got < at-4 || got > at+4 {
		y, err := evaluate[float64](b, "scrollY")
		b.t.Errorf("%s: the row stands at %d instead of %d, with the page scrolled by %v: %v", what, got, at, y, err)
	}
}

// count waits until a list has a number of rows.
func (b *browser) count(selector string, n int) {
	b.t.Helper()
	eventually(b.t, browserLimit, fmt.Sprintf("there are %d of %s", n, selector), func() bool {
		got, err := evaluate[int](b, fmt.Sprintf(`document.querySelectorAll(%q).length`, selector))
		return err == nil && got == n
	})
}

// TestInboxKeepsItsPlace: the list of messages stays where one has scrolled to, when mail comes, when a message is opened and left again,
// and when it is marked; on a phone it is there again after a message.
func TestInboxKeepsItsPlace(t *testing.T) {
	t.Parallel()
	c := startCore(t, mailHCL)
	b := browse(t, c)
	b.as(wide)
	b.open("/mail/inbox")
	b.press("header [data-open]", "#new-mailbox[open]")
	b.do(chromedp.SendKeys(chromedp.CSS("#local-part"), "hello"))
	b.press("#new-mailbox .btn.p", ".messages .empty")
	b.shows("Send a mail to hello@mail.localhost")
	for i := range 40 {
		c.sendMail("hello@mail.localhost", fmt.Sprintf("Subject: Message %d", i), "Text.\n")
	}
	const rows = "a.message"
	b.count(rows, 40)
	b.do(chromedp.WaitVisible(chromedp.CSS("[data-live-sign]:not(.cut) .on")))
	b.mark()
	row := b.rowAt(rows, 20)
	at := b.topOf(row)
	c.sendMail("hello@mail.localhost", "Subject: News", "Text.\n")
	b.count(rows, 41)
	b.staysAt("mail comes", row, at)
	b.marked("the list of messages")
	b.press(row, "#reader h2")
	b.staysAt("a message is opened", row, at)
	evaluated(b, "the message is in view", `document.querySelector("#reader h2").getBoundingClientRect().top >= 0 && document.querySelector("#reader h2").getBoundingClientRect().bottom < innerHeight`, true)
	b.press("#reader form[action*='/unread'] .btn", ".toast.ok")
	b.staysAt("it is marked", row, at)
	b.do(chromedp.Evaluate[chromedp.Void]("location.reload()"))
	b.do(chromedp.WaitReady(chromedp.CSS("html.js")))
	b.count(rows, 41)
	b.staysAt("the page is loaded again", row, at)
	// Whoever is at the top sees what comes.
	b.open("/mail/domains")
	b.open("/mail/inbox")
	evaluated(b, "another visit begins at the top", "scrollY", 0)
	c.sendMail("hello@mail.localhost", "Subject: More news", "Text.\n")
	b.count(rows, 42)
	evaluated(b, "the top stays the top", "scrollY", 0)

	b.as(narrow)
	b.open("/mail/inbox")
	b.count(rows, 42)
	row = b.rowAt(rows, 30)
	at = b.topOf(row)
	b.press(row, "#reader h2")
	evaluated(b, "a message begins at its top", "scrollY", 0)
	b.press("#reader .back a", rows)
	b.staysAt("back on a phone", row, at)
}

// TestFeedKeepsItsPlace: the feed stays where one has scrolled to, when a release is marked, and on the way back from one.
func TestFeedKeepsItsPlace(t *testing.T) {
	t.Parallel()
	hub := fillHub(t)
	now := time.Now().UTC().Truncate(time.Second)
	hub.Change(func(s *githubtest.Server) {
		var many []*githubtest.Release
		for i := range 28 {
			many = append(many, &githubtest.Release{ID: int64(100 + i), Tag: fmt.Sprintf("v3.%d.0", 28-i), Body: "Text.",
				At: now.Add(-time.Duration(i) * 5 * time.Hour)})
		}
		s.Content("acme/engine").Releases = many
	})
	c := newCore(t, releasesHCL(hub, `"acme/engine"`), "SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV=false")
	c.start()
	t.Cleanup(c.stop)
	b := browse(t, c)
	b.setUp(c)
	b.as(wide)
	const rows = ".item[data-row]"
	b.open("/releases/settings")
	b.fetchReleases(http.MethodPost, "sync/releases", "")
	b.open("/releases/feed")
	b.count(rows, 28)
	row := b.rowAt(rows, 15)
	at := b.topOf(row)
	b.press(row+" [data-mark][value=yes]", row+" [data-mark][value=no]")
	b.staysAt("a release is marked", row, at)
	b.press(row+" a.open", "article.notes")
	evaluated(b, "a release begins at its top", "scrollY", 0)
	b.press(".crumb a", row)
	b.staysAt("back by the link", row, at)
	b.press(row+" a.open", "article.notes")
	b.do(chromedp.Evaluate[chromedp.Void]("history.back()"))
	b.do(chromedp.WaitVisible(chromedp.CSS(row)))
	b.staysAt("back by the browser", row, at)
}
