package containers

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/services/containers/webhook"
)

// hookEvent is an event of the inbox as a client gets it.
type hookEvent struct {
	id   int64
	name string
	data map[string]any
}

// hookStream is a client of the inbox.
type hookStream struct {
	testing.TB
	events chan hookEvent
	cut    context.CancelFunc
}

// inbox opens the stream and waits for its first bytes, which come once it listens.
func (e *hookEnv) inbox(query, lastID string) *hookStream {
	e.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, e.base+"/api/host-packages/webhook/deliveries/events"+query, nil)
	if err != nil {
		e.Fatal(err)
	}
	req.Header.Set("X-Test-User", "ann")
	if lastID != "" {
		req.Header.Set("Last-Event-ID", lastID)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		cancel()
		e.Fatal(err)
	}
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" {
		e.Fatalf("%d %s", resp.StatusCode, resp.Header.Get("Content-Type"))
	}
	s := &hookStream{TB: e.TB, events: make(chan hookEvent, 1000), cut: cancel}
	in := bufio.NewReader(resp.Body)
	if _, err := in.ReadString('\n'); err != nil {
		e.Fatal(err)
	}
	go s.read(resp, in)
	e.Cleanup(cancel)
	return s
}

func (s *hookStream) read(resp *http.Response, in *bufio.Reader) {
	defer close(s.events)
	defer resp.Body.Close()
	var ev hookEvent
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		key, value, _ := strings.Cut(strings.TrimRight(line, "\n"), ": ")
		switch key {
		case "id":
			ev.id, _ = strconv.ParseInt(value, 10, 64)
		case "event":
			ev.name = value
		case "data":
			_ = json.Unmarshal([]byte(value), &ev.data)
		case "":
			if ev.name != "" {
				s.events <- ev
			}
			ev = hookEvent{}
		}
	}
}

func (s *hookStream) next() hookEvent {
	s.Helper()
	select {
	case ev, open := <-s.events:
		if !open {
			s.Fatal("the stream ended")
		}
		return ev
	case <-time.After(10 * time.Second):
		s.Fatal("no event came")
	}
	return hookEvent{}
}

func TestInboxStream(t *testing.T) {
	hookDialects(t, func(e *hookEnv) {
		e.setUp("team/app")
		body := hookPublished("team/app", "app")
		e.deliver("before", body)
		s := e.inbox("", "")
		e.deliver("d1", body)
		e.deliver("d1", body)
		first, second := s.next(), s.next()
		if first.name != "host_packages_delivery_event" || first.data["deliveryId"] != "d1" || first.data["type"] != webhook.EventReceived ||
			first.data["decision"] != webhook.DecisionProcessed || first.data["attemptCount"] != 1.0 {
			t.Errorf("%+v", first)
		}
		if second.data["type"] != webhook.EventRepeated || second.data["attemptCount"] != 2.0 || second.id <= first.id {
			t.Errorf("%+v", second)
		}
		s.cut()
		e.deliver("d2", body)
		e.deliver("d3", body)
		older := strconv.FormatInt(first.id-1, 10)
		s = e.inbox("?afterId="+older, strconv.FormatInt(first.id, 10))
		e.deliver("d4", body)
		for _, want := range []string{"d1", "d2", "d3", "d4"} {
			if ev := s.next(); ev.data["deliveryId"] != want {
				t.Errorf("%+v, want %s", ev, want)
			}
		}
		s.cut()
		// A cursor that is ahead of everything counts as the newest.
		s = e.inbox("?afterId=999999", "")
		e.deliver("d5", body)
		if ev := s.next(); ev.data["deliveryId"] != "d5" {
			t.Errorf("%+v", ev)
		}
		e.nothingLeaks()
		// News that was lost on the way is read from the store; if that fails, the stream says so and ends.
		err := e.store.Tx(context.Background(), "break", func(ctx context.Context) error {
			return e.store.Writer(ctx).Exec("ALTER TABLE containers_delivery_events RENAME TO containers_away").Error
		})
		if err != nil {
			t.Fatal(err)
		}
		e.svc.live.Publish(webhook.TopicDeliveries, event.Event{Data: webhook.DeliveryEvent{ID: 1 << 40}})
		if ev := s.next(); ev.name != "host_packages_delivery_events_error" || ev.data["error"] == "" {
			t.Errorf("%+v", ev)
		}
		if _, open := <-s.events; open {
			t.Error("the stream goes on after its error")
		}
	})
}

func TestInboxStreamUnderLoad(t *testing.T) {
	hookDialects(t, func(e *hookEnv) {
		e.setUp("team/app")
		const n = 120
		whole := e.inbox("", "")
		seen := map[string]int{}
		var cuts sync.WaitGroup
		cuts.Go(func() {
			last := "0"
			for len(seen) < n {
				s := e.inbox("", last)
				for range 7 {
					if len(seen) == n {
						break
					}
					ev := s.next()
					seen[ev.data["deliveryId"].(string)]++
					last = strconv.FormatInt(ev.id, 10)
				}
				s.cut()
			}
		})
		var senders sync.WaitGroup
		secret, body := e.secret(), hookPublished("team/app", "app")
		for w := range 4 {
			senders.Go(func() {
				for i := range n / 4 {
					req, _ := http.NewRequest(http.MethodPost, e.base+webhook.CallbackPath, strings.NewReader(body))
					req.Header.Set(webhook.HeaderSignature, hookSign(secret, body))
					req.Header.Set(webhook.HeaderEvent, "package")
					req.Header.Set(webhook.HeaderDelivery, "d"+strconv.Itoa(w)+"-"+strconv.Itoa(i))
					resp, err := http.DefaultClient.Do(req)
					if err != nil {
						t.Error(err)
						return
					}
					_ = resp.Body.Close()
				}
			})
		}
		senders.Wait()
		cuts.Wait()
		for id, times := range seen {
			if times != 1 {
				t.Errorf("%s came %d times", id, times)
			}
		}
		last := int64(0)
		for range n {
			ev := whole.next()
			if ev.id <= last {
				t.Errorf("%d after %d", ev.id, last)
			}
			last = ev.id
		}
		whole.cut()
	})
}

func TestInboxStreamsLeaveNothingBehind(t *testing.T) {
	hookDialects(t, func(e *hookEnv) {
		e.setUp("team/app")
		before := goleak.IgnoreCurrent()
		for range 5 {
			s := e.inbox("", "")
			s.cut()
			for range s.events {
			}
		}
		http.DefaultClient.CloseIdleConnections()
		if err := goleak.Find(before, goleak.IgnoreTopFunction("database/sql.(*DB).connectionOpener"),
			// PostgreSQL's driver reads from a connection of the pool that was opened meanwhile.
			goleak.IgnoreAnyFunction("github.com/jackc/pgx/v5/pgconn/internal/bgreader.(*BGReader).bgRead")); err != nil {
			t.Error(err)
		}
	})
}
