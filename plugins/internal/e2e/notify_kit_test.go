package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/mta"
	"github.com/patchbay-dev/patchbay/plugins/internal/pushtest"
	"github.com/patchbay-dev/patchbay/plugins/notify/telegram/telegramtest"
)

const (
	triggerSecret = "the-secret-of-the-trigger"
	gotifyKey     = "Aabcdefghijklmn"
	mailSender    = "ops@patchbay.test"
)

// outlets are the counterparts of the channels; those that a test has no use for are nil.
type outlets struct {
	bot    *telegramtest.Server
	mail   *mta.Server
	hook   *receiver
	push   *pushtest.Service
	gotify *receiver
	// node is the receiver of the example in Node; program and dir are what runs it.
	node         *inbox
	program, dir string
	// sub is the browser that has subscribed.
	sub *pushtest.Subscription
	// storage is more of the configuration, such as a storage block, and more is put into the service's block.
	storage, more string
}

// outletsFor starts counterparts: chat, email, webhook, webPush, gotify and node.
func outletsFor(t *testing.T, names ...string) *outlets {
	t.Helper()
	o := &outlets{}
	for _, name := range names {
		switch name {
		case "chat":
			o.bot = telegramtest.New(t)
		case "email":
			o.mail = mta.Start(t)
		case "webhook":
			o.hook = newReceiver(t)
		case "webPush":
			o.push = pushtest.Start(t)
		case "gotify":
			o.gotify = newReceiver(t)
			o.gotify.answers(http.StatusOK, gotifySays)
		case "node":
			o.program, o.dir = nodeExample(t)
			o.node = newInbox(t)
		default:
			t.Fatalf("there is no counterpart %q", name)
		}
	}
	return o
}

// gotifySays is what the stand-in answers.
func gotifySays(p arrival) string {
	if p.code != http.StatusOK {
		return fmt.Sprintf(`{"error":%q,"errorCode":%d,"errorDescription":"the stand-in says so"}`, http.StatusText(p.code), p.code)
	}
	return `{"id":1,"appid":2,"message":"m","title":"t","priority":0,"date":"2026-01-01T00:00:00Z"}`
}

// hcl is the configuration of a core with all of the channels.
func (o *outlets) hcl(compose string) string {
	var out strings.Builder
	var refs []string
	block := func(kind, name, config string) {
		fmt.Fprintf(&out, "notify %q %q {\n  config {\n%s\n  }\n}\n", kind, name, config)
		refs = append(refs, "notify."+name)
	}
	if o.bot != nil {
		block("telegram", "bot", fmt.Sprintf("base_url = %q\nallow_hosts = [%q]", o.bot.URL, o.bot.Host))
	}
	if o.mail != nil {
		block("email", "mail", fmt.Sprintf("ca_file     = %q\nallow_hosts = [%q]", o.mail.CAFile, o.mail.Host))
	}
	if o.hook != nil {
		block("webhook", "hook", fmt.Sprintf("allow_hosts = [%q]", o.hook.host))
	}
	if o.push != nil {
		block("webpush", "push", fmt.Sprintf("allow_hosts = [%q]", o.push.Host))
	}
	if o.gotify != nil {
		block("shoutrrr", "gotify", `urls = [env("GOTIFY_URL")]`)
	}
	if o.node != nil {
		fmt.Fprintf(&out, "plugin \"notify-node\" {\n  path = %q\n  args = [\"notify-node/plugin.mjs\", \"notify-node/serve.mjs\"]\n}\n",
			o.program)
		block("notify-node", "node", `url = env("NODE_URL")`)
	}
	return o.storage + out.String() + containersHCL(compose, "  notify = ["+strings.Join(refs, ", ")+"]\n"+o.more)
}

// startNotify runs a core with the channels, each of them set and switched on through the API. Settings in env override
// its own.
func startNotify(t *testing.T, o *outlets, compose string, more ...string) *core {
	t.Helper()
	env := []string{"SVC_WEBHOOK_SECRET=" + triggerSecret}
	if o.gotify != nil {
		env = append(env, "GOTIFY_URL=gotify://"+o.gotify.host+"/"+gotifyKey+"?disabletls=yes")
	}
	if o.node != nil {
		env = append(env, "NODE_URL="+o.node.URL+"/ok")
	}
	c := newCore(t, o.hcl(compose), append(env, more...)...)
	if o.node != nil {
		if err := os.Symlink(o.dir, filepath.Join(c.dir, "notify-node")); err != nil {
			t.Fatal(err)
		}
		c.cli("plugin", "lock")
	}
	c.start()
	t.Cleanup(func() {
		c.stop()
		if t.Failed() {
			t.Logf("log of the core:\n%s", tail(c.logs(), 80))
		}
	})
	o.set(t, c)
	return c
}

// set puts the settings in.
func (o *outlets) set(t testing.TB, c *core) {
	t.Helper()
	if o.bot != nil {
		c.setNotify(t, map[string]any{"chat": map[string]any{"enabled": true, "botToken": o.bot.Token, "chatId": o.bot.ChatID}})
	}
	if o.mail != nil {
		c.setNotify(t, map[string]any{"email": map[string]any{"enabled": true, "smtpUrl": o.smtpURL("a@patchbay.test,b@patchbay.test")}})
	}
	if o.hook != nil {
		c.setNotify(t, map[string]any{"webhook": map[string]any{"enabled": true, "url": o.hook.URL + "/hook", "secret": signingSecret}})
	}
	if o.push != nil {
		key := decode[struct{ VAPIDPublicKey string }](t, c.api(t, http.MethodPost, "/api/web-push/keys", "", http.StatusOK).body).VAPIDPublicKey
		c.setNotify(t, map[string]any{"webPush": map[string]any{"enabled": true, "vapidSubject": "mailto:ops@patchbay.test"}})
		o.subscribe(t, c, key)
	}
}

func (o *outlets) subscribe(t testing.TB, c *core, key string) {
	t.Helper()
	o.sub = o.push.Subscribe(t, key)
	c.api(t, http.MethodPost, "/api/web-push/subscriptions", jsonOf(t, map[string]any{"endpoint": o.sub.Endpoint, "keys": o.sub.Keys}),
		http.StatusOK)
}

// smtpURL is the address of the mail server with recipients.
func (o *outlets) smtpURL(to string) string {
	return o.mail.URL("smtp", o.mail.Submission, "to="+to+"&from=Patchbay <"+mailSender+">")
}

func jsonOf(t testing.TB, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func (c *core) setNotify(t testing.TB, change map[string]any) {
	t.Helper()
	c.api(t, http.MethodPut, "/api/notifications", jsonOf(t, change), http.StatusOK)
}

// delivery is a message on its way to one recipient, as the history tells it.
type delivery struct {
	ID, Channel, Instance, State, Error string
	Attempts                            int
	Warnings                            []string
}

// told is a message of the history.
type told struct {
	ID, Kind, Title, Summary, Severity string
	Payload                            json.RawMessage
	Deliveries                         []delivery
}

func (m told) states() map[string]string {
	out := map[string]string{}
	for _, d := range m.Deliveries {
		out[d.Channel] = d.State
	}
	return out
}

func (m told) to(t testing.TB, channel string) delivery {
	t.Helper()
	i := slices.IndexFunc(m.Deliveries, func(d delivery) bool { return d.Channel == channel })
	if i < 0 {
		t.Fatalf("the message went to %v, not to %s", m.states(), channel)
	}
	return m.Deliveries[i]
}

// history are the messages so far, newest first.
func (c *core) history(t testing.TB) []told {
	t.Helper()
	return ask[struct{ Notifications []told }](t, c, "/api/notifications/history").Notifications
}

// becomes waits until a message has reached states, by channel.
func (c *core) becomes(t testing.TB, id string, want map[string]string) (m told) {
	t.Helper()
	deadline := deadlineAfter(time.Minute)
	for {
		all := c.history(t)
		if i := slices.IndexFunc(all, func(m told) bool { return m.ID == id }); i >= 0 {
			m = all[i]
		}
		if maps.Equal(m.states(), want) {
			return m
		}
		if time.Now().After(deadline) {
			t.Fatalf("the message %s does not become %v: %+v", id, want, m)
		}
		time.Sleep(5 * pollEvery)
	}
}

// every is a state for each channel, besides those that are named with their own.
func (o *outlets) every(state string, but map[string]string) map[string]string {
	out := map[string]string{}
	for name, there := range map[string]bool{
		"chat": o.bot != nil, "email": o.mail != nil, "webhook": o.hook != nil, "webPush": o.push != nil, "gotify": o.gotify != nil,
		"node": o.node != nil,
	} {
		if there {
			out[name] = state
		}
	}
	maps.Copy(out, but)
	return out
}

// trigger checks a stack as a webhook asks for it, and waits for the end.
func (c *core) trigger(t testing.TB, stackID string) job {
	t.Helper()
	a := c.send(t, request{path: "/api/webhooks/trigger", body: fmt.Sprintf(`{"action":"check","scope":"stack","stackId":%q}`, stackID),
		header: http.Header{"X-Svc-Webhook-Secret": {triggerSecret}}})
	if a.status != http.StatusOK {
		t.Fatalf("the trigger: status %d: %s", a.status, a.body)
	}
	return c.finished(t, decode[struct{ JobID string }](t, a.body).JobID, "success")
}

// news gives a service a new version, has it found and returns the id of the message that tells it.
func (c *core) news(t testing.TB, a *app, stackID, version string) string {
	t.Helper()
	return c.newsOf(t, a, a.repo, stackID, version)
}

// newsOf is news about a service of another image of the project.
func (c *core) newsOf(t testing.TB, a *app, repo, stackID, version string) string {
	t.Helper()
	before := len(c.history(t))
	dockertest.App(t, a.reg, repo, "1", dockertest.Behaviour{Version: version, Healthcheck: true})
	c.trigger(t, stackID)
	var all []told
	eventually(t, 30*time.Second, "a message is made", func() bool { all = c.history(t); return len(all) > before })
	return all[0].ID
}

// announced waits until what a job has to tell was told or left out, and returns why it was left out.
func (c *core) announced(t testing.TB, jobID string) (skipped string) {
	t.Helper()
	db := c.records(t, storage{})
	eventually(t, 30*time.Second, "the end of the job is announced", func() bool {
		err := db.db.QueryRow("SELECT result FROM jobs WHERE type = 'containers.announce' AND state = 'success' AND payload LIKE ?",
			"%"+jobID+"%").Scan(&skipped)
		return err == nil
	})
	return decode[struct{ Skipped string }](t, skipped).Skipped
}

// killPlugin ends the process of one plugin without any warning.
func (c *core) killPlugin(t testing.TB, name string) {
	t.Helper()
	for _, pid := range c.plugins() {
		if line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil && strings.Contains(string(line), name) {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatalf("no process of the plugin %s runs", name)
}
