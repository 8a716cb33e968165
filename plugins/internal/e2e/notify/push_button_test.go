package notify

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// pushPage puts the button and its script into a page, and stands in for the push service and for the
// API, which both note what they are asked.
const pushPage = `document.addEventListener("readystatechange", () => {
	if (document.readyState !== "interactive") return;
	document.querySelector("main").insertAdjacentHTML("beforeend", '<button data-push data-push-key="%s" data-push-url="/api/web-push/subscriptions" ' +
		'data-push-worker="/sw.js" data-text-on="It is on." data-text-off="It is off." data-text-blocked="It is blocked." ' +
		'data-text-unsupported="It cannot be." data-text-failed="It failed.">Notifications</button><span data-push-state></span>');
	window.asked = [];
	window.answer = %d;
	let sub = null;
	PushManager.prototype.subscribe = async (o) => {
		sub = { endpoint: "https://push.example.com/1", options: { applicationServerKey: o.applicationServerKey.buffer },
			toJSON: () => ({ endpoint: sub.endpoint, keys: { p256dh: "p", auth: "a" } }), unsubscribe: async () => { asked.push("unsubscribe"); sub = null; return true; } };
		asked.push("subscribe " + o.userVisibleOnly + " " + o.applicationServerKey.join());
		return sub;
	};
	PushManager.prototype.getSubscription = async () => sub;
	window.fetch = async (url, o) => { asked.push(o.method + " " + url + " " + o.body); return new Response(null, { status: answer }); };
	%s
});`

// pushButton opens a page with the button.
func pushButton(t *testing.T, c *kit.Core, permission cdpbrowser.PermissionSetting, key string, answer int) *kit.Browser {
	t.Helper()
	b := kit.BrowseAlone(t, c)
	permitNotifications(b, permission)
	script, err := os.ReadFile(filepath.Join(kit.Root(), "core", "console", "ui", "static", "push.js"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(b.Ctx, page.AddScriptToEvaluateOnNewDocument,
		page.AddScriptToEvaluateOnNewDocumentParams{Source: fmt.Sprintf(pushPage, key, answer, script)}); err != nil {
		t.Fatal(err)
	}
	b.Open("/system/sign-in")
	return b
}

// checkButton waits until the button says a text, and checks how it looks.
func checkButton(b *kit.Browser, text, pressed string, disabled bool) {
	b.T.Helper()
	want := fmt.Sprintf("%s|%s|%t|polite", text, pressed, disabled)
	got := ""
	kit.Eventually(b.T, 20*time.Second, "the button says "+text, func() bool {
		got, _ = kit.Evaluate[string](b, `(() => { const b = document.querySelector("[data-push]"), s = document.querySelector("[data-push-state]");
			return [s.textContent, b.getAttribute("aria-pressed"), b.disabled, s.getAttribute("aria-live")].join("|") })()`)
		return got == want
	})
}

func listAsked(b *kit.Browser) []string {
	b.T.Helper()
	got, err := kit.Evaluate[[]string](b, `asked.splice(0)`)
	if err != nil {
		b.T.Fatal(err)
	}
	return got
}

func TestPushButton(t *testing.T) {
	t.Parallel()
	c := kit.LocalCore(t, kit.LocalHCL)
	c.Start()
	t.Cleanup(c.Stop)
	const body = ` /api/web-push/subscriptions {"endpoint":"https://push.example.com/1","keys":{"p256dh":"p","auth":"a"}}`
	press := func(b *kit.Browser) { b.Do(chromedp.Click(chromedp.CSS("[data-push]"))) }
	t.Run("on and off", func(t *testing.T) {
		b := pushButton(t, c, cdpbrowser.PermissionSettingGranted, "BAEC-_8", 204)
		checkButton(b, "It is off.", "false", false)
		press(b)
		checkButton(b, "It is on.", "true", false)
		if got := listAsked(b); !slices.Equal(got, []string{"subscribe true 4,1,2,251,255", "POST" + body}) {
			t.Errorf("asked %q", got)
		}
		script, err := kit.Evaluate[string](b, `navigator.serviceWorker.getRegistration("/").then((r) => r.active.scriptURL)`)
		if err != nil || script != b.Base+"/sw.js?subscriptions=%2Fapi%2Fweb-push%2Fsubscriptions" {
			t.Errorf("the worker is %q, %v", script, err)
		}
		press(b)
		checkButton(b, "It is off.", "false", false)
		if got := listAsked(b); !slices.Equal(got, []string{"DELETE" + body, "unsubscribe"}) {
			t.Errorf("asked %q", got)
		}
	})
	t.Run("refused", func(t *testing.T) {
		b := pushButton(t, c, cdpbrowser.PermissionSettingGranted, "BAEC-_8", 400)
		checkButton(b, "It is off.", "false", false)
		press(b)
		checkButton(b, "It failed.", "false", false)
		if got := listAsked(b); len(got) != 3 || got[2] != "unsubscribe" {
			t.Errorf("asked %q", got)
		}
	})
	t.Run("blocked", func(t *testing.T) {
		b := pushButton(t, c, cdpbrowser.PermissionSettingDenied, "BAEC-_8", 204)
		checkButton(b, "It is blocked.", "false", true)
	})
	t.Run("no key", func(t *testing.T) {
		b := pushButton(t, c, cdpbrowser.PermissionSettingGranted, "", 204)
		checkButton(b, "It cannot be.", "false", true)
	})
}

// renewed tells what the worker asks when the push service has replaced a subscription.
func (w *worker) renewed() []string {
	w.b.T.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, kit.BrowserLimit)
	defer cancel()
	did, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](`(async () => {
		const did = [];
		const sub = (name) => ({ endpoint: "https://push.example.com/" + name, options: { applicationServerKey: name }, toJSON: () => ({ keys: { auth: name } }) });
		self.fetch = async (url, o) => { did.push(o.method + " " + url + " " + o.body); return new Response(null, { status: 204 }); };
		PushManager.prototype.subscribe = async (o) => { did.push("subscribe with " + o.applicationServerKey); return sub("new"); };
		for (const newSubscription of [null, sub("given")]) {
			const event = new Event("pushsubscriptionchange");
			let work;
			Object.assign(event, { oldSubscription: sub("old"), newSubscription, waitUntil: (p) => { work = p; } });
			self.dispatchEvent(event);
			await work;
		}
		return did;
	})()`, chromedp.EvalAwaitPromise))
	if err != nil {
		w.b.T.Fatal(err)
	}
	return did
}

func TestPushWorkerRenewsASubscription(t *testing.T) {
	t.Parallel()
	c := kit.LocalCore(t, kit.LocalHCL)
	c.Start()
	t.Cleanup(c.Stop)
	b := kit.BrowseAlone(t, c)
	b.Open("/system/sign-in")
	at := " " + b.Base + `/api/web-push/subscriptions {"endpoint":"https://push.example.com/`
	want := []string{
		"subscribe with old", "POST" + at + `new","keys":{"auth":"new"}}`, "DELETE" + at + `old","keys":{"auth":"old"}}`,
		"POST" + at + `given","keys":{"auth":"given"}}`, "DELETE" + at + `old","keys":{"auth":"old"}}`,
	}
	if got := startWorker(b).renewed(); !slices.Equal(got, want) {
		t.Errorf("asked %q", got)
	}
}

// TestPushWorkerWithoutAddress: the worker knows no service. One that was registered without an address asks nobody.
func TestPushWorkerWithoutAddress(t *testing.T) {
	t.Parallel()
	c := kit.LocalCore(t, kit.LocalHCL)
	c.Start()
	t.Cleanup(c.Stop)
	b := kit.BrowseAlone(t, c)
	b.Open("/system/sign-in")
	if got := startWorkerAt(b, "/sw.js").renewed(); len(got) > 0 {
		t.Errorf("asked %q", got)
	}
}
