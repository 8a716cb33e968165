package pages

import (
	"bytes"
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"image/png"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/webtest"
	"github.com/patchbay-dev/patchbay/core/notify/channels"
	"github.com/patchbay-dev/patchbay/core/services/containers/notice"
	"github.com/patchbay-dev/patchbay/sdk/notify"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

const plantedBot = "12345:planted-bot-token"

// needsToken has the chat refuse what has no token.
func (s *site) needsToken() {
	s.chat.OnValidate(func(to notify.Target) schema.Diagnostics {
		if to.Secret == "" {
			return schema.Diagnostics{{Severity: schema.Error, Summary: "the token of the bot is missing"}}
		}
		if strings.Contains(string(to.JSON), "bad") {
			return schema.Errorf(schema.At("chatId"), "there is no chat %s", hostile)
		}
		return nil
	})
}

// field returns the field of a page's form with an id, as it stands in the page.
func field(t testing.TB, p webtest.Page, id string) string {
	t.Helper()
	_, rest, ok := strings.Cut(p.Body, `<input id="`+id+`"`)
	if !ok {
		t.Fatalf("there is no field %s in\n%s", id, p.Body)
	}
	out, _, _ := strings.Cut(rest, ">")
	return out
}

func TestNotificationsPage(t *testing.T) {
	s := newSite(t, "/containers")
	s.needsToken()
	v := s.as(s.admin, "en")
	p := v.get("/notifications")
	p.Is(t, "the page", http.StatusOK, "needs settings", "<span>Bot token: </span>", "the token of the bot is missing", "notify.chat", "notify.push", "pager", "notify.pager",
		"Web Push needs a pair of VAPID keys", "No notifications yet", `notify &#34;&lt;plugin&gt;&#34; &#34;webhook&#34; {}`,
		"notify = [notify.chat, notify.mail, notify.push, notify.pager, notify.webhook]", `hx-post="/containers/notifications/test"`, `action="/containers/notifications/test"`, "Sending…")
	p.Lacks(t, "the page", "data-push-key", `id="set-webhook"`)

	v.SetLanguage("zh")
	v.get("/notifications").Is(t, "in Chinese", http.StatusOK, "通知", "需要设置", "尚无通知", "如何添加Webhook", `<span>机器人令牌： </span><span lang="en">the token of the bot is missing`)
	v.SetLanguage("en")

	v.post("/notifications/events", "version", "yes").Is(t, "the events", http.StatusSeeOther)
	set, err := s.service.Channels().Settings(t.Context())
	must(t, err)
	if want := (channels.EventSwitches{"update": false, "newVersion": true, "ghcrWebhookAnomaly": false}); !maps.Equal(set.Events, want) {
		t.Errorf("events %+v, want %+v", set.Events, want)
	}
	if member := s.as(s.member, "en"); member.get("/notifications").Status != http.StatusForbidden {
		t.Error("a member sees the page")
	}
}

// TestNotificationsChat: a refusal stands at its field with what was written, and a token that is left empty is kept.
func TestNotificationsChat(t *testing.T) {
	s := newSite(t, "/")
	s.needsToken()
	v := s.as(s.admin, "en")
	p := v.post("/notifications/switch", "channel", "chat", "on", "yes")
	p.Is(t, "without a token", http.StatusBadRequest, "Not done.", `<details class="fold" open>`, `<p class="hint error"><span lang="en">the token of the bot is missing`)
	p = v.post("/notifications/channel", "channel", "chat", "botToken", plantedBot, "chatId", "bad", "on", "yes")
	p.Is(t, "a wrong chat", http.StatusBadRequest, "there is no chat &lt;script&gt;", `value="bad"`)
	p.Lacks(t, "a wrong chat", hostile, plantedBot)
	if f := field(t, p, "chat-chatId"); !strings.Contains(f, "autofocus") || !strings.Contains(f, `aria-invalid="true"`) {
		t.Errorf("the field: %s", f)
	}
	if f := field(t, p, "chat-botToken"); strings.Contains(f, "autofocus") {
		t.Errorf("the other field: %s", f)
	}
	v.post("/notifications/channel", "channel", "chat", "botToken", plantedBot, "chatId", "-42", "on", "yes").Is(t, "the settings", http.StatusSeeOther)
	p = v.get("/notifications")
	p.Is(t, "the page", http.StatusOK, ">on</span>", "Leave it empty to keep what is set.", `value="-42"`)
	p.Lacks(t, "the page", plantedBot)

	v.post("/notifications/channel", "channel", "chat", "botToken", "", "chatId", "-43").Is(t, "another chat", http.StatusSeeOther)
	v.post("/notifications/test", "channel", "chat").Is(t, "a test", http.StatusSeeOther)
	v.get("/notifications").Is(t, "after the test", http.StatusOK, "<h1>", "delivered")
	sent := s.chat.Sent()
	if len(sent) != 1 || sent[0].Target.Secret.Reveal() != plantedBot || !strings.Contains(string(sent[0].Target.JSON), "-43") {
		t.Errorf("sent %+v", sent)
	}

	s.chat.Configure(map[string]string{"bot_token": "", "chat_id": "-99"})
	p = v.get("/notifications")
	p.Is(t, "set in the configuration", http.StatusOK, "set in the configuration", `value="-99"`)
	for _, id := range []string{"chat-chatId", "chat-botToken"} {
		if f := field(t, p, id); !strings.Contains(f, "readonly") || strings.Contains(f, "name=") {
			t.Errorf("%s is %s", id, f)
		}
	}
	v.post("/notifications/switch", "channel", "chat").Is(t, "off", http.StatusSeeOther)
	v.post("/notifications/switch", "channel", "nothing").Is(t, "no channel", http.StatusBadRequest)
	v.post("/notifications/channel", "channel", "pager").Is(t, "no settings", http.StatusBadRequest)
}

// TestNotificationsMail: the address of the mail server is filled in by its parts, and its password is kept for the same server
// and user alone.
func TestNotificationsMail(t *testing.T) {
	const password = "planted-mail-p@ssword"
	s := newSite(t, "/")
	v := s.as(s.admin, "en")
	send := func(more ...string) webtest.Page {
		fields := []string{"channel", "email", "host", "mail.example", "security", "smtps", "user", "ops@example.com", "to", "a+b@example.com, c@example.com", "from", "Patchbay <ops@example.com>"}
		return v.post("/notifications/channel", overridden(fields, more)...)
	}
	v.post("/notifications/channel", "channel", "email", "host", "", "to", "").Is(t, "all empty", http.StatusSeeOther)
	send("password", password, "on", "yes").Is(t, "the parts", http.StatusSeeOther)
	set, err := s.service.Channels().Settings(t.Context())
	if want := "smtps://ops%40example.com:******@mail.example/?to=a%2Bb@example.com%2C%20c@example.com&from=Patchbay%20%3Cops@example.com%3E"; err != nil || set.Email.SMTPURL != want {
		t.Errorf("stored %s, want %s, %v", set.Email.SMTPURL, want, err)
	}
	p := v.get("/notifications")
	p.Is(t, "the page", http.StatusOK, "Leave it empty to keep what is set.")
	for id, want := range map[string]string{"host": `value="mail.example"`, "user": `value="ops@example.com"`, "to": `value="a+b@example.com, c@example.com"`, "password": `value=""`} {
		if f := field(t, p, "email-"+id); !strings.Contains(f, want) {
			t.Errorf("the field is %s, want %s", f, want)
		}
	}
	send("password", "", "to", "d@example.com").Is(t, "an empty password", http.StatusSeeOther)
	v.post("/notifications/test", "channel", "email").Is(t, "a test", http.StatusSeeOther)
	if sent := s.mail.Sent(); len(sent) != 1 || !strings.Contains(sent[0].Target.Secret.Reveal(), "planted-mail-p%40ssword") {
		t.Errorf("sent %+v", sent)
	}
	for _, lang := range []string{"en", "zh"} {
		v.SetLanguage(lang)
		for what, c := range map[string]struct {
			fields []string
			en, zh string
		}{
			"another server": {fields: []string{"host", "other.example"}, en: "Enter the password again", zh: "请重新输入"},
			"no server":      {fields: []string{"host", ""}, en: "The name of the server is missing.", zh: "请填写服务器名称"},
			"an address":     {fields: []string{"host", "smtp://mail.example"}, en: "a name or an address alone", zh: "只需填写名称或地址"},
			"a port":         {fields: []string{"port", "70000"}, en: "from 1 to 65535", zh: "1 到 65535"},
			"no user":        {fields: []string{"user", "", "password", "x"}, en: "A password needs a user.", zh: "必须填写用户名"},
			"no recipient":   {fields: []string{"to", " "}, en: "At least one recipient", zh: "至少需要一个收件人"},
			"a wrong letter": {fields: []string{"password", password + "\x00"}, en: "characters that are not allowed here", zh: "不允许的字符"},
		} {
			p := v.post("/notifications/channel", overridden([]string{"channel", "email", "host", "mail.example", "security", "smtps", "user", "ops@example.com", "to", "a@example.com"}, c.fields)...)
			p.Is(t, what, http.StatusBadRequest, map[string]string{"en": c.en, "zh": c.zh}[lang])
			p.Lacks(t, what, password)
		}
	}
	v.SetLanguage("en")
	for what, p := range map[string]webtest.Page{"the page": v.get("/notifications"), "the preview": v.get("/notifications/preview/notification_test")} {
		p.Lacks(t, what, password)
	}
}

// overridden returns pairs with the values of others in place of their own.
func overridden(pairs, others []string) []string {
	out := append([]string{}, others...)
	for i := 0; i < len(pairs); i += 2 {
		if n := slices.Index(others, pairs[i]); n < 0 || n%2 == 1 {
			out = append(out, pairs[i], pairs[i+1])
		}
	}
	return out
}

// TestChannelStates: what a person wants to know first comes first.
func TestChannelStates(t *testing.T) {
	on := channels.ChannelState{Enabled: true, Available: true}
	failed, unknown := &channels.MessageDelivery{State: "failed"}, &channels.MessageDelivery{State: "unknown"}
	for want, ch := range map[string]channelView{
		"absent":      {ChannelState: channels.ChannelState{Enabled: true}, Last: failed},
		"unreachable": {ChannelState: on, Gap: fault.New(fault.PluginUnavailable, "It is away."), Last: failed},
		"incomplete":  {ChannelState: on, Gap: fault.New(fault.InvalidArgument, "It lacks something."), Last: failed},
		"off":         {ChannelState: channels.ChannelState{Available: true}, Last: failed},
		"failed":      {ChannelState: on, Last: failed},
		"on":          {ChannelState: on, Last: unknown},
	} {
		if got := ch.stateName(); got != want {
			t.Errorf("%s is %s", want, got)
		}
	}
}

// htmx sends a form as the pages' script does.
func (v *visitor) htmx(path string, form ...string) webtest.Page {
	v.Helper()
	v.Header.Set("HX-Request", "true")
	defer func() { v.Header.Del("HX-Request") }()
	return v.post(path, form...)
}

// TestNotificationsTest: the answer of a test takes the place of the channel's row, in the channel's own words.
func TestNotificationsTest(t *testing.T) {
	s := newSite(t, "/")
	v := s.as(s.admin, "en")
	s.other.Fail(notify.Permanent("REFUSED", "the pager says %s", hostile), notify.Unknown("the line broke"), nil)
	for _, want := range [][]string{
		{"The test was not delivered.", "the pager says &lt;script&gt;", "last delivery failed", "note full bad"},
		{"It is not known whether the test arrived", "the line broke", "unknown"},
		{"The channel has taken the test.", ">on</span>", "delivered"},
	} {
		p := v.htmx("/notifications/test", "channel", "pager")
		p.Is(t, "a test", http.StatusOK, want...)
		p.Lacks(t, "a test", "<h1>", "<html", hostile)
	}
	p := v.get("/notifications")
	p.Is(t, "the history", http.StatusOK, "pager · failed", "pager · unknown", "pager · delivered", "Unknown: it may have arrived, and is not sent again.", "Deliveries and payload",
		"svc.notification.test.v2", "the pager says &lt;script&gt;", "1 attempt", "hx-morph-skip")
	p.Lacks(t, "the history", hostile, "⟦")

	s.needsToken()
	v.htmx("/notifications/test", "channel", "chat").Is(t, "without a token", http.StatusOK, "Not done.", "the token of the bot is missing", `href="#set-chat"`)
	v.post("/notifications/test", "channel", "chat").Is(t, "without a token and script", http.StatusOK, "<h1>", "Not done.", "the token of the bot is missing")
	v.htmx("/notifications/test", "channel", "webhook").Is(t, "no instance", http.StatusOK, "Not done.")
	v.post("/notifications/test", "channel", "nothing").Is(t, "no such channel", http.StatusBadRequest)
	v.post("/notifications/test").Is(t, "no channel", http.StatusBadRequest)
}

// TestNotificationsHistory: a page of it, the next one, and its end.
func TestNotificationsHistory(t *testing.T) {
	s := newSite(t, "/")
	v := s.as(s.admin, "en")
	for range messagesShown + 1 {
		if _, err := s.service.Channels().SendTest(t.Context(), "pager", hostile); err != nil {
			t.Fatal(err)
		}
	}
	p := v.get("/notifications")
	p.Is(t, "the newest", http.StatusOK, "Older", `hx-sse:connect="/notifications/live"`)
	p.Lacks(t, "the newest", hostile)
	if n := strings.Count(p.Body, `<div class="told">`); n != messagesShown {
		t.Errorf("%d notifications are shown", n)
	}
	list, err := s.service.Channels().History(t.Context(), "", messagesShown)
	must(t, err)
	last := url.QueryEscape(list[len(list)-1].ID)
	p = v.get("/notifications?before=" + last)
	p.Is(t, "the older", http.StatusOK, "Newest")
	p.Lacks(t, "the older", "hx-sse:connect")
	if n := strings.Count(p.Body, `<div class="told">`); n != 1 {
		t.Errorf("%d older notifications are shown", n)
	}
	older, err := s.service.Channels().History(t.Context(), list[len(list)-1].ID, 1)
	must(t, err)
	v.get("/notifications?before="+url.QueryEscape(older[0].ID)).Is(t, "the end", http.StatusOK, "There is nothing older")
}

// subscription is one as a browser makes it.
func subscription(t testing.TB, endpoint string) channels.Subscription {
	t.Helper()
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	must(t, err)
	return channels.Subscription{Endpoint: endpoint, Keys: channels.SubscriptionKeys{
		P256dh: base64.RawURLEncoding.EncodeToString(key.PublicKey().Bytes()), Auth: base64.RawURLEncoding.EncodeToString(make([]byte, 16)),
	}}
}

func TestNotificationsPush(t *testing.T) {
	s := newSite(t, "/containers")
	v := s.as(s.admin, "en")
	v.get("/notifications").Is(t, "without keys", http.StatusOK, "Generate a key pair")
	if p := v.post("/notifications/keys"); p.Header.Get("Location") != "/containers/notifications#set-webPush" {
		t.Errorf("the keys: status %d, to %q", p.Status, p.Header.Get("Location"))
	}
	set, err := s.service.Channels().Settings(t.Context())
	must(t, err)
	p := v.get("/notifications")
	p.Is(t, "with keys", http.StatusOK, `data-push-key="`+set.WebPush.PublicKey+`"`, `data-push-url="/containers/api/web-push/subscriptions"`, `data-push-worker="/sw.js"`,
		"data-push-state", "No browser has subscribed yet", "Generate a new key pair", "A new key pair ends all subscriptions")
	p = v.post("/notifications/channel", "channel", "webPush", "vapidSubject", "nobody", "on", "yes")
	p.Is(t, "a wrong subject", http.StatusBadRequest, "The subject must be mailto:", `value="nobody"`)
	v.SetLanguage("zh")
	v.post("/notifications/channel", "channel", "webPush", "vapidSubject", "nobody", "on", "yes").Is(t, "in Chinese", http.StatusBadRequest, "联系方式必须是 mailto:")
	v.SetLanguage("en")
	v.post("/notifications/channel", "channel", "webPush", "vapidSubject", "mailto:ops@example.com", "on", "yes").Is(t, "on", http.StatusSeeOther)

	must(t, s.service.Channels().Subscribe(context.Background(), subscription(t, "https://push.example.net/send/planted-endpoint"),
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36"))
	must(t, s.service.Channels().Subscribe(context.Background(), subscription(t, "https://push.example.net/send/2"), hostile))
	p = v.get("/notifications")
	p.Is(t, "the browsers", http.StatusOK, "Chrome · Linux", "push.example.net", "&lt;script&gt;", "The subscriptions of 2 browsers end")
	p.Lacks(t, "the browsers", "planted-endpoint", hostile)
	list, err := s.service.Channels().Subscribers(t.Context())
	must(t, err)
	v.post("/notifications/subscriptions/remove", "id", list[0].ID).Is(t, "one removed", http.StatusSeeOther)
	if list, err = s.service.Channels().Subscribers(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("subscriptions %+v, %v", list, err)
	}
	v.post("/notifications/keys").Is(t, "new keys", http.StatusSeeOther)
	v.get("/notifications").Is(t, "after that", http.StatusOK, "No browser has subscribed yet")
}

// TestNotificationsPreview: each kind as text, mail, card and payload, each with the policy that it needs.
func TestNotificationsPreview(t *testing.T) {
	s, v, _ := lived(t, "/containers")
	if p := v.get("/notifications/preview"); p.Header.Get("Location") != "/containers/notifications/preview/job_finished" {
		t.Errorf("status %d, to %q", p.Status, p.Header.Get("Location"))
	}
	for _, k := range notice.Kinds() {
		kind := k.Name
		at := "/notifications/preview/" + kind
		p := v.get(at)
		p.Is(t, kind, http.StatusOK, `aria-current="page"`, s.at+at+"/mail", s.at+at+"/card.png", "&#34;schema&#34;", `sandbox="allow-popups`, `href="/containers/schemas/svc.notification.`)
		if csp := p.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "frame-src 'self'") || !strings.Contains(csp, "frame-ancestors 'none'") {
			t.Errorf("%s: the policy is %q", kind, csp)
		}
		p = v.get(at + "/mail")
		p.Is(t, kind+" as mail", http.StatusOK, "<h1>", "notify-mail.")
		if csp := p.Header.Get("Content-Security-Policy"); csp != mailPolicy || p.Header.Get("X-Frame-Options") != "SAMEORIGIN" {
			t.Errorf("%s as mail: the policy is %q", kind, csp)
		}
		p = v.get(at + "/card.png")
		if p.Header.Get("Content-Type") != "image/png" {
			t.Errorf("%s: the card is %s", kind, p.Header.Get("Content-Type"))
		}
		if img, err := png.Decode(bytes.NewReader([]byte(p.Body))); err != nil || img.Bounds().Dx() != 1200 {
			t.Errorf("%s: the card: %v", kind, err)
		}
	}
	if csp := v.get("/notifications").Header.Get("Content-Security-Policy"); strings.Contains(csp, "frame-src") {
		t.Errorf("the policy of other pages is %q", csp)
	}
	for _, part := range []string{"", "/mail", "/card.png"} {
		v.get("/notifications/preview/nothing"+part).Is(t, "no kind"+part, http.StatusNotFound)
	}
}
