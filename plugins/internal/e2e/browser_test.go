package e2e

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

// browser is one tab of a real browser, which notes everything that must not happen in a page of the console.
type browser struct {
	t    testing.TB
	ctx  context.Context
	base string

	// opened is the address that open went to, "" since press.
	opened string

	mu sync.Mutex
	// expected are parts of complaints that the test provokes.
	expected []string
	problems []string
	// gaveUp counts the requests that Chromium gave up because of a network that came or went.
	gaveUp int
}

// browse opens a private window on a core.
func browse(t testing.TB, c *core) *browser {
	t.Helper()
	path := shellPath(t)
	shared.Do(func() { shared.chromium, shared.err = startChromium(path, filepath.Join(scratch, "chromium")) })
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	ctx, stop := chromedp.NewContext(shared.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(stop)
	return shared.watch(t, ctx, c)
}

// browseAlone opens a browser of the test's own on a core: permissions and service workers are not for private windows.
func browseAlone(t testing.TB, c *core) *browser {
	t.Helper()
	alone, err := startChromium(chromiumPath(t), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(alone.stop)
	return alone.watch(t, alone.ctx, c)
}

// watch returns the tab of ctx as one that is looked at. Addresses say localhost, because passkeys are made for names only.
func (p *chromium) watch(t testing.TB, ctx context.Context, c *core) *browser {
	t.Helper()
	if err := p.network.relay(strings.TrimPrefix(c.base, "http://")); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(ctx, patience*15*time.Minute)
	t.Cleanup(stop)
	b := &browser{t: t, ctx: ctx, base: strings.Replace(c.base, "127.0.0.1", "localhost", 1)}
	b.begin()
	return b
}

// begin starts to watch a tab. The test fails at its end for every complaint.
func (b *browser) begin() {
	b.t.Helper()
	if err := chromedp.Listen(b.ctx, b.watch); err != nil {
		b.t.Fatal(err)
	}
	if _, err := chromedp.Call(b.ctx, network.Enable, network.EnableParams{}); err != nil {
		b.t.Fatal(err)
	}
	if _, err := chromedp.Call(b.ctx, cdplog.Enable, cdp.Empty{}); err != nil {
		b.t.Fatal(err)
	}
	b.do(chromedp.EmulateViewport(1440, 900))
	b.t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, p := range b.problems {
			// A script is only told that its request failed.
			if b.gaveUp > 0 && strings.Contains(p, "Failed to fetch") {
				b.gaveUp--
				continue
			}
			b.t.Errorf("the browser complains: %s", p)
		}
	})
}

// watch notes complaints of the browser and requests to other origins.
func (b *browser) watch(ev any) {
	switch ev := ev.(type) {
	case *runtime.EventExceptionThrown:
		b.complain(ev.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		if ev.Type == runtime.ConsoleAPICalledTypeError || ev.Type == runtime.ConsoleAPICalledTypeWarning {
			var words []string
			for _, a := range ev.Args {
				words = append(words, string(a.Value)+a.Description)
			}
			b.complain(strings.Join(words, " "))
		}
	case *cdplog.EventEntryAdded:
		if ev.Entry.Level == cdplog.EntryLevelError || ev.Entry.Level == cdplog.EntryLevelWarning {
			b.complain(ev.Entry.Text + " " + ev.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		if u, err := url.Parse(ev.Request.URL); err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Scheme+"://"+u.Host != b.base {
			b.complain("a request to another origin: " + ev.Request.URL)
		}
	case *page.EventJavascriptDialogOpening:
		b.complain("the browser's own dialog: " + ev.Message)
		go func() {
			_, _ = chromedp.Call(b.ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true})
		}()
	}
}

func (b *browser) complain(text string) {
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

func (b *browser) expect(part string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expected = append(b.expected, part)
}

// browserLimit bounds each step in the browser. It is long, since the machine may be busy with other tests.
const browserLimit = 2 * time.Minute

// do runs steps within browserLimit.
func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, browserLimit)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatalf("%v, at %s", err, b.where())
	}
}

func (b *browser) where() string {
	ctx, cancel := context.WithTimeout(b.ctx, patience*5*time.Second)
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

// open goes to a page.
func (b *browser) open(path string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, browserLimit)
	defer cancel()
	for {
		err := chromedp.Do(ctx, chromedp.Navigate(b.base+path))
		if err == nil {
			b.opened = path
			return
		}
		// A page that is on its way, such as the answer to a form, is given up for this one.
		if !strings.Contains(err.Error(), networkChanged) && !strings.Contains(err.Error(), "net::ERR_ABORTED") {
			b.t.Fatalf("%v, at %s", err, b.where())
		}
	}
}

// press clicks a button or link by its selector, and waits for what follows, on a page that has loaded.
func (b *browser) press(selector, then string) {
	b.t.Helper()
	b.pressUntil(selector, then, "true")
}

// pressUntil clicks a button or link, and waits for what follows and for a condition, on a page that has loaded. It clicks again if
// Chromium gave up the request.
func (b *browser) pressUntil(selector, then, condition string) {
	b.t.Helper()
	b.opened = ""
	click := chromedp.Click(chromedp.CSS(selector))
	given := b.givenUp()
	b.do(click)
	// A page whose scripts have not run yet would take the next click without them.
	shown := fmt.Sprintf(`document.readyState === "complete" && %s && !!document.querySelector(%q)?.checkVisibility()`, condition, then)
	for deadline := time.Now().Add(browserLimit); ; time.Sleep(pollEvery) {
		if found, err := evaluate[bool](b, shown); err == nil && found {
			return
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("there is no %s after a click on %s, at %s", then, selector, b.where())
		}
		if now := b.givenUp(); now > given {
			given = now
			b.do(click)
		}
	}
}

// givenUp returns how many requests Chromium has given up.
func (b *browser) givenUp() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.gaveUp
}

// confirm opens the question of a button, types a name unless it is empty, says yes and waits for what follows.
func (b *browser) confirm(selector, name, then string) {
	b.t.Helper()
	b.press(selector, "#ask[open]")
	if name != "" {
		b.do(chromedp.SendKeys(chromedp.CSS("#ask [name=confirm_name]"), name))
	}
	b.press("#ask form .btn.p", then)
}

// shows waits until the page shows a text.
func (b *browser) shows(text string) {
	b.t.Helper()
	deadline := time.Now().Add(browserLimit)
	for {
		if found, err := evaluate[bool](b, fmt.Sprintf(`document.body.innerText.includes(%q)`, text)); err == nil && found {
			return
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("the page does not show %q, but is at %s", text, b.where())
		}
		time.Sleep(pollEvery)
	}
}

func evaluate[T any](b *browser, script string) (T, error) {
	ctx, cancel := context.WithTimeout(b.ctx, browserLimit)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
}

// authenticator gives the browser a device that holds passkeys.
func (b *browser) authenticator(verifies bool) webauthn.AuthenticatorID {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, webauthn.Enable, webauthn.EnableParams{}); err != nil {
		b.t.Fatal(err)
	}
	res, err := chromedp.Call(b.ctx, webauthn.AddVirtualAuthenticator,
		webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
			Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal, HasResidentKey: true,
			HasUserVerification: verifies, IsUserVerified: verifies, AutomaticPresenceSimulation: true,
		}})
	if err != nil {
		b.t.Fatal(err)
	}
	return res.AuthenticatorID
}

var setupAddress = regexp.MustCompile(`(/system/setup\?token=[A-Za-z0-9]+)`)

// setupPath is the path of the set-up link that the core has printed.
func (c *core) setupPath() string {
	c.t.Helper()
	path := ""
	eventually(c.t, startWithin, "the core prints a set-up link", func() bool {
		// Each start makes another link.
		if found := setupAddress.FindAllString(c.logs(), -1); len(found) > 0 {
			path = found[len(found)-1]
		}
		return path != ""
	})
	return path
}
