package mail

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/mail/mailbox"
	"github.com/patchbay-dev/patchbay/core/store"
)

// count returns the number of rows of a table.
func (r *receiver) count(table string) (n int64) {
	r.Helper()
	r.must(r.store.DB(context.Background()).Raw("SELECT COUNT(*) FROM " + table).Scan(&n).Error)
	return n
}

// expectRows fails unless the tables of messages hold n messages, and nothing of others.
func (r *receiver) expectRows(n int64) {
	r.Helper()
	for _, table := range []string{"mail_messages", "mail_contents", "mail_chunks", "mail_search"} {
		if got := r.count(table); got != n {
			r.Errorf("%s has %d rows, want %d", table, got, n)
		}
	}
}

func TestRetention(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		r := newReceiver(t, cfg, func(s *Settings) { s.Limits.Messages, s.Limits.Retention = 3, time.Hour })
		r.newMailbox("ada", "box")
		r.newMailbox("ada", "other")
		for i := range 5 {
			r.deliver("box", fmt.Sprintf("Subject: %d\n\nx\n", i))
		}
		r.deliver("other", "Subject: old\n\nx\n")
		r.must(r.store.Tx(context.Background(), "age a message", func(ctx context.Context) error {
			return r.store.Writer(ctx).Exec("UPDATE mail_messages SET received_at = received_at - 4000000 WHERE subject = 'old'").Error
		}))
		if _, err := r.svc.deleteOldMessages(context.Background(), nil, nil); err != nil {
			t.Fatal(err)
		}
		if got := r.get("ada:member", "/api/messages").subjects(); got != "4;3;2;" {
			t.Errorf("left are %q", got)
		}
		r.expectRows(3)
	})
}

func TestDestroyedMailboxesKeepNoMessages(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		r := newReceiver(t, cfg)
		box := r.newMailbox("ada", "box")
		for i := range 3 {
			r.deliver("box", fmt.Sprintf("Subject: %d\n\nx\n", i))
		}
		if _, err := r.svc.mailboxes.Destroy(context.Background(), mailbox.Caller{UserID: "ada"}, box); err != nil {
			t.Fatal(err)
		}
		r.expectRows(0)
		if err := r.trySend("box", "Subject: late\n\nx\n"); err == nil {
			t.Error("a destroyed mailbox takes mail")
		}
	})
}

func TestNotificationsOfNewMail(t *testing.T) {
	r := newReceiver(t, testkit.SQLiteConfig(t), func(s *Settings) { s.Notify = []string{"notify.ops"} })
	r.newMailbox("ada", "box")
	r.deliver("box", "From: Ada <ada@example.com>\nSubject: hello\n\nx\n")
	if len(r.told.all) != 1 || r.told.all[0].Title != "New mail for box@desk.inbox.test" ||
		r.told.all[0].Text != "From ada@example.com: hello" || r.told.to[0] != "notify.ops" {
		t.Errorf("told: %+v", r.told.all)
	}
	r.told.fail = errors.New("no such channel")
	r.deliver("box", "Subject: all the same\n\nx\n")
	if got := r.get("ada:member", "/api/messages").subjects(); got != "all the same;hello;" {
		t.Errorf("stored: %q", got)
	}
	if got := r.call("", http.MethodGet, "/api/messages", ""); got.status != http.StatusUnauthorized {
		t.Errorf("nobody gets %d", got.status)
	}
}
