package containers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/notify/channels"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/services/containers/webhook"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

// away makes a channel fail for a passing reason, many times.
func (e *env) away(ref string) {
	busy := make([]error, 1000)
	for i := range busy {
		busy[i] = sdk.Temporary(0, "BUSY", "busy")
	}
	e.notifiers[ref].Fail(busy...)
}

// deliveries are those of the newest notification, by channel.
func (e *env) deliveries() map[string]channels.MessageDelivery {
	e.Helper()
	list, err := e.svc.Channels().History(context.Background(), "", 1)
	e.must(err)
	out := map[string]channels.MessageDelivery{}
	for _, m := range list {
		for _, d := range m.Deliveries {
			out[d.Channel] = d
		}
	}
	return out
}

// TestSwitchedOffMeanwhile: what waits for a channel is not sent when that is switched off.
func TestSwitchedOffMeanwhile(t *testing.T) {
	forEach(t, func(t *testing.T, e *env) {
		e.switched()
		e.blog()
		e.away("notify.mail")
		e.updated("blog", "web")
		testkit.Eventually(t, patience, func() bool { return len(e.notifiers["notify.mail"].Sent()) > 1 }, "it is tried")
		off := false
		e.must(e.svc.Channels().Change(context.Background(), channels.NotificationChange{Email: &channels.EmailChange{Enabled: &off}}))
		e.told(1)
		if d := e.deliveries()["email"]; d.State != "failed" || !strings.Contains(d.Error, "switched off") {
			t.Errorf("%+v", d)
		}
		on := true
		e.must(e.svc.Channels().Change(context.Background(), channels.NotificationChange{Email: &channels.EmailChange{Enabled: &on}}))
		e.publish(webRepo+":1", 3)
		e.checked()
		e.updated("blog", "web")
		e.announced()
		e.must(e.svc.Channels().Change(context.Background(),
			channels.NotificationChange{Events: channels.EventChange{"update": &off}, Email: &channels.EmailChange{Enabled: &on}}))
		e.told(2)
		if d := e.deliveries()["email"]; d.State != "failed" || !strings.Contains(d.Error, "the event was switched off") {
			t.Errorf("%+v", d)
		}
		e.must(e.svc.Channels().Change(context.Background(), channels.NotificationChange{Email: &channels.EmailChange{Enabled: &off}}))
		// A test goes to a channel that is switched off all the same.
		got, err := e.svc.Channels().SendTest(context.Background(), "email", "")
		if e.must(err); len(got) != 1 || got["email"].Error == "the channel was switched off before it was sent" {
			t.Errorf("%+v", got)
		}
	}, withChannels)
}

// TestOldNewsForASlowChannel: a channel that was away is not told of a version that is no candidate any more, although
// others were.
func TestOldNewsForASlowChannel(t *testing.T) {
	forEach(t, func(t *testing.T, e *env) {
		e.switched()
		e.inferring()
		e.project("blog", 1, map[string]string{"web": webRepo + ":1"})
		e.publish(webRepo+":1", 2)
		e.discovered()
		e.away("notify.mail")
		e.scheduled()
		web := e.serviceOf("blog", "web")
		testkit.Eventually(t, patience, func() bool { return fmt.Sprint(e.notices(web.ID)) == "[sent]" }, "others are told")
		if job, _ := e.updated("blog", "web"); job.Status != "success" {
			t.Fatalf("%+v", job)
		}
		testkit.Eventually(t, patience, func() bool {
			list, err := e.svc.Channels().History(context.Background(), "", 10)
			e.must(err)
			old := list[len(list)-1]
			return slices.ContainsFunc(old.Deliveries,
				func(d channels.MessageDelivery) bool { return d.Channel == "email" && d.State == "superseded" })
		}, "the mail of it is not sent")
	}, withChannels)
}

// otherKey is a keyring that cannot open what others have sealed.
func otherKey(t *testing.T) *secret.Keyring {
	t.Helper()
	ring, err := secret.NewKeyring([]byte(strings.Repeat("k", 32)))
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

// TestKeyIsGone: secrets that cannot be opened are shown as being there, and entered again; whoever needs one says so.
func TestKeyIsGone(t *testing.T) {
	e := newEnv(t, withChannels)
	e.switched()
	e.svc.cfg.Channels = e.newManager(e.svc.cfg.Sender, otherKey(t))
	e.svc.cfg.Channels.SetHost(ServiceName, e.svc.Notices)
	e.svc.cfg.Channels.SetChannels(e.notifiers.listed(), nil)
	ctx := context.Background()
	got, err := e.svc.Channels().Settings(ctx)
	e.must(err)
	if got.Email.SMTPURL != webhook.Masked || !got.Email.SMTPURLConfigured || !got.Chat.BotTokenConfigured ||
		got.Webhook.URL != webhook.Masked {
		t.Errorf("%+v", got)
	}
	for _, role := range sdk.Roles() {
		all, err := e.svc.Channels().SendTest(ctx, role, "")
		text := fmt.Sprint(err, all[role].Error)
		if !strings.Contains(text, "master key") || !strings.Contains(text, "again") {
			t.Errorf("%s: %s", role, text)
		}
	}
	smtp, url, token := "smtp://mail.example/?to=a@example.org", "https://hooks.example/y", "123456:"+strings.Repeat("u", 35)
	e.must(e.svc.Channels().Change(ctx, channels.NotificationChange{Email: &channels.EmailChange{SMTPURL: &smtp},
		Webhook: &channels.WebhookChange{URL: &url}, Chat: &channels.ChatChange{BotToken: &token}}))
	for _, role := range []string{sdk.RoleChat, sdk.RoleEmail, sdk.RoleWebhook} {
		if all, err := e.svc.Channels().SendTest(ctx, role, ""); err != nil || !all[role].OK {
			t.Errorf("%s: %+v, %v", role, all, err)
		}
	}
	_, err = e.svc.Channels().MakeVAPIDKeys(ctx)
	e.must(err)
}

// TestOneBrowserIsGone: a channel with several recipients is as good as its best one.
func TestOneBrowserIsGone(t *testing.T) {
	forEach(t, func(t *testing.T, e *env) {
		e.switched()
		e.must(e.svc.Channels().Subscribe(context.Background(), browser(2), "another"))
		push := e.notifiers["notify.push"]
		push.Fail(nil, sdk.Permanent(sdk.ReasonGone, "gone"))
		got, err := e.svc.Channels().SendTest(context.Background(), sdk.RoleWebPush, "")
		if e.must(err); !got[sdk.RoleWebPush].OK {
			t.Fatalf("%+v", got)
		}
		last, err := e.svc.Channels().LastDeliveries(context.Background())
		if e.must(err); last[sdk.RoleWebPush].State != string(notify.Delivered) {
			t.Errorf("%+v", last[sdk.RoleWebPush])
		}
		if c := deployCheck(e, e.svc, "feature.notifications.web_push"); c.Status != "pass" {
			t.Errorf("%+v", c)
		}
		if list, err := e.svc.Channels().Subscribers(context.Background()); err != nil || len(list) != 1 {
			t.Errorf("%+v, %v", list, err)
		}
	}, withChannels)
}
