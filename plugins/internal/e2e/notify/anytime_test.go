package notify

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// TestNotifyKilledAnyTime ends the core without warning at many moments after a check has begun. Whatever it was doing, the
// new version is told in one message, and no channel gets it twice that could not tell.
func TestNotifyKilledAnyTime(t *testing.T) {
	t.Parallel()
	bin := dockertest.NewestCompose(t)
	o := outletsFor(t, "chat", "email", "webhook")
	a := kit.StartApp(t, bin, dockertest.Behaviour{Version: "1.0.0", Healthcheck: true})
	c := startNotify(t, o, bin.Path)
	st := c.StackNamed(t, a.Project).ID
	// The receiver takes a moment, as they do.
	setAnswer(o.hook, http.StatusOK, func(kit.Arrival) string { time.Sleep(30 * time.Millisecond); return "{}" })
	unknown := 0
	for i, after := range []time.Duration{0, 15, 30, 40, 50, 60, 75, 90, 120, 160, 250} {
		chat, mail, posts := len(o.bot.Messages()), len(o.mail.Messages()), len(listArrivals(o.hook))
		a.Push(t, dockertest.Behaviour{Version: fmt.Sprintf("1.%d.0", i+1), Healthcheck: true})
		header := http.Header{"X-Svc-Webhook-Secret": {triggerSecret}}
		answer := c.Send(t, kit.Request{Path: "/api/webhooks/trigger", Body: fmt.Sprintf(`{"action":"check","scope":"stack","stackId":%q}`, st),
			Header: header})
		time.Sleep(after * time.Millisecond)
		plugins := c.Plugins()
		c.Kill()
		kit.Eventually(t, kit.StartWithin, "no plugin outlives the core", func() bool { return !slices.ContainsFunc(plugins, kit.IsAlive) })
		c.Start()
		id := kit.Decode[struct{ JobID string }](t, answer.Body).JobID
		c.Finished(t, id, "success")
		// The job that tells may have told before it was ended: then it finds nothing left to tell.
		waitForAnnouncement(t, c, id)
		all := readHistory(t, c)
		if len(all) != i+1 {
			t.Fatalf("after %d ms there are %d messages, want %d", after, len(all), i+1)
		}
		m := waitForDeliveries(t, c, all[0].ID)
		states := m.states()
		if states["webhook"] != "delivered" {
			t.Errorf("after %d ms the webhook is %+v", after, m.to(t, "webhook"))
		}
		for _, p := range listArrivals(o.hook)[posts:] {
			if webhookID(p) != m.to(t, "webhook").ID {
				t.Errorf("after %d ms the webhook got %s, not %s alone", after, webhookID(p), m.to(t, "webhook").ID)
			}
		}
		for channel, arrived := range map[string]int{"chat": len(o.bot.Messages()) - chat, "email": len(o.mail.Messages()) - mail} {
			switch state := states[channel]; {
			case state == "delivered" && arrived != 2, state == "unknown" && arrived > 2, state != "delivered" && state != "unknown":
				t.Errorf("after %d ms %s is %s, and got %d", after, channel, state, arrived)
			case state == "unknown":
				unknown++
			}
		}
	}
	t.Logf("%d deliveries were uncertain", unknown)
}

// waitForDeliveries waits until every delivery of a message has ended.
func waitForDeliveries(t testing.TB, c *kit.Core, id string) (m told) {
	t.Helper()
	kit.Eventually(t, time.Minute, "the deliveries of "+id+" end", func() bool {
		for _, m = range readHistory(t, c) {
			if m.ID == id {
				return !slices.ContainsFunc(m.Deliveries, func(d delivery) bool { return d.State == "waiting" || d.State == "sending" })
			}
		}
		return false
	})
	return m
}
