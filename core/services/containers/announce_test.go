package containers

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/notify/channels"
	"github.com/patchbay-dev/patchbay/core/services/containers/change"
	"github.com/patchbay-dev/patchbay/core/services/containers/news"
	"github.com/patchbay-dev/patchbay/core/services/containers/notice"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

// withChannels gives a service channels for all roles and one of its own kind.
func withChannels(e *env) {
	e.notifiers = channelSet{
		"notify.bot":   fake.NewNotifier(sdk.Descriptor{Role: sdk.RoleChat, Capabilities: []string{sdk.CapImage, sdk.CapHTML}}),
		"notify.mail":  fake.NewNotifier(sdk.Descriptor{Role: sdk.RoleEmail, Capabilities: []string{sdk.CapHTML}}),
		"notify.hook":  fake.NewNotifier(sdk.Descriptor{Role: sdk.RoleWebhook, Capabilities: []string{sdk.CapIdempotent}}),
		"notify.push":  fake.NewNotifier(sdk.Descriptor{Role: sdk.RoleWebPush, Capabilities: []string{sdk.CapIdempotent}, MaxPayloadBytes: 3000}),
		"notify.pager": fake.NewNotifier(sdk.Descriptor{MaxTextBytes: 120}),
	}
}

// switched switches all channels on.
func (e *env) switched() {
	e.Helper()
	on, token, chat, smtp, url := true, "123456:"+strings.Repeat("t", 35), "42", "smtp://u:planted-password@mail.example/?to=a@example.org", "https://hooks.example/x"
	_, err := e.svc.Channels().MakeVAPIDKeys(context.Background())
	e.must(err)
	e.must(e.svc.Channels().Change(context.Background(), channels.NotificationChange{
		Chat: &channels.ChatChange{Enabled: &on, BotToken: &token, ChatID: &chat}, Email: &channels.EmailChange{Enabled: &on, SMTPURL: &smtp},
		Webhook: &channels.WebhookChange{Enabled: &on, URL: &url}, WebPush: &channels.PushChange{Enabled: &on},
	}))
	e.must(e.svc.Channels().Subscribe(context.Background(), browser(1), "a browser"))
}

// browser is a subscription with keys of the right form.
func browser(n int) channels.Subscription {
	return channels.Subscription{Endpoint: fmt.Sprintf("https://push.example/%d", n), Keys: channels.SubscriptionKeys{
		P256dh: "BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM", Auth: "tBHItJI5svbpez7KI4CCXg",
	}}
}

// told waits until n messages were sent and all their deliveries have ended, and returns them, newest first.
func (e *env) told(n int) (out []channels.SentMessage) {
	e.Helper()
	testkit.Eventually(e, patience, func() bool {
		var err error
		out, err = e.svc.Channels().History(context.Background(), "", 100)
		e.must(err)
		return len(out) == n && !slices.ContainsFunc(out, func(m channels.SentMessage) bool {
			return slices.ContainsFunc(m.Deliveries, func(d channels.MessageDelivery) bool { return !notify.State(d.State).Final() })
		})
	}, fmt.Sprintf("%d notifications end", n))
	return out
}

// announced waits until everything that ended was looked at.
func (e *env) announced() {
	e.Helper()
	testkit.Eventually(e, patience, func() bool {
		var n int64
		e.must(e.store.DB(context.Background()).Raw("SELECT COUNT(*) FROM jobs WHERE type = ? AND state IN ('queued', 'running')", notice.JobType).Scan(&n).Error)
		return n == 0
	}, "nothing is to be announced")
}

// scheduled runs a check as the schedule makes it.
func (e *env) scheduled() {
	e.Helper()
	job, _, err := e.svc.CheckFor(context.Background(), work.ActorSchedule, project.ScanRequest{Scope: work.ScopeAll, Reason: work.ReasonSchedule})
	e.must(err)
	if got := e.ended(job.ID); got.Status != "success" {
		e.Fatalf("the check is %+v\n%s", got, e.logs(job.ID))
	}
	e.announced()
}

// notices are the states of the news about a service, oldest first.
func (e *env) notices(serviceID string) (out []string) {
	e.Helper()
	var rows []struct{ Status string }
	e.must(e.store.DB(context.Background()).Raw("SELECT status FROM containers_new_versions WHERE service_id = ? ORDER BY id", serviceID).Scan(&rows).Error)
	for _, r := range rows {
		out = append(out, r.Status)
	}
	return out
}

// threeNew makes three services of two projects, each with a new version.
func (e *env) threeNew() {
	e.Helper()
	e.project("blog", 1, map[string]string{"web": imageHost + "/acme/web:1", "db": imageHost + "/acme/db:1"})
	e.project("shop", 1, map[string]string{"app": imageHost + "/acme/app:1"})
	for _, repo := range []string{"web", "db", "app"} {
		e.publish(imageHost+"/acme/"+repo+":1", 2)
	}
	e.discovered()
}

func payloadOf(t testing.TB, n sdk.Notification) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal(n.Payload, &out); err != nil {
		t.Fatal(err)
	}
	fitsSchema(t, n.Payload)
	return out
}

// fitsSchema checks a payload against the schema that it names.
func fitsSchema(t testing.TB, payload []byte) {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(payload)))
	if err != nil {
		t.Fatal(err)
	}
	name, _ := doc.(map[string]any)["schema"].(string)
	raw, err := news.Schemas().Open(name + ".schema.json")
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	schema, err := jsonschema.UnmarshalJSON(raw)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("schema.json", schema); err != nil {
		t.Fatal(err)
	}
	if err := c.MustCompile("schema.json").Validate(doc); err != nil {
		t.Errorf("%v\n%s", err, payload)
	}
}

// TestNewVersionsAreToldOnce: three in one check make one notification, the same ones again none, and a check by hand none.
func TestNewVersionsAreToldOnce(t *testing.T) {
	forEach(t, func(t *testing.T, e *env) {
		e.switched()
		e.inferring()
		e.threeNew()
		if job, _ := e.checked(); job.Status != "success" {
			t.Fatalf("%+v", job)
		}
		e.announced()
		if got := e.told(0); len(got) != 0 {
			t.Fatalf("a check by hand told %+v", got)
		}
		e.scheduled()
		all := e.told(1)
		if len(all[0].Deliveries) != 5 || all[0].Kind != news.NewVersionDiscovered || !strings.Contains(all[0].Title, "发现 3 个服务有新版本") {
			t.Fatalf("%+v", all[0])
		}
		for ref, name := range map[string]string{"notify.bot": "chat", "notify.mail": "email", "notify.hook": "webhook", "notify.push": "webPush", "notify.pager": "pager"} {
			sent := e.notifiers[ref].Sent()
			if len(sent) != 1 {
				t.Fatalf("%s got %d", ref, len(sent))
			}
			n := sent[0].Notification
			p := payloadOf(t, n)
			check := p["check"].(map[string]any)
			if p["channel"] != name || check["newVersions"] != 3.0 || check["servicesChecked"] != 3.0 || len(p["links"].(map[string]any)["serviceUrls"].([]any)) != 3 {
				t.Errorf("%s: %s", name, n.Payload)
			}
			if _, has := p["url"]; has != (name == "webPush") {
				t.Errorf("%s: %s", name, n.Payload)
			}
			if (len(n.Image) > 0) != (name == "chat") || (n.Detail.HTML != "") != (name == "chat" || name == "email") {
				t.Errorf("%s has what it cannot show, or lacks what it can: %d bytes, %q", name, len(n.Image), n.Detail.HTML)
			}
		}
		e.scheduled()
		e.told(1)
		web := e.serviceOf("blog", "web")
		e.publish(imageHost+"/acme/web:1", 3)
		e.scheduled()
		if two := e.told(2)[0]; two.Title != "web" {
			t.Errorf("%+v", two)
		}
		if got := fmt.Sprint(e.notices(web.ID)); got != "[sent sent]" {
			t.Errorf("%s", got)
		}
	}, withChannels)
}

// TestReplacedCandidate: news that nobody got yet is not told any more when another version has taken its place.
func TestReplacedCandidate(t *testing.T) {
	forEach(t, func(t *testing.T, e *env) {
		e.switched()
		e.inferring()
		e.project("blog", 1, map[string]string{"web": webRepo + ":1"})
		e.publish(webRepo+":1", 2)
		e.discovered()
		busy := make([]error, 1000)
		for i := range busy {
			busy[i] = sdk.Temporary(0, "BUSY", "busy")
		}
		for _, c := range e.notifiers {
			c.Fail(busy...)
		}
		e.scheduled()
		web := e.serviceOf("blog", "web")
		testkit.Eventually(t, patience, func() bool { return len(e.notifiers["notify.bot"].Sent()) > 1 }, "it is tried")
		if got := fmt.Sprint(e.notices(web.ID)); got != "[pending]" {
			t.Fatalf("%s", got)
		}
		e.publish(webRepo+":1", 3)
		e.scheduled()
		testkit.Eventually(t, patience, func() bool { return fmt.Sprint(e.notices(web.ID)) == "[superseded pending]" }, "the first is superseded")
		testkit.Eventually(t, patience, func() bool {
			list, err := e.svc.Channels().History(context.Background(), "", 10)
			e.must(err)
			return len(list) == 2 && !slices.ContainsFunc(list[1].Deliveries, func(d channels.MessageDelivery) bool { return d.State != "superseded" })
		}, "its deliveries end without being sent")
		list, err := e.svc.Channels().History(context.Background(), "", 10)
		e.must(err)
		if list[0].Deliveries[0].State == "superseded" {
			t.Errorf("%+v", list[0])
		}
	}, withChannels)
}

// TestFailedNewsAreToldAgain: news that no channel took do not keep the next check from telling them.
func TestFailedNewsAreToldAgain(t *testing.T) {
	e := newEnv(t, withChannels)
	e.switched()
	e.inferring()
	e.project("blog", 1, map[string]string{"web": webRepo + ":1"})
	e.publish(webRepo+":1", 2)
	e.discovered()
	for _, c := range e.notifiers {
		c.Fail(sdk.Permanent("NO", "no"))
	}
	e.scheduled()
	e.told(1)
	web := e.serviceOf("blog", "web")
	if got := fmt.Sprint(e.notices(web.ID)); got != "[failed]" {
		t.Fatalf("%s", got)
	}
	e.scheduled()
	e.told(2)
	if got := fmt.Sprint(e.notices(web.ID)); got != "[failed sent]" {
		t.Errorf("%s", got)
	}
}

// TestSwitches: what is switched off is told nobody.
func TestSwitches(t *testing.T) {
	e := newEnv(t, withChannels)
	e.switched()
	e.inferring()
	off, on := false, true
	change := func(c channels.NotificationChange) { e.must(e.svc.Channels().Change(context.Background(), c)) }
	e.threeNew()
	change(channels.NotificationChange{Events: channels.EventChange{"newVersion": &off}})
	e.scheduled()
	e.told(0)
	change(channels.NotificationChange{
		Events: channels.EventChange{"newVersion": &on}, Chat: &channels.ChatChange{Enabled: &off}, Email: &channels.EmailChange{Enabled: &off}, WebPush: &channels.PushChange{Enabled: &off},
		Channels: map[string]channels.OtherChange{"pager": {Enabled: &off}},
	})
	e.scheduled()
	if got := e.told(1)[0]; len(got.Deliveries) != 1 || got.Deliveries[0].Channel != "webhook" {
		t.Errorf("%+v", got)
	}
	change(channels.NotificationChange{Webhook: &channels.WebhookChange{Enabled: &off}})
	e.publish(imageHost+"/acme/web:1", 3)
	e.scheduled()
	e.told(1)
	change(channels.NotificationChange{Webhook: &channels.WebhookChange{Enabled: &on}})
	e.scheduled()
	e.told(2)
}

// TestUpdatesAreTold: what an update did, and why one failed. A dry run is told nobody.
func TestUpdatesAreTold(t *testing.T) {
	forEach(t, func(t *testing.T, e *env) {
		e.switched()
		e.blog()
		if job, _ := e.updated("blog", "web", func(r *change.UpdateRequest) { r.Mode = change.ModeDryRun }); job.Status != "success" {
			t.Fatalf("%+v", job)
		}
		e.announced()
		e.told(0)
		job, _ := e.updated("blog", "web")
		got := e.told(1)[0]
		n := e.notifiers["notify.hook"].Sent()[0].Notification
		p := payloadOf(t, n)
		web := e.serviceOf("blog", "web")
		links := p["links"].(map[string]any)
		if got.Title != "更新完成（成功）" || p["job"].(map[string]any)["id"] != job.ID || links["primaryUrl"] != "/services/"+web.StackID+"/"+web.ID || links["jobUrl"] != "/queue/"+job.ID {
			t.Errorf("%+v\n%s", got, n.Payload)
		}
		e.publish(webRepo+":1", 3)
		e.engine.ScriptImage(imageID(3), fake.Unhealthy())
		e.checked()
		if job, _ = e.updated("blog", "web"); job.Status != "rolled_back" {
			t.Fatalf("%+v", job)
		}
		got = e.told(2)[0]
		if got.Title != "更新完成（已回滚）" || got.Severity != "warning" || !strings.Contains(string(got.Payload), "新容器未能变为健康状态。之前的版本已恢复运行。") {
			t.Errorf("%+v", got)
		}
		payloadOf(t, e.notifiers["notify.hook"].Sent()[1].Notification)
	}, withChannels)
}

// TestVersionsAreAwaited: the versions behind floating tags are looked for before people are told.
func TestVersionsAreAwaited(t *testing.T) {
	e := newEnv(t, withChannels)
	e.switched()
	e.project("blog", 1, map[string]string{"web": webRepo + ":latest"})
	e.publish(webRepo+":1.0.0", 1)
	e.publish(webRepo+":2.0.0", 2)
	e.publish(webRepo+":latest", 2)
	e.discovered()
	job, _, err := e.svc.CheckFor(context.Background(), work.ActorSchedule, project.ScanRequest{Scope: work.ScopeAll, Reason: work.ReasonSchedule})
	e.must(err)
	e.ended(job.ID)
	time.AfterFunc(100*time.Millisecond, e.inferring)
	got := e.told(1)[0]
	if !strings.Contains(got.Summary, "(1.0.0 -> 2.0.0)") {
		t.Errorf("%q", got.Summary)
	}
	link := payloadOf(t, e.notifiers["notify.hook"].Sent()[0].Notification)["links"].(map[string]any)["serviceUrls"].([]any)[0].(map[string]any)
	if link["currentTag"] != "latest" || link["candidateTag"] != "latest" || link["currentDisplayTag"] != "1.0.0" || link["candidateDisplayTag"] != "2.0.0" {
		t.Errorf("%+v", link)
	}
}
