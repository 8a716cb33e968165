package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/notify/telegram/telegramtest"
)

// taken are the ids, or titles where there are none, of what a receiver has taken, with how often.
func (r *receiver) taken(key func(arrival) string) map[string]int {
	out := map[string]int{}
	for _, p := range r.all() {
		if p.code == http.StatusOK {
			out[key(p)]++
		}
	}
	return out
}

func webhookID(p arrival) string { return p.header.Get("webhook-id") }

// hangs has the chat take a photo and answer nothing, until the caller is gone.
func (o *outlets) hangs(times int) {
	o.bot.Fail("sendPhoto", telegramtest.Failure{Hang: true, Kept: true, Times: times})
}

// TestNotifyKilledBetweenChannels ends the core without warning when of one notification the webhook and the mail have
// been delivered, the chat has got the photo but its answer is not there, and another channel has not begun.
func TestNotifyKilledBetweenChannels(t *testing.T) {
	t.Parallel()
	bin := dockertest.NewestCompose(t)
	eachStorage(t, func(t *testing.T, s storage) {
		o := outletsFor(t, "chat", "email", "webhook", "gotify")
		o.storage = s.hcl
		a := startApp(t, bin, dockertest.Behaviour{Version: "1.0.0", Healthcheck: true})
		c := startNotify(t, o, bin.Path)
		st := c.stackNamed(t, a.project).ID
		// After its refusal the channel rests, so that the second notification is not tried there. On a busy machine the
		// rest may be over before that: then it is refused too, and waits all the same.
		o.gotify.answers(http.StatusServiceUnavailable, gotifySays)
		first := c.newsOf(t, a, a.repo+"-side", st, "2.0.0")
		c.becomes(t, first, o.every("delivered", map[string]string{"gotify": "waiting"}))
		eventually(t, startWithin, "the channel refuses", func() bool { return len(o.gotify.all()) == 1 })
		o.hangs(0)
		asked := o.bot.Requests()
		second := c.news(t, a, st, "1.1.0")
		eventually(t, startWithin, "the chat has the photo", func() bool { return o.bot.Requests() > asked })
		m := c.becomes(t, second, o.every("delivered", map[string]string{"gotify": "waiting", "chat": "sending"}))
		if d := m.to(t, "gotify"); d.Attempts != 0 && len(o.gotify.all()) == 1 {
			t.Fatalf("the channel that rests was asked: %+v", d)
		}
		plugins := c.plugins()
		c.kill9()
		eventually(t, startWithin, "no plugin outlives the core", func() bool {
			for _, pid := range plugins {
				if alive(pid) {
					return false
				}
			}
			return true
		})
		o.bot.Heal()
		o.gotify.answers(http.StatusOK, gotifySays)
		refused := len(o.gotify.all())
		before := []int{o.bot.Requests(), len(o.hook.all()), len(o.mail.Messages())}
		c.start()

		m = c.becomes(t, second, o.every("delivered", map[string]string{"chat": "unknown"}))
		if d := m.to(t, "chat"); d.Error != "the core ended while it was being sent" || d.Attempts != 1 {
			t.Errorf("the uncertain delivery is %+v", d)
		}
		c.becomes(t, first, o.every("delivered", nil))
		if got := []int{o.bot.Requests(), len(o.hook.all()), len(o.mail.Messages())}; fmt.Sprint(got) != fmt.Sprint(before) {
			t.Errorf("requests to chat, webhook and mail were %v before the restart and are %v", before, got)
		}
		if got := o.gotify.taken(func(p arrival) string { return decode[struct{ Message string }](t, p.body).Message }); len(got) != 2 ||
			len(o.gotify.all()) != refused+2 {
			t.Errorf("the channel that had not begun took %v after %d refusals", got, refused)
		}
		if got := o.hook.taken(webhookID); len(got) != 2 {
			t.Errorf("the webhook took %v", got)
		}
		c.becomes(t, c.news(t, a, st, "1.2.0"), o.every("delivered", nil))
		// What is uncertain stays so.
		c.restart()
		c.becomes(t, second, o.every("delivered", map[string]string{"chat": "unknown"}))
	})
}

// TestNotifyPluginKilled ends the process of one channel without warning while it sends. The core tells what became of it,
// the others notice nothing, and the channel is back for the next notification.
func TestNotifyPluginKilled(t *testing.T) {
	t.Parallel()
	bin := dockertest.NewestCompose(t)
	o := outletsFor(t, "chat", "email", "webhook")
	a := startApp(t, bin, dockertest.Behaviour{Version: "1.0.0", Healthcheck: true})
	c := startNotify(t, o, bin.Path)
	st := c.stackNamed(t, a.project).ID

	o.hangs(1)
	first := c.news(t, a, st, "1.1.0")
	eventually(t, startWithin, "the chat has the photo", func() bool { return o.bot.Requests() == 1 })
	c.killPlugin(t, "notify/telegram")
	m := c.becomes(t, first, o.every("delivered", map[string]string{"chat": "unknown"}))
	if d := m.to(t, "chat"); d.Attempts != 1 || !strings.HasPrefix(d.Error, "the channel's plugin ended") || o.bot.Requests() != 1 {
		t.Errorf("after %d requests the delivery is %+v", o.bot.Requests(), d)
	}
	c.becomes(t, c.news(t, a, st, "1.2.0"), o.every("delivered", nil))

	// The webhook can be repeated: its receiver knows the id.
	o.hook.holds()
	before := len(o.hook.all())
	third := c.news(t, a, st, "1.3.0")
	eventually(t, startWithin, "the webhook has the post", func() bool { return len(o.hook.all()) > before })
	c.killPlugin(t, "notify/webhook")
	o.hook.release()
	m = c.becomes(t, third, o.every("delivered", nil))
	posts := map[string]int{}
	for _, p := range o.hook.all()[before:] {
		posts[webhookID(p)]++
	}
	if want := map[string]int{m.to(t, "webhook").ID: 2}; !maps.Equal(posts, want) {
		t.Errorf("posted %v, want %v", posts, want)
	}
	// The history holds the same after a restart.
	c.restart()
	c.becomes(t, first, o.every("delivered", map[string]string{"chat": "unknown"}))
}
