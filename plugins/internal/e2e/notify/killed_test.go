package notify

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/notify/telegram/telegramtest"
)

// countTaken are the ids, or titles where there are none, of what a receiver has taken, with how often.
func countTaken(r *kit.Receiver, key func(kit.Arrival) string) map[string]int {
	out := map[string]int{}
	for _, p := range listArrivals(r) {
		if p.Code == http.StatusOK {
			out[key(p)]++
		}
	}
	return out
}

func webhookID(p kit.Arrival) string { return p.Header.Get("webhook-id") }

// hangs has the chat take a photo and answer nothing, until the caller is gone.
func (o *outlets) hangs(times int) {
	o.bot.Fail("sendPhoto", telegramtest.Failure{Hang: true, Kept: true, Times: times})
}

// TestNotifyKilledBetweenChannels ends the core without warning when of one notification the webhook and the mail have
// been delivered, the chat has got the photo but its answer is not there, and another channel has not begun.
func TestNotifyKilledBetweenChannels(t *testing.T) {
	t.Parallel()
	bin := dockertest.NewestCompose(t)
	kit.EachStorage(t, func(t *testing.T, s kit.Storage) {
		o := outletsFor(t, "chat", "email", "webhook", "gotify")
		o.storage = s.HCL
		a := kit.StartApp(t, bin, dockertest.Behaviour{Version: "1.0.0", Healthcheck: true})
		c := startNotify(t, o, bin.Path)
		st := c.StackNamed(t, a.Project).ID
		// After its refusal the channel rests, so that the second notification is not tried there. On a busy machine the
		// rest may be over before that: then it is refused too, and waits all the same.
		setAnswer(o.gotify, http.StatusServiceUnavailable, gotifySays)
		first := announceVersionOf(t, c, a, a.Repo+"-side", st, "2.0.0")
		waitForStates(t, c, first, o.every("delivered", map[string]string{"gotify": "waiting"}))
		kit.Eventually(t, kit.StartWithin, "the channel refuses", func() bool { return len(listArrivals(o.gotify)) == 1 })
		o.hangs(0)
		asked := o.bot.Requests()
		second := announceVersion(t, c, a, st, "1.1.0")
		kit.Eventually(t, kit.StartWithin, "the chat has the photo", func() bool { return o.bot.Requests() > asked })
		m := waitForStates(t, c, second, o.every("delivered", map[string]string{"gotify": "waiting", "chat": "sending"}))
		if d := m.to(t, "gotify"); d.Attempts != 0 && len(listArrivals(o.gotify)) == 1 {
			t.Fatalf("the channel that rests was asked: %+v", d)
		}
		plugins := c.Plugins()
		c.Kill()
		kit.Eventually(t, kit.StartWithin, "no plugin outlives the core", func() bool {
			for _, pid := range plugins {
				if kit.IsAlive(pid) {
					return false
				}
			}
			return true
		})
		o.bot.Heal()
		setAnswer(o.gotify, http.StatusOK, gotifySays)
		refused := len(listArrivals(o.gotify))
		before := []int{o.bot.Requests(), len(listArrivals(o.hook)), len(o.mail.Messages())}
		c.Start()

		m = waitForStates(t, c, second, o.every("delivered", map[string]string{"chat": "unknown"}))
		if d := m.to(t, "chat"); d.Error != "the core ended while it was being sent" || d.Attempts != 1 {
			t.Errorf("the uncertain delivery is %+v", d)
		}
		waitForStates(t, c, first, o.every("delivered", nil))
		if got := []int{o.bot.Requests(), len(listArrivals(o.hook)), len(o.mail.Messages())}; fmt.Sprint(got) != fmt.Sprint(before) {
			t.Errorf("requests to chat, webhook and mail were %v before the restart and are %v", before, got)
		}
		if got := countTaken(o.gotify, func(p kit.Arrival) string { return kit.Decode[struct{ Message string }](t, p.Body).Message }); len(got) != 2 ||
			len(listArrivals(o.gotify)) != refused+2 {
			t.Errorf("the channel that had not begun took %v after %d refusals", got, refused)
		}
		if got := countTaken(o.hook, webhookID); len(got) != 2 {
			t.Errorf("the webhook took %v", got)
		}
		waitForStates(t, c, announceVersion(t, c, a, st, "1.2.0"), o.every("delivered", nil))
		// What is uncertain stays so.
		c.Restart()
		waitForStates(t, c, second, o.every("delivered", map[string]string{"chat": "unknown"}))
	})
}

// TestNotifyPluginKilled ends the process of one channel without warning while it sends. The core tells what became of it,
// the others notice nothing, and the channel is back for the next notification.
func TestNotifyPluginKilled(t *testing.T) {
	t.Parallel()
	bin := dockertest.NewestCompose(t)
	o := outletsFor(t, "chat", "email", "webhook")
	a := kit.StartApp(t, bin, dockertest.Behaviour{Version: "1.0.0", Healthcheck: true})
	c := startNotify(t, o, bin.Path)
	st := c.StackNamed(t, a.Project).ID

	o.hangs(1)
	first := announceVersion(t, c, a, st, "1.1.0")
	kit.Eventually(t, kit.StartWithin, "the chat has the photo", func() bool { return o.bot.Requests() == 1 })
	killPlugin(t, c, "notify/telegram")
	m := waitForStates(t, c, first, o.every("delivered", map[string]string{"chat": "unknown"}))
	if d := m.to(t, "chat"); d.Attempts != 1 || !strings.HasPrefix(d.Error, "the channel's plugin ended") || o.bot.Requests() != 1 {
		t.Errorf("after %d requests the delivery is %+v", o.bot.Requests(), d)
	}
	waitForStates(t, c, announceVersion(t, c, a, st, "1.2.0"), o.every("delivered", nil))

	// The webhook can be repeated: its receiver knows the id.
	o.hook.Holds()
	before := len(listArrivals(o.hook))
	third := announceVersion(t, c, a, st, "1.3.0")
	kit.Eventually(t, kit.StartWithin, "the webhook has the post", func() bool { return len(listArrivals(o.hook)) > before })
	killPlugin(t, c, "notify/webhook")
	o.hook.Release()
	m = waitForStates(t, c, third, o.every("delivered", nil))
	posts := map[string]int{}
	for _, p := range listArrivals(o.hook)[before:] {
		posts[webhookID(p)]++
	}
	if want := map[string]int{m.to(t, "webhook").ID: 2}; !maps.Equal(posts, want) {
		t.Errorf("posted %v, want %v", posts, want)
	}
	// The history holds the same after a restart.
	c.Restart()
	waitForStates(t, c, first, o.every("delivered", map[string]string{"chat": "unknown"}))
}
