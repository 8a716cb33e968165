package kit

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"
)

// Browser is one tab of a real browser, which notes everything that must not happen in a page of the console.
type Browser struct {
	T    testing.TB
	Ctx  context.Context
	Base string

	// opened is the address that open went to, "" since press.
	opened string

	mu sync.Mutex
	// expected are parts of complaints that the test provokes.
	expected []string
	problems []string
	// gaveUp counts the requests that Chromium gave up because of a network that came or went.
	gaveUp int
}

// Browse opens a private window on a core.
func Browse(t testing.TB, c *Core) *Browser {
	t.Helper()
	path := shellPath(t)
	Shared.Do(func() { Shared.chromium, Shared.err = startChromium(path, filepath.Join(Scratch, "chromium")) })
	if Shared.err != nil {
		t.Fatal(Shared.err)
	}
	ctx, stop := chromedp.NewContext(Shared.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(stop)
	return Shared.watchTarget(t, ctx, c)
}

// BrowseAlone opens a browser of the test's own on a core: permissions and service workers are not for private windows.
func BrowseAlone(t testing.TB, c *Core) *Browser {
	t.Helper()
	alone, err := startChromium(chromiumPath(t), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(alone.stop)
	return alone.watchTarget(t, alone.ctx, c)
}

// watchTarget returns the tab of ctx as one that is looked at. Addresses say localhost, because passkeys are made for names only.
func (p *chromium) watchTarget(t testing.TB, ctx context.Context, c *Core) *Browser {
	t.Helper()
	if err := p.Network.Relay(strings.TrimPrefix(c.Base, "http://")); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(ctx, Patience*15*time.Minute)
	t.Cleanup(stop)
	b := &Browser{T: t, Ctx: ctx, Base: strings.Replace(c.Base, "127.0.0.1", "localhost", 1)}
	b.Begin()
	return b
}

// Begin starts to watch a tab. The test fails at its end for every complaint.
func (b *Browser) Begin() {
	b.T.Helper()
	if err := chromedp.Listen(b.Ctx, b.watchPage); err != nil {
		b.T.Fatal(err)
	}
	if _, err := chromedp.Call(b.Ctx, network.Enable, network.EnableParams{}); err != nil {
		b.T.Fatal(err)
	}
	if _, err := chromedp.Call(b.Ctx, cdplog.Enable, cdp.Empty{}); err != nil {
		b.T.Fatal(err)
	}
	b.Do(chromedp.EmulateViewport(1440, 900))
	b.T.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, p := range b.problems {
			// A script is only told that its request failed.
			if b.gaveUp > 0 && strings.Contains(p, "Failed to fetch") {
				b.gaveUp--
				continue
			}
			b.T.Errorf("the browser complains: %s", p)
		}
	})
}

// watchPage notes complaints of the browser and requests to other origins.
func (b *Browser) watchPage(ev any) {
	switch ev := ev.(type) {
	case *runtime.EventExceptionThrown:
		b.reportProblem(ev.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		if ev.Type == runtime.ConsoleAPICalledTypeError || ev.Type == runtime.ConsoleAPICalledTypeWarning {
			var words []string
			for _, a := range ev.Args {
				words = append(words, string(a.Value)+a.Description)
			}
			b.reportProblem(strings.Join(words, " "))
		}
	case *cdplog.EventEntryAdded:
		if ev.Entry.Level == cdplog.EntryLevelError || ev.Entry.Level == cdplog.EntryLevelWarning {
			b.reportProblem(ev.Entry.Text + " " + ev.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		if u, err := url.Parse(ev.Request.URL); err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Scheme+"://"+u.Host != b.Base {
			b.reportProblem("a request to another origin: " + ev.Request.URL)
		}
	case *page.EventJavascriptDialogOpening:
		b.reportProblem("the browser's own dialog: " + ev.Message)
		go func() {
			_, _ = chromedp.Call(b.Ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true})
		}()
	}
}

func (b *Browser) reportProblem(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if strings.Contains(text, networkChanged) {
		b.gaveUp++
		return
	}
	for _, e := range b.expected {
		if strings.Contains(text, e) {
			return
		}
	}
	b.problems = append(b.problems, text)
}

// Expect lets an error of the console pass whose text holds part.
func (b *Browser) Expect(part string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expected = append(b.expected, part)
}

// BrowserLimit bounds each step in the browser. It is long, since the machine may be busy with other tests.
const BrowserLimit = 2 * time.Minute

// Do runs steps within BrowserLimit.
func (b *Browser) Do(steps ...chromedp.Action[chromedp.Void]) {
	b.T.Helper()
	ctx, cancel := context.WithTimeout(b.Ctx, BrowserLimit)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.T.Fatalf("%v, at %s", err, b.Where())
	}
}

// Where returns the address and the beginning of the text of the page that is open, for the messages of tests.
func (b *Browser) Where() string {
	ctx, cancel := context.WithTimeout(b.Ctx, Patience*5*time.Second)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`location.href + "\n" + document.body.innerText.slice(0, 2000)`))
	if err != nil {
		return err.Error()
	}
	return text
}

// networkChanged is what Chromium says of requests that it gives up because a network of the machine came or went: other
// tests make networks of containers meanwhile.
const networkChanged = "ERR_NETWORK_CHANGED"

// Open goes to a page.
func (b *Browser) Open(path string) {
	b.T.Helper()
	ctx, cancel := context.WithTimeout(b.Ctx, BrowserLimit)
	defer cancel()
	for {
		err := chromedp.Do(ctx, chromedp.Navigate(b.Base+path))
		if err == nil {
			b.opened = path
			return
		}
		// A page that is on its way, such as the answer to a form, is given up for this one.
		if !strings.Contains(err.Error(), networkChanged) && !strings.Contains(err.Error(), "net::ERR_ABORTED") {
			b.T.Fatalf("%v, at %s", err, b.Where())
		}
	}
}

// Press clicks a button or link by its selector, and waits for what follows, on a page that has loaded.
func (b *Browser) Press(selector, then string) {
	b.T.Helper()
	b.pressUntil(selector, then, "true")
}

// pressUntil clicks a button or link, and waits for what follows and for a condition, on a page that has loaded. It clicks again if
// Chromium gave up the request.
func (b *Browser) pressUntil(selector, then, condition string) {
	b.T.Helper()
	b.opened = ""
	click := chromedp.Click(chromedp.CSS(selector))
	given := b.givenUp()
	b.Do(click)
	// A page whose scripts have not run yet would take the next click without them.
	shown := fmt.Sprintf(`document.readyState === "complete" && %s && !!document.querySelector(%q)?.checkVisibility()`, condition, then)
	for deadline := time.Now().Add(BrowserLimit); ; time.Sleep(PollEvery) {
		if found, err := Evaluate[bool](b, shown); err == nil && found {
			return
		}
		if time.Now().After(deadline) {
			b.T.Fatalf("there is no %s after a click on %s, at %s", then, selector, b.Where())
		}
		if now := b.givenUp(); now > given {
			given = now
			b.Do(click)
		}
	}
}

// givenUp returns how many requests Chromium has given up.
func (b *Browser) givenUp() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.gaveUp
}

// Confirm opens the question of a button, types a name unless it is empty, says yes and waits for what follows.
func (b *Browser) Confirm(selector, name, then string) {
	b.T.Helper()
	b.Press(selector, "#ask[open]")
	if name != "" {
		b.Do(chromedp.SendKeys(chromedp.CSS("#ask [name=confirm_name]"), name))
	}
	b.Press("#ask form .btn.p", then)
}

// Shows waits until the page shows a text.
func (b *Browser) Shows(text string) {
	b.T.Helper()
	deadline := time.Now().Add(BrowserLimit)
	for {
		if found, err := Evaluate[bool](b, fmt.Sprintf(`document.body.innerText.includes(%q)`, text)); err == nil && found {
			return
		}
		if time.Now().After(deadline) {
			b.T.Fatalf("the page does not show %q, but is at %s", text, b.Where())
		}
		time.Sleep(PollEvery)
	}
}

// Evaluate returns the value of a script, which may be a promise.
func Evaluate[T any](b *Browser, script string) (T, error) {
	ctx, cancel := context.WithTimeout(b.Ctx, BrowserLimit)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
}

// Authenticator gives the browser a device that holds passkeys.
func (b *Browser) Authenticator(verifies bool) webauthn.AuthenticatorID {
	b.T.Helper()
	if _, err := chromedp.Call(b.Ctx, webauthn.Enable, webauthn.EnableParams{}); err != nil {
		b.T.Fatal(err)
	}
	res, err := chromedp.Call(b.Ctx, webauthn.AddVirtualAuthenticator,
		webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
			Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal, HasResidentKey: true,
			HasUserVerification: verifies, IsUserVerified: verifies, AutomaticPresenceSimulation: true,
		}})
	if err != nil {
		b.T.Fatal(err)
	}
	return res.AuthenticatorID
}

var setupAddress = regexp.MustCompile(`(/system/setup\?token=[A-Za-z0-9]+)`)

// SetupPath is the path of the set-up link that the core has printed.
func (c *Core) SetupPath() string {
	c.T.Helper()
	path := ""
	Eventually(c.T, StartWithin, "the core prints a set-up link", func() bool {
		// Each start makes another link.
		if found := setupAddress.FindAllString(c.Logs(), -1); len(found) > 0 {
			path = found[len(found)-1]
		}
		return path != ""
	})
	return path
}
