package notify

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/notify/telegram/telegramtest"
)

// TestNotifyDeadChannelDelaysNoOther has more browsers subscribed at a push service that answers nothing than there are
// sends at once.
func TestNotifyDeadChannelDelaysNoOther(t *testing.T) {
	t.Parallel()
	bin := dockertest.NewestCompose(t)
	o := outletsFor(t, "chat", "webhook", "webPush")
	a := kit.StartApp(t, bin, dockertest.Behaviour{Version: "1.0.0", Healthcheck: true})
	c := startNotify(t, o, bin.Path)
	st := c.StackNamed(t, a.Project).ID
	key := kit.Ask[struct {
		WebPush struct{ VAPIDPublicKey string }
	}](t, c, "/api/notifications").WebPush.VAPIDPublicKey
	for range 24 {
		o.subscribe(t, c, key)
	}
	o.push.Answer(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	for i := range 3 {
		began := time.Now()
		id := announceVersion(t, c, a, st, fmt.Sprintf("1.%d.0", i+1))
		var others []string
		kit.Eventually(t, kit.StartWithin, "the others deliver", func() bool {
			others = nil
			for _, m := range readHistory(t, c) {
				for _, d := range m.Deliveries {
					if m.ID == id && d.Channel != "webPush" && d.State == "delivered" {
						others = append(others, d.Channel)
					}
				}
			}
			return len(others) == 2
		})
		if took := time.Since(began); took > kit.Slower(8*time.Second) {
			t.Errorf("the others took %s", took)
		}
	}
	if n := len(o.push.Posts()); n == 0 {
		t.Error("nothing was pushed")
	}
}

// failing is a core with five channels, of which one after the other fails.
type failing struct {
	*outlets
	c     *kit.Core
	a     *kit.App
	bin   string
	stack string
}

// tell has a new version told and waits until all channels but some have delivered it.
func (f *failing) tell(t *testing.T, but map[string]string) told {
	t.Helper()
	return waitForStates(t, f.c, announceVersion(t, f.c, f.a, f.stack, "1.1."+f.version(t)), f.every("delivered", but))
}

func (f *failing) version(t *testing.T) string {
	t.Helper()
	return string(rune('0' + len(readHistory(t, f.c))))
}

func TestNotifyFailures(t *testing.T) {
	t.Parallel()
	bin := dockertest.NewestCompose(t)
	f := &failing{outlets: outletsFor(t, "chat", "email", "webhook", "webPush", "gotify"), bin: bin.Path}
	f.a = kit.StartApp(t, bin, dockertest.Behaviour{Version: "1.0.0", Healthcheck: true})
	f.c = startNotify(t, f.outlets, bin.Path)
	f.stack = f.c.StackNamed(t, f.a.Project).ID
	t.Run("photo", f.photo)
	t.Run("mail refused", f.mailRefused)
	t.Run("subscription gone", f.subscriptionGone)
	t.Run("private address", f.privateAddress)
	t.Run("too many requests", f.tooMany)
}

// photo: where the picture cannot be sent, a text stands for all.
func (f *failing) photo(t *testing.T) {
	f.bot.Fail("sendPhoto", telegramtest.PhotoBroken)
	defer f.bot.Heal()
	m := f.tell(t, nil)
	if d := m.to(t, "chat"); d.Attempts != 1 || d.Error != "" || !strings.Contains(strings.Join(d.Warnings, "\n"), "photo") {
		t.Errorf("the delivery is %+v", d)
	}
	got := f.bot.Messages()
	if len(got) != 1 || got[0].Method != "sendMessage" {
		t.Fatalf("the chat got %+v", got)
	}
	kit.Contains(t, got[0].Text, m.Title, f.a.Project+" / web")
	f.c.Logged("cannot send part of a notification")
	kit.Contains(t, f.c.Logs(), "outcome=delivered attempts=1 warnings=[\"photo")
}

// mailRefused: a server that refuses all recipients fails the mail alone; one that takes some of them has it delivered.
func (f *failing) mailRefused(t *testing.T) {
	setNotify(t, f.c, map[string]any{"email": map[string]any{"smtpUrl": f.smtpURL(f.mail.Refused)}})
	before := len(f.mail.Messages())
	d := f.tell(t, map[string]string{"email": "failed"}).to(t, "email")
	if !strings.Contains(d.Error, "550") || !strings.Contains(d.Error, "There is no such mailbox here") || d.Attempts != 1 {
		t.Errorf("the delivery is %+v", d)
	}
	if n := len(f.mail.Messages()) - before; n != 0 {
		t.Errorf("%d mails arrived", n)
	}
	setNotify(t, f.c, map[string]any{"email": map[string]any{"smtpUrl": f.smtpURL("a@patchbay.test," + f.mail.Refused)}})
	d = f.tell(t, nil).to(t, "email")
	if n := len(f.mail.Messages()) - before; n != 1 || !strings.Contains(strings.Join(d.Warnings, "\n"), "550") {
		t.Errorf("%d mails arrived, and the delivery is %+v", n, d)
	}
}

// subscriptionGone: what a push service says is over is forgotten.
func (f *failing) subscriptionGone(t *testing.T) {
	count := func() int {
		return len(kit.Ask[struct{ Subscriptions []struct{ ID string } }](t, f.c, "/api/web-push/subscriptions").Subscriptions)
	}
	key := kit.Ask[struct {
		WebPush struct{ VAPIDPublicKey string }
	}](t, f.c, "/api/notifications").WebPush.VAPIDPublicKey
	gone := f.sub
	f.subscribe(t, f.c, key)
	if count() != 2 {
		t.Fatalf("%d subscriptions", count())
	}
	gone.Expire(t)
	id := announceVersion(t, f.c, f.a, f.stack, "1.2.0")
	var all []delivery
	kit.Eventually(t, time.Minute, "both pushes end", func() bool {
		all = nil
		for _, m := range readHistory(t, f.c) {
			for _, d := range m.Deliveries {
				if m.ID == id && d.Channel == "webPush" && d.State != "waiting" && d.State != "sending" {
					all = append(all, d)
				}
			}
		}
		return len(all) == 2
	})
	if all[0].State == "delivered" {
		all[0], all[1] = all[1], all[0]
	}
	if all[0].State != "failed" || all[0].Error == "" || all[1].State != "delivered" {
		t.Errorf("the deliveries are %+v", all)
	}
	if count() != 1 || len(f.sub.Received(t)) != 1 {
		t.Errorf("%d subscriptions, %d messages at the one that is left", count(), len(f.sub.Received(t)))
	}
}

// privateAddress: a webhook reaches a private address only where the configuration names it.
func (f *failing) privateAddress(t *testing.T) {
	allowed := f.hcl(f.bin)
	without := strings.Replace(allowed, `allow_hosts = ["`+f.hook.Host+`"]`, "", 1)
	if without == allowed {
		t.Fatalf("the configuration allows nothing:\n%s", allowed)
	}
	f.c.Configure(without)
	f.c.Reload()
	before := len(listArrivals(f.hook))
	d := f.tell(t, map[string]string{"webhook": "failed"}).to(t, "webhook")
	if !strings.Contains(d.Error, "is not permitted") {
		t.Errorf("the error does not say what is wrong: %+v", d)
	}
	if n := len(listArrivals(f.hook)) - before; n != 0 {
		t.Errorf("%d posts came through", n)
	}
	// It can neither be set nor tried.
	port := f.hook.Host[strings.LastIndexByte(f.hook.Host, ':'):]
	for _, url := range []string{
		f.hook.URL + "/other", "http://localhost" + port, "http://127.0.0.1/", "http://localhost/", "http://10.1.2.3/",
		"http://169.254.169.254/", "http://[::1]/", "http://[::ffff:127.0.0.1]/",
	} {
		f.refusedAddress(t, url)
	}
	f.c.Configure(allowed)
	f.c.Reload()
	setNotify(t, f.c, map[string]any{"webhook": map[string]any{"url": f.hook.URL + "/hook"}})
	f.tell(t, nil)
	if n := len(listArrivals(f.hook)) - before; n != 1 {
		t.Errorf("%d posts came through once it is allowed", n)
	}
}

// refusedAddress sets an address that the webhook must not reach. What the channel cannot tell from the address alone, it
// tells when it sends.
func (f *failing) refusedAddress(t *testing.T, url string) {
	t.Helper()
	a := f.c.Send(t, kit.Request{Method: http.MethodPut, Path: "/api/notifications",
		Body: jsonOf(t, map[string]any{"webhook": map[string]any{"url": url}})})
	if a.Status == http.StatusOK {
		a = f.c.API(t, http.MethodPost, "/api/notifications/test", `{"channel":"webhook"}`, http.StatusOK)
		kit.Contains(t, a.Body, `"ok":false`, "address is not on the public internet")
		return
	}
	if p := kit.Decode[kit.Problem](t, a.Body); a.Status != http.StatusBadRequest || p.Field != "webhook.url" || !strings.Contains(p.Message, "not") {
		t.Errorf("%s: %d %s", url, a.Status, a.Body)
	}
}

// tooMany: the pause that the chat asks for is kept, and the notification is delivered after it.
func (f *failing) tooMany(t *testing.T) {
	f.bot.Fail("", telegramtest.Failure{Status: http.StatusTooManyRequests, Description: "Too Many Requests: retry after 2", RetryAfter: 2,
		Times: 1})
	asked := f.bot.Requests()
	id := announceVersion(t, f.c, f.a, f.stack, "1.3.0")
	kit.Eventually(t, kit.StartWithin, "the chat refuses", func() bool { return f.bot.Requests() > asked })
	refused := time.Now()
	kit.Eventually(t, kit.StartWithin, "the chat is asked again", func() bool { return f.bot.Requests() > asked+1 })
	if waited := time.Since(refused); waited < 2*time.Second-100*time.Millisecond {
		t.Errorf("it was asked again after %s", waited)
	}
	m := waitForStates(t, f.c, id, f.every("delivered", nil))
	if d := m.to(t, "chat"); d.Attempts != 2 {
		t.Errorf("the delivery is %+v", d)
	}
	if n := f.bot.Requests() - asked; n != 3 {
		t.Errorf("%d requests, want the refused one, a photo and a text", n)
	}
}
