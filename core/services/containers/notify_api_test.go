package containers

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/notify/channels"
	"github.com/patchbay-dev/patchbay/core/services/containers/news"
	"github.com/patchbay-dev/patchbay/core/services/containers/webhook"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// The secrets that tests plant.
const (
	plantedToken   = "123456:planted-token-aaaaaaaaaaaaaaaaaaaaaaa"
	plantedSMTP    = "smtp://ops:planted%20password@mail.example:587/?to=a@example.org"
	plantedSigning = "whsec_cGxhbnRlZC1zaWduaW5nLXNlY3JldA=="
)

// TestNotificationEndpoints goes through the endpoints of notifications.
func TestNotificationEndpoints(t *testing.T) {
	forEach(t, func(_ *testing.T, e *env) {
		c := newContract(e)
		c.notifyDefaults()
		c.notifyChanges()
		c.notifySecrets()
		c.subscriptions()
		c.notifyTests()
		c.schemasServed()
	}, withChannels)
}

func (c *contract) notifyDefaults() {
	c.Helper()
	g := c.call(200, "GET", "/api/notifications", "")
	for _, want := range []string{
		`"events":{"ghcrWebhookAnomaly":true,"newVersion":true,"update":true}`, `"botTokenConfigured":false`, `"locale":"zh"`,
		`"pager":{"enabled":true,"available":true,"instance":"notify.pager","readOnly":[]}`,
	} {
		if !strings.Contains(g.body, want) {
			c.Errorf("%s lacks %s", g.body, want)
		}
	}
}

func (c *contract) notifyChanges() {
	c.Helper()
	c.notifiers["notify.bot"].OnValidate(func(to sdk.Target) schema.Diagnostics {
		if to.Secret == "" {
			return schema.Errorf(nil, "the bot token is missing")
		}
		if !strings.Contains(string(to.JSON), "chatId") {
			return schema.Errorf(schema.At("chatId"), "is missing")
		}
		return nil
	})
	for text, field := range map[string]string{
		`{"chat":{"enabled":true}}`:                                               "chat.botToken",
		`{"chat":{"enabled":true,"botToken":"` + plantedToken + `"}}`:             "chat.chatId",
		`{"webPush":{"enabled":true}}`:                                            "webPush.vapidPublicKey",
		`{"webPush":{"enabled":true,"vapidPublicKey":"x"}}`:                       "webPush.vapidPrivateKey",
		`{"webPush":{"enabled":true,"vapidPublicKey":"x","vapidPrivateKey":"y"}}`: "webPush.vapidPrivateKey",
		`{"channels":{"nobody":{"enabled":true}}}`:                                "channels.nobody",
		`{"channels":{"chat":{"enabled":true}}}`:                                  "channels.chat",
		`{"chat":{"chatId":"a\u0000b"}}`:                                          "chat.chatId",
		`{"webhook":{"url":"` + strings.Repeat("u", 2001) + `"}}`:                 "",
	} {
		g := c.refused(400, "invalid_argument", "PUT", "/api/notifications", text)
		if field != "" && g.json["field"] != field {
			c.Errorf("%s: want the field %s: %s", text, field, g.body)
		}
	}
	c.refused(400, "invalid_argument", "PUT", "/api/notifications", `{"events":{"update":"yes"}}`)
	c.refused(400, "invalid_argument", "PUT", "/api/notifications", `[`)
	if g := c.call(200, "GET", "/api/notifications", ""); strings.Contains(g.body, `"enabled":true,"available":true,"instance":"notify.bot"`) {
		c.Errorf("what was refused is kept: %s", g.body)
	}
}

func (c *contract) notifySecrets() {
	c.Helper()
	c.call(200, "POST", "/api/web-push/keys", "")
	c.call(200, "PUT", "/api/notifications", `{"events":{"newVersion":false},"chat":{"enabled":true,"botToken":"`+plantedToken+`","chatId":"42"},
		"email":{"enabled":true,"smtpUrl":"`+plantedSMTP+`"},"webhook":{"enabled":true,"url":"https://hooks.example/x","secret":"`+plantedSigning+`"},"webPush":{"enabled":true}}`)
	g := c.call(200, "GET", "/api/notifications", "")
	for _, want := range []string{
		`"botTokenConfigured":true,"chatId":"42"`, `"smtpUrl":"smtp://ops:******@mail.example:587/?to=a@example.org"`,
		`"vapidPrivateKey":"******"`,
		`"url":"https://hooks.example/x","secretConfigured":true`, `"newVersion":false`,
	} {
		if !strings.Contains(g.body, want) {
			c.Errorf("%s lacks %s", g.body, want)
		}
	}
	if strings.Contains(g.body, "planted") {
		c.Errorf("a secret is shown: %s", g.body)
	}
	// What was shown can be sent back, and empty keeps as well.
	c.call(200, "PUT", "/api/notifications",
		`{"chat":{"botToken":""},"email":{"smtpUrl":"smtp://ops:******@mail.example:587/?to=a@example.org"},"webPush":{"vapidPrivateKey":"******"},"webhook":{"secret":"  "}}`)
	to, err := c.svc.Channels().Target(context.Background(), c.recipient("email"))
	c.must(err)
	if to.Secret.Reveal() != plantedSMTP {
		c.Error("the SMTP URL was not kept")
	}
	to, err = c.svc.Channels().Target(context.Background(), c.recipient("chat"))
	c.must(err)
	if to.Secret.Reveal() != plantedToken || string(to.JSON) != `{"chatId":"42"}` {
		c.Errorf("the chat was not kept: %s", to.JSON)
	}
	var stored string
	c.must(c.store.DB(context.Background()).Raw("SELECT value FROM notify_settings").Scan(&stored).Error)
	for _, secret := range []string{"planted", "hooks.example", plantedToken} {
		if strings.Contains(stored, secret) {
			c.Errorf("the database holds %q in the clear", secret)
		}
	}
}

func (c *contract) subscriptions() {
	c.Helper()
	path := "/api/web-push/subscriptions"
	good := browser(7)
	for range 2 {
		c.call(200, "POST", path, body(good))
	}
	g := c.call(200, "GET", path, "")
	if n := strings.Count(g.body, `"host":"push.example"`); n != 1 || strings.Contains(g.body, "push.example/7") ||
		strings.Contains(g.body, good.Keys.Auth) {
		c.Errorf("%s", g.body)
	}
	for field, change := range map[string]func(*channels.Subscription){
		"endpoint":    func(s *channels.Subscription) { s.Endpoint = "http://push.example/1" },
		"keys.p256dh": func(s *channels.Subscription) { s.Keys.P256dh = strings.Repeat("A", 87) },
		"keys.auth":   func(s *channels.Subscription) { s.Keys.Auth = "AAAA" },
	} {
		bad := good
		change(&bad)
		if g := c.refused(400, "invalid_argument", "POST", path, body(bad)); g.json["field"] != field {
			c.Errorf("want the field %s: %s", field, g.body)
		}
	}
	c.refused(400, "invalid_argument", "POST", path, `{}`)
	c.refused(400, "invalid_argument", "DELETE", path, `{}`)
	for _, ok := range []bool{true, false} {
		if g := c.call(200, "DELETE", path, body(map[string]string{"endpoint": good.Endpoint})); g.json["ok"] != ok {
			c.Errorf("want %v: %s", ok, g.body)
		}
	}
}

func (c *contract) notifyTests() {
	c.Helper()
	c.notifiers["notify.mail"].Fail(sdk.Temporary(0, "BUSY", "the server defers"))
	g := c.call(200, "POST", "/api/notifications/test", `{"message":"你好 <b>"}`)
	results := g.json["results"].(map[string]any)
	ok := func(name string) any { return results[name].(map[string]any)["ok"] }
	if g.json["ok"] != false || len(results) != 5 || ok("chat") != true || ok("email") != false || ok("webhook") != true ||
		ok("pager") != true || ok("webPush") != false {
		c.Errorf("%s", g.body)
	}
	if !strings.Contains(g.body, "the server defers") || !strings.Contains(g.body, "no browser has subscribed") {
		c.Errorf("%s", g.body)
	}
	c.call(200, "PUT", "/api/notifications", `{"email":{"enabled":false}}`)
	g = c.call(200, "POST", "/api/notifications/test", `{"channel":"email"}`)
	if g.json["ok"] != true || len(g.json["results"].(map[string]any)) != 1 {
		c.Errorf("%s", g.body)
	}
	if g := c.call(200, "POST", "/api/notifications/test", ""); g.json["ok"] != false || strings.Contains(g.body, `"email"`) {
		c.Errorf("%s", g.body)
	}
	c.refused(400, "invalid_argument", "POST", "/api/notifications/test", `{"channel":"nobody"}`, "field", "channel")
	c.refused(400, "invalid_argument", "POST", "/api/notifications/test", body(map[string]string{"message": strings.Repeat("字", 501)}),
		"field", "message")
	sent := c.notifiers["notify.mail"].Sent()
	p := payloadOf(c, sent[0].Notification)
	if p["kind"] != news.NotificationTest || p["debug"].(map[string]any)["rawMessage"] != "你好 <b>" ||
		sent[0].Target.Secret.Reveal() != plantedSMTP {
		c.Errorf("%+v", p)
	}
	g = c.call(200, "GET", "/api/notifications/history?limit=1", "")
	if len(g.json["notifications"].([]any)) != 1 || g.json["nextBefore"] == nil {
		c.Errorf("%s", g.body)
	}
	g = c.call(200, "GET", "/api/notifications/history?before="+g.json["nextBefore"].(string), "")
	if len(g.json["notifications"].([]any)) != 2 || strings.Contains(g.body, "planted") {
		c.Errorf("%s", g.body)
	}
	c.refused(400, "invalid_argument", "GET", "/api/notifications/history?limit=1000", "")
}

func (c *contract) schemasServed() {
	c.Helper()
	for _, name := range []string{news.SchemaJob, news.SchemaVersion, news.SchemaAnomaly, news.SchemaTest + ".schema.json"} {
		g := c.raw("GET", "/schemas/"+name, "")
		if g.status != 200 || !strings.HasPrefix(g.header.Get("Content-Type"), "application/schema+json") || g.json["$schema"] == nil {
			c.Errorf("%s: %d %s", name, g.status, g.body)
		}
	}
	if g := c.raw("GET", "/schemas/..%2f..", ""); g.status != 404 {
		c.Errorf("%d %s", g.status, g.body)
	}
}

// TestWhatTheConfigurationSets is shown, and cannot be changed from outside.
func TestWhatTheConfigurationSets(t *testing.T) {
	e := newEnv(t, withChannels)
	e.notifiers["notify.bot"].Configure(map[string]string{"bot_token": "", "chat_id": "-100"})
	e.notifiers["notify.push"].Configure(map[string]string{"vapid_private_key": "", "vapid_public_key": "the-public-key"})
	set, err := e.svc.Channels().Settings(t.Context())
	e.must(err)
	if fmt.Sprint(set.Chat.ReadOnly) != "[botToken chatId]" || !set.Chat.BotTokenConfigured || set.Chat.ChatID != "-100" ||
		set.WebPush.PublicKey != "the-public-key" || set.WebPush.PrivateKey != webhook.Masked {
		t.Errorf("%+v", set)
	}
	on := true
	e.must(e.svc.Channels().Change(t.Context(),
		channels.NotificationChange{Chat: &channels.ChatChange{Enabled: &on}, WebPush: &channels.PushChange{Enabled: &on}}))
	// What was shown may come back, and nothing is lost by it; another value is refused.
	e.must(e.svc.Channels().Subscribe(t.Context(), browser(1), ""))
	key, private, chat, other := set.WebPush.PublicKey, set.WebPush.PrivateKey, set.Chat.ChatID, "another"
	e.must(e.svc.Channels().Change(t.Context(),
		channels.NotificationChange{Chat: &channels.ChatChange{ChatID: &chat},
			WebPush: &channels.PushChange{PublicKey: &key, PrivateKey: &private}}))
	if subs, err := e.svc.Channels().Subscribers(t.Context()); err != nil || len(subs) != 1 {
		t.Errorf("%d subscriptions, %v", len(subs), err)
	}
	for name, c := range map[string]channels.NotificationChange{
		"chat.chatId": {Chat: &channels.ChatChange{ChatID: &other}}, "chat.botToken": {Chat: &channels.ChatChange{BotToken: &other}},
		"webPush.vapidPublicKey": {WebPush: &channels.PushChange{PublicKey: &other}},
	} {
		if err := e.svc.Channels().Change(t.Context(), c); err == nil || !strings.Contains(err.Error(), "plugin.hcl") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := e.svc.Channels().MakeVAPIDKeys(t.Context()); err == nil {
		t.Error("keys were made beside those of the configuration")
	}
}

// TestSecondInstanceOfARole is a channel of its own.
func TestSecondInstanceOfARole(t *testing.T) {
	e := newEnv(t, withChannels, func(e *env) {
		e.notifiers["notify.second"] = fake.NewNotifier(sdk.Descriptor{Role: sdk.RoleChat})
		e.notifiers["notify.email"] = fake.NewNotifier(sdk.Descriptor{})
	})
	set, err := e.svc.Channels().Settings(t.Context())
	e.must(err)
	if _, ok := set.Channels["second"]; !ok || set.Chat.Instance != "notify.bot" {
		t.Errorf("%+v", set)
	}
	if _, ok := set.Channels["notify.email"]; !ok || set.Email.Instance != "notify.mail" {
		t.Errorf("a name that is a role's is not kept apart: %+v", set)
	}
}

// TestGoneSubscriptionIsForgotten: a push service that says so ends a subscription.
func TestGoneSubscriptionIsForgotten(t *testing.T) {
	e := newEnv(t, withChannels)
	e.switched()
	e.must(e.svc.Channels().Subscribe(t.Context(), browser(2), ""))
	e.notifiers["notify.push"].Fail(sdk.Permanent(sdk.ReasonGone, "the subscription has ended"))
	got, err := e.svc.Channels().SendTest(t.Context(), "webPush", "")
	e.must(err)
	subs, err := e.svc.Channels().Subscribers(t.Context())
	e.must(err)
	if !got["webPush"].OK || len(subs) != 1 {
		t.Errorf("%+v, %d subscriptions", got, len(subs))
	}
	if _, err := e.svc.Channels().MakeVAPIDKeys(t.Context()); err != nil {
		t.Fatal(err)
	}
	if subs, err = e.svc.Channels().Subscribers(t.Context()); err != nil || len(subs) != 0 {
		t.Errorf("%d subscriptions of the former keys, %v", len(subs), err)
	}
}
