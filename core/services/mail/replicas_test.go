package mail

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/internal/testing/webtest"
	"github.com/patchbay-dev/patchbay/core/services/mail/mailbox"
)

// newReplicas starts the service at two nodes that share a database, and returns the locks of the second.
func newReplicas(t *testing.T) (a, b *receiver, locks *cluster.Locks) {
	t.Helper()
	url := testkit.Postgres(t)
	start := func(id string) (*receiver, *cluster.Cluster) {
		st := testkit.SharedStore(t, url, auth.Migrations(), Migrations())
		c := testkit.OpenCluster(t, st, id, true)
		return startReceiver(t, st, c), c
	}
	a, _ = start("a")
	b, c := start("b")
	return a, b, c.Locks()
}

// TestMailAtAnotherNode: a message that one node takes in wakes the requests that wait and the streams of the other.
func TestMailAtAnotherNode(t *testing.T) {
	a, b, _ := newReplicas(t)
	a.newMailbox("ada", "box")
	waited := make(chan reply)
	go func() {
		waited <- a.call("ada:member", "GET", "/api/messages?wait=60&mailbox=box@desk.inbox.test", "")
	}()
	stream := openStream(t, a, "ada:member")
	const count = 40
	sent := make(chan error)
	for _, r := range []*receiver{a, b} {
		go func() {
			for i := range count {
				if err := r.trySend("box", fmt.Sprintf("Subject: %d\n\n%s\n", i, r.base)); err != nil {
					sent <- err
					return
				}
			}
			sent <- nil
		}()
	}
	last := int64(0)
	for range 2 * count {
		seq := stream.nextID(t)
		if seq <= last {
			t.Fatalf("message %d after %d", seq, last)
		}
		last = seq
	}
	testkit.Must(t, <-sent)
	testkit.Must(t, <-sent)
	if got := <-waited; got.status != 200 || len(got.list("messages")) == 0 {
		t.Errorf("waited for: %d %s", got.status, got.body)
	}
	// The last word: nothing but the message of the other node wakes the stream.
	b.deliver("box", "Subject: the last\n\nx\n")
	if seq := stream.nextID(t); seq <= last {
		t.Errorf("message %d after %d", seq, last)
	}
}

// eventStream reads the events of new messages.
type eventStream struct{ lines *bufio.Scanner }

// openStream returns the events of new messages from now on.
func openStream(t *testing.T, r *receiver, user string) *eventStream {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.base+"/api/messages/events", http.NoBody)
	testkit.Must(t, err)
	req.Header.Set(webtest.UserHeader, user)
	res, err := http.DefaultClient.Do(req)
	testkit.Must(t, err)
	t.Cleanup(func() { _ = res.Body.Close() })
	s := &eventStream{bufio.NewScanner(res.Body)}
	if !s.lines.Scan() { // a comment says that it has begun
		t.Fatalf("no stream: %v", s.lines.Err())
	}
	return s
}

// nextID returns the id of the next event.
func (s *eventStream) nextID(t *testing.T) int64 {
	t.Helper()
	for s.lines.Scan() {
		if id, ok := strings.CutPrefix(s.lines.Text(), "id: "); ok {
			seq, err := strconv.ParseInt(id, 10, 64)
			testkit.Must(t, err)
			return seq
		}
	}
	t.Fatalf("the stream ended: %v", s.lines.Err())
	return 0
}

// TestMessagesInOrder: while one node stores messages, no other does: a follower sees no message with a lower number than the last.
func TestMessagesInOrder(t *testing.T) {
	a, b, _ := newReplicas(t)
	a.newMailbox("ada", "box")
	sent := make(chan error, 1)
	testkit.Must(t, a.store.Tx(t.Context(), "store mail", func(ctx context.Context) error {
		if err := a.svc.messages.HoldOrder(ctx); err != nil {
			return err
		}
		go func() { sent <- b.trySend("box", "Subject: x\n\nx\n") }()
		testkit.Eventually(t, time.Minute, func() bool {
			var waiting int
			err := b.store.DB(t.Context()).Raw("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted").Scan(&waiting).Error
			return err == nil && waiting > 0
		}, "the other node waits")
		return nil
	}))
	testkit.Must(t, <-sent)
}

// TestLocksOfNodes: what is under way at one node is not done at another.
func TestLocksOfNodes(t *testing.T) {
	a, _, locks := newReplicas(t)
	id := a.newMailbox("ada", "box")
	domains, err := a.svc.domains.ListDomains(t.Context())
	testkit.Must(t, err)
	for key, refused := range map[string]func() error{
		"mail.domain/inbox.test": func() error {
			_, err := a.svc.domains.Retry(t.Context(), domains[0].ID)
			if fault.CodeOf(err) != fault.Conflict {
				return fmt.Errorf("the domain is changed meanwhile: %w", err)
			}
			return nil
		},
		"mail.mailbox/" + id: func() error {
			box, err := a.svc.mailboxes.Destroy(t.Context(), mailbox.Caller{UserID: "ada"}, id)
			if err != nil || box.Status != mailbox.Active {
				return fmt.Errorf("the mailbox is destroyed meanwhile: %s %w", box.Status, err)
			}
			return nil
		},
	} {
		lock, err := locks.TryLock(t.Context(), key)
		testkit.Must(t, err)
		if err := refused(); err != nil {
			t.Error(err)
		}
		lock.Release()
	}
	if box, err := a.svc.mailboxes.Destroy(t.Context(), mailbox.Caller{UserID: "ada"}, id); err != nil || box.Status != mailbox.Destroyed {
		t.Errorf("the mailbox is not destroyed: %s %v", box.Status, err)
	}
}
