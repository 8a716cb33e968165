package inbound

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/mail/message"
	"github.com/patchbay-dev/patchbay/core/store"
)

// ingest stores a message for a mailbox.
func (e *env) ingest(number int) ([]Delivered, error) {
	e.Helper()
	content, err := message.ReadContent(strings.NewReader(sample(number, 200)), e.TempDir())
	if err != nil {
		e.Error(err)
	}
	defer content.Close()
	to := Recipient{MailboxID: "mbx_box", OwnerID: "usr_1", Address: "box@inbox.test"}
	return e.ingester.Ingest(context.Background(), Envelope{Via: ViaSMTP, Recipients: []Recipient{to}}, content)
}

// count returns the number of stored messages.
func (e *env) count() (n int) {
	e.Helper()
	if err := e.store.DB(context.Background()).Raw("SELECT COUNT(*) FROM mail_messages").Scan(&n).Error; err != nil {
		e.Fatal(err)
	}
	return n
}

// TestMessagesAreGathered has one message wait to be durable. Those that come meanwhile are written in one transaction when there are
// enough of them, and their senders are told after the first one's.
func TestMessagesAreGathered(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		e := newEnv(t, cfg, nil)
		var clock, told atomic.Int64
		e.ingester.cfg.Now = func() time.Time { return time.UnixMilli(clock.Add(1)) }
		first, held, record := make(chan struct{}), make(chan struct{}), e.ingester.cfg.Stored
		hold := sync.OnceFunc(func() { close(first); <-held })
		e.ingester.cfg.Stored = func(all []message.Stored) { hold(); record(all) }
		var all sync.WaitGroup
		send := func(number int) {
			all.Go(func() {
				if out, err := e.ingest(number); err != nil || len(out) != 1 || out[0].MessageID == "" {
					t.Errorf("message %d: %v %v", number, out, err)
				}
				told.Add(1)
			})
		}
		send(0)
		<-first
		for number := range worthwhile {
			send(1 + number)
		}
		testkit.Eventually(t, 20*time.Second, func() bool { return e.count() == 1+worthwhile }, "the others are written")
		if n := told.Load(); n != 0 {
			t.Errorf("%d senders were told before the first message was durable", n)
		}
		close(held)
		all.Wait()
		times := map[int64]int{}
		for _, m := range e.all() {
			times[m.ReceivedAt]++
		}
		if len(times) != 2 || len(e.all()) != 1+worthwhile {
			t.Errorf("%d messages in %d transactions: %v", len(e.all()), len(times), times)
		}
	})
}

// TestCloseWhileMessagesArrive: a message is stored and announced once if, and only if, its sender is told so.
func TestCloseWhileMessagesArrive(t *testing.T) {
	e := newEnv(t, testkit.SQLiteConfig(t), nil)
	var stored, refused atomic.Int64
	var all sync.WaitGroup
	for sender := range 12 {
		all.Go(func() {
			for n := 0; ; n++ {
				switch _, err := e.ingest(1000*sender + n); {
				case err == nil:
					stored.Add(1)
				case errors.Is(err, errClosed):
					refused.Add(1)
					return
				default:
					t.Error(err)
					return
				}
			}
		})
	}
	testkit.Eventually(t, 20*time.Second, func() bool { return stored.Load() > 50 }, "messages are stored")
	e.ingester.Close()
	all.Wait()
	announced := e.all()
	if n := int(stored.Load()); n != e.count() || n != len(announced) || refused.Load() != 12 {
		t.Errorf("told %d, stored %d, announced %d, refused %d", n, e.count(), len(announced), refused.Load())
	}
	if !slices.IsSortedFunc(announced, func(a, b message.Stored) int { return int(a.Seq - b.Seq) }) {
		t.Error("not announced in their order")
	}
}
