package notify

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/png"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

const publicBase = "https://patchbay.example.org/below"

// publicURL sets the public base URL.
func publicURL(t testing.TB, c *kit.Core, url string) {
	t.Helper()
	now := kit.Ask[struct{ Backup json.RawMessage }](t, c, "/api/settings")
	c.API(t, http.MethodPut, "/api/settings",
		jsonOf(t, map[string]any{"backup": now.Backup, "instance": map[string]any{"publicBaseUrl": url}}), http.StatusOK)
}

// shown writes a file into bin/screenshots, for people to look at.
func shown(t testing.TB, name string, raw []byte) {
	t.Helper()
	dir := filepath.Join(kit.Root(), "bin", "screenshots")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), raw, 0o644); err != nil {
		t.Fatal(err)
	}
}

// counts are how many messages each counterpart has.
func (o *outlets) counts(t testing.TB) map[string]int {
	t.Helper()
	return map[string]int{
		"chat": len(o.bot.Messages()), "email": len(o.mail.Messages()), "webhook": len(listArrivals(o.hook)), "webPush": len(o.sub.Received(t)),
		"gotify": len(listArrivals(o.gotify)), "node": len(o.node.Received()),
	}
}

// TestNotifyEveryChannel has an update end on the engine, without and with a public base URL: all six channels deliver it.
func TestNotifyEveryChannel(t *testing.T) {
	t.Parallel()
	bin := dockertest.NewestCompose(t)
	o := outletsFor(t, "chat", "email", "webhook", "webPush", "gotify", "node")
	a := kit.StartApp(t, bin, dockertest.Behaviour{Version: "1.0.0", Healthcheck: true})
	c := startNotify(t, o, bin.Path)
	web := c.StackNamed(t, a.Project).Service(t, "web")
	update := func(version string) (told, string) {
		t.Helper()
		before := len(readHistory(t, c))
		a.Push(t, dockertest.Behaviour{Version: version, Healthcheck: true})
		web = c.Check(t, web.ID)
		id := c.BeginJob(t, "/api/updates", kit.UpdateBody(web, ""))
		c.Finished(t, id, "success")
		waitForAnnouncement(t, c, id)
		all := readHistory(t, c)
		if len(all) != before+1 {
			t.Fatalf("%d messages, want one more than %d: %+v", len(all), before, all)
		}
		return waitForStates(t, c, all[0].ID, o.every("delivered", nil)), id
	}

	m, id := update("1.1.0")
	if m.Kind != "job_finished" || m.Severity != "success" || m.Title != "更新完成（成功）" {
		t.Errorf("the message is %+v", m)
	}
	page := "/services/" + web.StackID + "/" + web.ID
	o.tell(t, c, a.Project, id, page, false)
	want := map[string]int{"chat": 2, "email": 2, "webhook": 1, "webPush": 1, "gotify": 1, "node": 1}
	if got := o.counts(t); !maps.Equal(got, want) {
		t.Errorf("arrived %v, want %v", got, want)
	}

	publicURL(t, c, publicBase)
	_, id = update("1.2.0")
	o.tell(t, c, a.Project, id, publicBase+page, true)
	for name := range want {
		want[name] *= 2
	}
	if got := o.counts(t); !maps.Equal(got, want) {
		t.Errorf("arrived %v, want %v", got, want)
	}
	mailLooksWell(t, c, o, "notify-mail")
}

// tell looks at what the newest message is at each counterpart. absolute says that links can be.
func (o *outlets) tell(t *testing.T, c *kit.Core, project, jobID, page string, absolute bool) {
	t.Helper()
	name := project + " / web"
	o.tellChat(t, name, page, absolute)
	o.tellMail(t, name, page, absolute)
	o.tellMachines(t, c, jobID, page)
	all := listArrivals(o.gotify)
	note := kit.Decode[struct{ Title, Message string }](t, all[len(all)-1].Body)
	kit.Contains(t, note.Title+"\n"+note.Message, "更新完成（成功）", name, page)
	o.node.Mu.Lock()
	defer o.node.Mu.Unlock()
	kit.Contains(t, o.node.Texts[len(o.node.Texts)-1], "Patchbay: 更新完成（成功）\n\n", name, page)
}

func (o *outlets) tellChat(t *testing.T, name, page string, absolute bool) {
	t.Helper()
	all := o.bot.Messages()
	photo, detail := all[len(all)-2], all[len(all)-1]
	if photo.Method != "sendPhoto" || detail.Method != "sendMessage" || !detail.PreviewDisabled {
		t.Fatalf("the chat got %s and %s", photo.Method, detail.Method)
	}
	kit.Contains(t, photo.Text, "更新完成（成功）", name)
	kit.Contains(t, detail.Text, name)
	card, err := png.DecodeConfig(bytes.NewReader(photo.Photo))
	if err != nil || card.Width != 1200 || card.Height != 630 || len(photo.Photo) >= 100_000 {
		t.Errorf("the picture has %d x %d points and %d bytes: %v", card.Width, card.Height, len(photo.Photo), err)
	}
	shown(t, "notify-update.png", photo.Photo)
	links := 0
	for _, m := range []string{photo.Markup, detail.Markup} {
		links += strings.Count(m, "<a href=")
	}
	if absolute {
		kit.Contains(t, photo.Markup, fmt.Sprintf("<a href=%q", page))
		return
	}
	if links > 0 {
		t.Errorf("there are links without a public base URL: %s", detail.Markup)
	}
	kit.Contains(t, detail.Markup, "<code>"+page+"</code>")
}

func (o *outlets) tellMail(t *testing.T, name, page string, absolute bool) {
	t.Helper()
	all := o.mail.Messages()
	for i, to := range []string{"a@patchbay.test", "b@patchbay.test"} {
		found := false
		for _, m := range all[len(all)-2:] {
			found = found || m.To == to && m.From == mailSender
		}
		if !found {
			t.Errorf("the %d. recipient has no mail: %+v", i+1, all)
		}
	}
	got := openLetter(t, all[len(all)-1].Raw)
	if got.subject != "[Patchbay] 更新完成（成功）" {
		t.Errorf("the subject is %q", got.subject)
	}
	kit.Contains(t, got.plain, name, page)
	kit.Contains(t, got.html, name, page)
	if has := strings.Contains(got.html, fmt.Sprintf("<a href=%q", page)); has != absolute {
		t.Errorf("a link to the page: %v, want %v:\n%s", has, absolute, got.html)
	}
	if !absolute {
		kit.Contains(t, got.html, "<code>"+page+"</code>")
	}
}

// tellMachines looks at the payloads that the webhook and the browser got.
func (o *outlets) tellMachines(t *testing.T, c *kit.Core, jobID, page string) {
	t.Helper()
	type payload struct {
		Schema, Kind, Channel, Title, Body, URL string
		Job                                     struct{ ID, Status string }
		Human                                   struct{ Title, Summary string }
		Links                                   struct{ PrimaryURL string }
	}
	post := lastArrival(t, o.hook)
	if err := kit.VerifySignature(post.Header, []byte(post.Body)); err != nil {
		t.Errorf("the signature: %v", err)
	}
	validatePayload(t, c, []byte(post.Body))
	if p := kit.Decode[payload](t, post.Body); p.Schema != "svc.notification.job.v2" || p.Channel != "webhook" || p.Job.ID != jobID ||
		p.Job.Status != "success" || p.Links.PrimaryURL != page || p.Title != "" {
		t.Errorf("the webhook got %+v", p)
	}
	all := o.sub.Received(t)
	raw := all[len(all)-1]
	validatePayload(t, c, []byte(raw))
	if p := kit.Decode[payload](t, raw); p.Channel != "webPush" || p.Title != "更新完成（成功）" || p.Body == "" ||
		p.Body != p.Human.Summary || p.URL != page || p.Job.ID != jobID {
		t.Errorf("the browser got %+v", p)
	}
}

// mailLooksWell opens the newest mail in a browser, at the width of a telephone and of a desk.
func mailLooksWell(t *testing.T, c *kit.Core, o *outlets, picture string) {
	t.Helper()
	all := o.mail.Messages()
	html := openLetter(t, all[len(all)-1].Raw).html
	b := kit.Browse(t, c)
	for name, width := range map[string]int{"phone": 390, "desktop": 1280} {
		showLetter(b, html, width)
		wide, err := kit.Evaluate[int](b, "document.documentElement.scrollWidth")
		if err != nil || wide > width {
			t.Errorf("at %d the mail is %d wide: %v", width, wide, err)
		}
		b.Picture(picture + "-" + name)
	}
}
