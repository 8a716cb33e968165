package notify

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
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
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
	hook   *kit.Receiver
	push   *pushtest.Service
	gotify *kit.Receiver
	// node is the receiver of the example in Node; program and dir are what runs it.
	node         *kit.Inbox
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
			o.hook = kit.NewReceiver(t)
		case "webPush":
			o.push = pushtest.Start(t)
		case "gotify":
			o.gotify = kit.NewReceiver(t)
			setAnswer(o.gotify, http.StatusOK, gotifySays)
		case "node":
			o.program, o.dir = kit.NodeExample(t)
			o.node = kit.NewInbox(t)
		default:
			t.Fatalf("there is no counterpart %q", name)
		}
	}
	return o
}

// gotifySays is what the stand-in answers.
func gotifySays(p kit.Arrival) string {
	if p.Code != http.StatusOK {
		return fmt.Sprintf(`{"error":%q,"errorCode":%d,"errorDescription":"the stand-in says so"}`, http.StatusText(p.Code), p.Code)
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
		block("webhook", "hook", fmt.Sprintf("allow_hosts = [%q]", o.hook.Host))
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
	return o.storage + out.String() + kit.ContainersHCL(compose, "  notify = ["+strings.Join(refs, ", ")+"]\n"+o.more)
}

// startNotify runs a core with the channels, each of them set and switched on through the API. Settings in env override
// its own.
func startNotify(t *testing.T, o *outlets, compose string, more ...string) *kit.Core {
	t.Helper()
	env := []string{"SVC_WEBHOOK_SECRET=" + triggerSecret}
	if o.gotify != nil {
		env = append(env, "GOTIFY_URL=gotify://"+o.gotify.Host+"/"+gotifyKey+"?disabletls=yes")
	}
	if o.node != nil {
		env = append(env, "NODE_URL="+o.node.URL+"/ok")
	}
	c := kit.NewCore(t, o.hcl(compose), append(env, more...)...)
	if o.node != nil {
		if err := os.Symlink(o.dir, filepath.Join(c.Dir, "notify-node")); err != nil {
			t.Fatal(err)
		}
		c.CLI("plugin", "lock")
	}
	c.Start()
	t.Cleanup(func() {
		c.Stop()
		if t.Failed() {
			t.Logf("log of the core:\n%s", kit.LastLines(c.Logs(), 80))
		}
	})
	o.set(t, c)
	return c
}

// set puts the settings in.
func (o *outlets) set(t testing.TB, c *kit.Core) {
	t.Helper()
	if o.bot != nil {
		setNotify(t, c, map[string]any{"chat": map[string]any{"enabled": true, "botToken": o.bot.Token, "chatId": o.bot.ChatID}})
	}
	if o.mail != nil {
		setNotify(t, c, map[string]any{"email": map[string]any{"enabled": true, "smtpUrl": o.smtpURL("a@patchbay.test,b@patchbay.test")}})
	}
	if o.hook != nil {
		setNotify(t, c, map[string]any{"webhook": map[string]any{"enabled": true, "url": o.hook.URL + "/hook", "secret": kit.SigningSecret}})
	}
	if o.push != nil {
		key := kit.Decode[struct{ VAPIDPublicKey string }](t, c.API(t, http.MethodPost, "/api/web-push/keys", "", http.StatusOK).Body).VAPIDPublicKey
		setNotify(t, c, map[string]any{"webPush": map[string]any{"enabled": true, "vapidSubject": "mailto:ops@patchbay.test"}})
		o.subscribe(t, c, key)
	}
}

func (o *outlets) subscribe(t testing.TB, c *kit.Core, key string) {
	t.Helper()
	o.sub = o.push.Subscribe(t, key)
	c.API(t, http.MethodPost, "/api/web-push/subscriptions", jsonOf(t, map[string]any{"endpoint": o.sub.Endpoint, "keys": o.sub.Keys}),
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

func setNotify(t testing.TB, c *kit.Core, change map[string]any) {
	t.Helper()
	c.API(t, http.MethodPut, "/api/notifications", jsonOf(t, change), http.StatusOK)
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

// readHistory are the messages so far, newest first.
func readHistory(t testing.TB, c *kit.Core) []told {
	t.Helper()
	return kit.Ask[struct{ Notifications []told }](t, c, "/api/notifications/history").Notifications
}

// waitForStates waits until a message has reached states, by channel.
func waitForStates(t testing.TB, c *kit.Core, id string, want map[string]string) (m told) {
	t.Helper()
	deadline := kit.DeadlineAfter(time.Minute)
	for {
		all := readHistory(t, c)
		if i := slices.IndexFunc(all, func(m told) bool { return m.ID == id }); i >= 0 {
			m = all[i]
		}
		if maps.Equal(m.states(), want) {
			return m
		}
		if time.Now().After(deadline) {
			t.Fatalf("the message %s does not become %v: %+v", id, want, m)
		}
		time.Sleep(5 * kit.PollEvery)
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

// triggerCheck checks a stack as a webhook asks for it, and waits for the end.
func triggerCheck(t testing.TB, c *kit.Core, stackID string) kit.Job {
	t.Helper()
	a := c.Send(t, kit.Request{Path: "/api/webhooks/trigger", Body: fmt.Sprintf(`{"action":"check","scope":"stack","stackId":%q}`, stackID),
		Header: http.Header{"X-Svc-Webhook-Secret": {triggerSecret}}})
	if a.Status != http.StatusOK {
		t.Fatalf("the trigger: status %d: %s", a.Status, a.Body)
	}
	return c.Finished(t, kit.Decode[struct{ JobID string }](t, a.Body).JobID, "success")
}

// announceVersion gives a service a new version, has it found and returns the id of the message that tells it.
func announceVersion(t testing.TB, c *kit.Core, a *kit.App, stackID, version string) string {
	t.Helper()
	return announceVersionOf(t, c, a, a.Repo, stackID, version)
}

// announceVersionOf is news about a service of another image of the project.
func announceVersionOf(t testing.TB, c *kit.Core, a *kit.App, repo, stackID, version string) string {
	t.Helper()
	before := len(readHistory(t, c))
	dockertest.App(t, a.Reg, repo, "1", dockertest.Behaviour{Version: version, Healthcheck: true})
	triggerCheck(t, c, stackID)
	var all []told
	kit.Eventually(t, 30*time.Second, "a message is made", func() bool { all = readHistory(t, c); return len(all) > before })
	return all[0].ID
}

// waitForAnnouncement waits until what a job has to tell was told or left out, and returns why it was left out.
func waitForAnnouncement(t testing.TB, c *kit.Core, jobID string) (skipped string) {
	t.Helper()
	db := c.Records(t, kit.Storage{})
	kit.Eventually(t, 30*time.Second, "the end of the job is announced", func() bool {
		err := db.DB.QueryRow("SELECT result FROM jobs WHERE type = 'containers.announce' AND state = 'success' AND payload LIKE ?",
			"%"+jobID+"%").Scan(&skipped)
		return err == nil
	})
	return kit.Decode[struct{ Skipped string }](t, skipped).Skipped
}

// killPlugin ends the process of one plugin without any warning.
func killPlugin(t testing.TB, c *kit.Core, name string) {
	t.Helper()
	for _, pid := range c.Plugins() {
		if line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil && strings.Contains(string(line), name) {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatalf("no process of the plugin %s runs", name)
}
