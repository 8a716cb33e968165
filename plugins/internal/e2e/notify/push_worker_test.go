package notify

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/serviceworker"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// worker is the service worker of a core, in a browser.
type worker struct {
	b            *kit.Browser
	registration serviceworker.RegistrationID
	// ctx is the worker's own side.
	ctx context.Context
}

// permitNotifications answers the browser's question about notifications for good.
func permitNotifications(b *kit.Browser, setting cdpbrowser.PermissionSetting) {
	b.T.Helper()
	_, err := chromedp.CallBrowser(b.Ctx, cdpbrowser.SetPermission, cdpbrowser.SetPermissionParams{
		Permission: &cdpbrowser.PermissionDescriptor{Name: "notifications"}, Setting: setting, Origin: b.Base,
	})
	if err != nil {
		b.T.Fatal(err)
	}
}

// startWorker registers the service worker from a page, as the button does.
func startWorker(b *kit.Browser) *worker {
	b.T.Helper()
	return startWorkerAt(b, "/sw.js?subscriptions=/api/web-push/subscriptions")
}

func startWorkerAt(b *kit.Browser, script string) *worker {
	b.T.Helper()
	var mu sync.Mutex
	var versions []*serviceworker.Version
	err := chromedp.Listen(b.Ctx, func(ev any) {
		if ev, ok := ev.(*serviceworker.EventWorkerVersionUpdated); ok {
			mu.Lock()
			versions = append(versions, ev.Versions...)
			mu.Unlock()
		}
	})
	if err != nil {
		b.T.Fatal(err)
	}
	if _, err := chromedp.Call(b.Ctx, serviceworker.Enable, cdp.Empty{}); err != nil {
		b.T.Fatal(err)
	}
	script = `navigator.serviceWorker.register("` + script + `", {scope: "/"}).then(() => navigator.serviceWorker.ready).then((r) => r.scope)`
	if scope, err := kit.Evaluate[string](b, script); err != nil || scope != b.Base+"/" {
		b.T.Fatalf("the worker is registered for %q: %v", scope, err)
	}
	w := &worker{b: b}
	var id target.ID
	kit.Eventually(b.T, 20*time.Second, "the service worker runs", func() bool {
		mu.Lock()
		defer mu.Unlock()
		for _, v := range versions {
			if v.Status == serviceworker.VersionStatusActivated && v.TargetID != "" {
				w.registration, id = v.RegistrationID, v.TargetID
			}
		}
		return id != ""
	})
	ctx, stop := chromedp.NewContext(b.Ctx, chromedp.WithTargetID(id))
	b.T.Cleanup(stop)
	w.ctx = ctx
	// The first call decides how long the connection to the worker lasts.
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[string](`self.registration.scope`)); err != nil {
		b.T.Fatal(err)
	}
	return w
}

// deliver hands the worker a message, as the push service does.
func (w *worker) deliver(data string) {
	w.b.T.Helper()
	_, err := chromedp.Call(w.b.Ctx, serviceworker.DeliverPushMessage,
		serviceworker.DeliverPushMessageParams{Origin: w.b.Base, RegistrationID: w.registration, Data: data})
	if err != nil {
		w.b.T.Fatal(err)
	}
}

// shows delivers a message and waits until what is shown is as it should be. Whoever asks the browser for what is shown while
// that is being put up may make it forget it: so the worker tells first that it has done its part, and what is lost all the
// same is delivered again.
func (w *worker) shows(data, what string, right func([]shownNotification) bool) {
	w.b.T.Helper()
	for range 3 {
		before := w.done()
		w.deliver(data)
		kit.Eventually(w.b.T, 20*time.Second, "the worker has handled: "+what, func() bool { return w.done() > before })
		for range 10 {
			time.Sleep(200 * time.Millisecond)
			if right(w.shown()) {
				return
			}
		}
	}
	w.b.T.Fatalf("%s: %+v are shown", what, w.shown())
}

func alone(all []shownNotification) bool { return len(all) == 1 }

// done is how often the worker has shown something. The first call begins to count.
func (w *worker) done() int {
	w.b.T.Helper()
	n, err := chromedp.Run(w.ctx, chromedp.Evaluate[int](`(() => {
		if (self.patched === undefined) {
			self.patched = 0;
			const show = self.registration.showNotification.bind(self.registration);
			self.registration.showNotification = async (...all) => { await show(...all); self.patched++; };
		}
		return self.patched;
	})()`))
	if err != nil {
		w.b.T.Fatal(err)
	}
	return n
}

// shownNotification is what stands on the screen.
type shownNotification struct{ Title, Body, Tag, URL, Icon, Badge string }

func (w *worker) shown() []shownNotification {
	w.b.T.Helper()
	got, err := kit.Evaluate[[]shownNotification](w.b, `navigator.serviceWorker.ready.then((r) => r.getNotifications()).then((all) => all.map(
		(n) => ({Title: n.title, Body: n.body, Tag: n.tag, URL: n.data.url, Icon: n.icon, Badge: n.badge})))`)
	if err != nil {
		w.b.T.Fatal(err)
	}
	return got
}

func (w *worker) clear() {
	w.b.T.Helper()
	if _, err := kit.Evaluate[bool](w.b, `navigator.serviceWorker.ready.then((r) => r.getNotifications()).then((all) => { all.forEach((n) => n.close()); return true })`); err != nil {
		w.b.T.Fatal(err)
	}
	kit.Eventually(w.b.T, 10*time.Second, "no notification is left", func() bool { return len(w.shown()) == 0 })
}

// click does in the worker what a click on the only notification does. Windows are counted in place of being opened,
// because a click that nobody made opens none.
func (w *worker) click() (did []string) {
	w.b.T.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, kit.BrowserLimit)
	defer cancel()
	did, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](`(async () => {
		const did = [];
		self.clients.openWindow = async (url) => { did.push("opened " + url); };
		WindowClient.prototype.focus = async function () { did.push("focused " + this.url); };
		const [notification] = await self.registration.getNotifications();
		const event = new NotificationEvent("notificationclick", { notification });
		let work;
		event.waitUntil = (p) => { work = p; };
		self.dispatchEvent(event);
		await work;
		did.push((await self.registration.getNotifications()).length + " left");
		return did;
	})()`, chromedp.EvalAwaitPromise))
	if err != nil {
		w.b.T.Fatal(err)
	}
	return did
}

// TestPushWorker feeds a real browser's service worker with what the channel sends.
func TestPushWorker(t *testing.T) {
	t.Parallel()
	c := kit.LocalCore(t, kit.LocalHCL)
	c.Start()
	t.Cleanup(c.Stop)
	b := kit.BrowseAlone(t, c)
	permitNotifications(b, cdpbrowser.PermissionSettingGranted)
	b.Open("/system/sign-in")
	w := startWorker(b)
	home := b.Base + "/"

	for _, tt := range []struct {
		name, data string
		want       shownNotification
	}{
		{"whole", `{"id":"n-1","title":"网关","body":"1.2 → 1.3","url":"/services/a/b","kind":"new_version"}`,
			shownNotification{"网关", "1.2 → 1.3", "n-1", home + "services/a/b", "", ""}},
		{"without id", `{"title":"T","body":"B","url":"https://example.com/x","kind":"k","sentAt":"2026-01-01T00:00:00Z"}`,
			shownNotification{"T", "B", "2026-01-01T00:00:00Z k", "https://example.com/x", "", ""}},
		{"script", `{"id":"n","title":"T","url":"javascript:alert(1)"}`, shownNotification{"T", "", "n", home, "", ""}},
		{"other site", `{"id":"n","title":"T","url":"http://example.com/"}`, shownNotification{"T", "", "n", home, "", ""}},
		{"odd types", `{"id":7,"title":{"a":1},"body":[1],"url":5}`, shownNotification{"Patchbay", "There is news.", "", home, "", ""}},
		{"array", `[1]`, shownNotification{"Patchbay", "There is news.", "", home, "", ""}},
		{"null", `null`, shownNotification{"Patchbay", "There is news.", "", home, "", ""}},
		{"no JSON", `hello`, shownNotification{"Patchbay", "There is news.", "", home, "", ""}},
		{"nothing", ``, shownNotification{"Patchbay", "There is news.", "", home, "", ""}},
	} {
		w.shows(tt.data, tt.name, alone)
		got := w.shown()[0]
		if !strings.HasPrefix(got.Icon, home+"assets/icon-192.") || !strings.HasPrefix(got.Badge, home+"assets/badge-96.") {
			t.Errorf("%s: pictures %q, %q", tt.name, got.Icon, got.Badge)
		}
		got.Icon, got.Badge = "", ""
		if got != tt.want {
			t.Errorf("%s: %+v", tt.name, got)
		}
		w.clear()
	}

	// A repetition replaces, another notification does not.
	for _, body := range []string{"first", "second"} {
		w.shows(fmt.Sprintf(`{"id":"n-1","title":"T","body":%q,"url":"/queue/1"}`, body), "the notification says "+body,
			func(got []shownNotification) bool { return len(got) == 1 && got[0].Body == body })
	}
	w.shows(`{"id":"n-2","title":"T","body":"third","url":"/queue/1"}`, "both notifications",
		func(got []shownNotification) bool { return len(got) == 2 })
	w.clear()

	w.shows(`{"id":"n-3","title":"T","url":"/services/a/b"}`, "before a click", alone)
	if got := w.click(); len(got) != 2 || got[0] != "opened "+home+"services/a/b" || got[1] != "0 left" {
		t.Errorf("a click: %q", got)
	}
	w.shows(`{"id":"n-4","title":"T","url":"/system/sign-in"}`, "before a click", alone)
	if got := w.click(); len(got) != 2 || got[0] != "focused "+home+"system/sign-in" {
		t.Errorf("a click where the page is open: %q", got)
	}
}
