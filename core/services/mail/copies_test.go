package mail

import (
	"context"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/mail/mailbox"
)

// TestCopiesAreDeletedAtOnce: the raw bytes that two mailboxes share go with the last copy, also if both are deleted at the same time.
func TestCopiesAreDeletedAtOnce(t *testing.T) {
	cfg := testkit.PostgresConfig(t)
	r := newReceiver(t, cfg)
	one, two := r.newMailbox("ada", "one"), r.newMailbox("ada", "two")
	r.must(sendData(r.probe("one@desk.inbox.test", "two@desk.inbox.test"), "shared"))
	r.deliver("one", "Subject: own\n\nx\n")
	if got := r.count("mail_contents"); got != 2 {
		t.Fatalf("%d contents of three messages, of which two are copies", got)
	}
	testkit.Eventually(t, 20*time.Second, func() bool { return r.count("mail_messages WHERE auth_at = 0") == 0 }, "the senders are checked")
	destroy := func(id string) func() error {
		return func() error {
			_, err := r.svc.mailboxes.Destroy(context.Background(), mailbox.Caller{UserID: "ada"}, id)
			return err
		}
	}
	// The first has deleted its copy and waits for the message after it.
	first, second := testkit.Overlap(t, cfg, "SELECT 1 FROM mail_messages WHERE subject = 'own' FOR UPDATE", destroy(one), destroy(two))
	r.must(first)
	r.must(second)
	r.expectRows(0)
}
