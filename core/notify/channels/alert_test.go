package channels_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/notify/channels"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/store"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

const patience = 20 * time.Second

// host is a service that shows the settings.
type host struct{}

func (host) NotificationEvents() []channels.Event {
	return []channels.Event{{Name: "sold", Kind: "sold_out"}}
}

func (host) NotificationLocale() string { return "zh" }

func (host) PublicBaseURL(context.Context) string { return "" }

func (host) WriteTest(_ context.Context, _, text string) (*notify.Message, error) {
	return &notify.Message{Kind: "test", Title: sdk.Text{Plain: text}}, nil
}

// env is the settings of four channels, of which three play roles, and a sender that works.
type env struct {
	*testing.T
	manager   *channels.Manager
	sender    *notify.Sender
	notifiers map[string]*fake.Notifier
}

func newEnv(t *testing.T, cfg store.Config) *env {
	t.Helper()
	e := &env{T: t, notifiers: map[string]*fake.Notifier{
		"notify.bot": fake.NewNotifier(sdk.Descriptor{Role: sdk.RoleChat}), "notify.mail": fake.NewNotifier(sdk.Descriptor{Role: sdk.RoleEmail}),
		"notify.push": fake.NewNotifier(sdk.Descriptor{Role: sdk.RoleWebPush}), "notify.pager": fake.NewNotifier(sdk.Descriptor{}),
		"notify.chat": fake.NewNotifier(sdk.Descriptor{}),
	}}
	st := testkit.OpenStore(t, cfg, queue.Migrations(), notify.Migrations())
	ring, err := secret.NewKeyring(bytes.Repeat([]byte{5}, secret.KeySize))
	e.must(err)
	e.sender, err = notify.New(notify.Config{Store: st, Channel: func(ref string) (client.Notifier, error) { return e.notifiers[ref], nil }})
	e.must(err)
	e.manager, err = channels.New(channels.Config{Store: st, Keyring: ring, Sender: e.sender})
	e.must(err)
	e.manager.SetHost("shop", host{})
	e.list()
	q, err := queue.New(queue.Config{Store: st, Bus: event.NewBus(), Handlers: e.sender.Jobs(), Workers: 4, Poll: 20 * time.Millisecond})
	e.must(err)
	e.sender.Use(q)
	e.must(q.Start(context.Background()))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := q.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return e
}

// list has the settings show four of the channels.
func (e *env) list() {
	var listed []channels.Channel
	for _, ref := range []string{"notify.bot", "notify.mail", "notify.push", "notify.pager"} {
		listed = append(listed, channels.Channel{Ref: ref, Notifier: e.notifiers[ref]})
	}
	e.manager.SetChannels(listed, nil)
}

// absent is a channel whose plugin does not answer the settings.
type absent struct{ *fake.Notifier }

func (absent) Describe() (*sdk.Descriptor, error) { return nil, errors.New("the plugin is away") }

func (e *env) must(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
}

// alert sends an alert of another service to all channels, and returns where it went, by names of the settings.
func (e *env) alert(n int) (to []string) {
	e.Helper()
	e.must(e.sender.Send(e.Context(), notify.Alert{Service: "mall", Kind: "fire", Title: "Fire"},
		[]string{"notify.bot", "notify.mail", "notify.push", "notify.pager", "notify.chat"}))
	testkit.Eventually(e, patience, func() bool {
		sent, err := e.sender.History(context.Background(), "mall", "", 10)
		e.must(err)
		return len(sent) == n && !slices.ContainsFunc(sent[0].Deliveries, func(d notify.Delivery) bool { return !d.State.Final() })
	}, "the deliveries of the alert end")
	sent, err := e.sender.History(e.Context(), "mall", "", 1)
	e.must(err)
	for _, d := range sent[0].Deliveries {
		to = append(to, d.Channel+" as "+d.Name+": "+string(d.State))
	}
	slices.Sort(to)
	return to
}

func (e *env) want(got []string, want ...string) {
	e.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		e.Errorf("(-want +got)\n%s", diff)
	}
}

// TestAlertsGoAsTheSettingsSay has another service's alerts go through the same channels: with the recipients that people
// have set, and not to what they have switched off.
func TestAlertsGoAsTheSettingsSay(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		e := newEnv(t, cfg)
		ctx := t.Context()
		e.want(e.alert(1), "notify.bot as bot: delivered", "notify.chat as notify.chat: delivered", "notify.mail as mail: delivered",
			"notify.pager as pager: delivered", "notify.push as push: delivered")
		on, off, token, chat, smtp := true, false, "123:secret", "42", "smtp://u:p@mail.example/?to=a@example.org"
		_, err := e.manager.MakeVAPIDKeys(ctx)
		e.must(err)
		e.must(e.manager.Change(ctx, channels.NotificationChange{
			Chat: &channels.ChatChange{Enabled: &on, BotToken: &token, ChatID: &chat}, Email: &channels.EmailChange{Enabled: &off, SMTPURL: &smtp},
			WebPush:  &channels.PushChange{Enabled: &on},
			Channels: map[string]channels.OtherChange{"pager": {Enabled: &off}}, Events: channels.EventChange{"sold": &off, "unknown": &off},
		}))
		for _, browser := range []string{"one", "two"} {
			e.must(e.manager.Subscribe(ctx, channels.Subscription{Endpoint: "https://push.example/" + browser, Keys: channels.SubscriptionKeys{
				P256dh: "BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM", Auth: "tBHItJI5svbpez7KI4CCXg",
			}}, "browser"))
		}
		e.want(e.alert(2), "notify.bot as chat: delivered", "notify.chat as notify.chat: delivered", "notify.push as webPush: delivered",
			"notify.push as webPush: delivered")
		sent := e.notifiers["notify.bot"].Sent()
		if to := sent[len(sent)-1].Target; to.Secret.Reveal() != token || string(to.JSON) != `{"chatId":"42"}` {
			t.Errorf("the chat got %+v", to)
		}
		if sent := e.notifiers["notify.chat"].Sent(); sent[len(sent)-1].Target.Secret != "" {
			t.Error("a channel whose instance has the name of a role got that role's secret")
		}
		// A channel whose plugin is away keeps no alert from the others, and settings still apply.
		e.manager.SetChannels([]channels.Channel{{Ref: "notify.pager", Notifier: absent{e.notifiers["notify.pager"]}},
			{Ref: "notify.bot", Notifier: absent{e.notifiers["notify.bot"]}}, {Ref: "notify.mail", Notifier: e.notifiers["notify.mail"]}}, nil)
		e.want(e.alert(3), "notify.bot as chat: delivered", "notify.chat as notify.chat: delivered", "notify.push as push: delivered")
		e.list()
		// The push service forgets one browser.
		e.notifiers["notify.push"].Fail(sdk.Permanent(sdk.ReasonGone, "gone"))
		e.want(e.alert(4), "notify.bot as chat: delivered", "notify.chat as notify.chat: delivered", "notify.push as webPush: delivered",
			"notify.push as webPush: failed")
		if list, err := e.manager.Subscribers(ctx); err != nil || len(list) != 1 {
			t.Errorf("%+v, %v", list, err)
		}
		set, err := e.manager.Settings(ctx)
		if e.must(err); !cmp.Equal(set.Events, channels.EventSwitches{"sold": false}) || e.sender.Locale() != "zh" {
			t.Errorf("%+v in %s", set.Events, e.sender.Locale())
		}
	})
}
