package mail

import (
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/mail/message"
	"github.com/patchbay-dev/patchbay/core/services/mail/rfc822"
	"github.com/patchbay-dev/patchbay/core/store"
)

// TestAddAlone stores messages by one statement: in an active mailbox, once, and in no other one. SQLite has no such statement.
func TestAddAlone(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		r := newReceiver(t, cfg)
		id := r.newMailbox("ada", "box")
		content, err := message.ReadContent(strings.NewReader("From: ada@example.com\r\nSubject: Hello\r\n\r\nYour order\r\n"), t.TempDir())
		r.must(err)
		parsed, err := rfc822.Parse(content.Open)
		r.must(err)
		in := r.svc.messages.PrepareIncoming(content, parsed, message.Stored{Via: "smtp"})
		add := func(mailboxID, receiptID string, forget ...string) (message.Stored, bool) {
			receipt := message.Receipt{ID: receiptID, Key: []byte("key")}
			m, done, err := r.svc.messages.AddAlone(t.Context(), in,
				message.Delivery{MailboxID: mailboxID, OwnerID: "ada", Address: "box@desk.inbox.test"}, receipt, forget,
				time.UnixMilli(1_900_000_000_000))
			r.must(err)
			return m, done
		}
		count := func(table string) (n int) {
			r.must(r.store.DB(t.Context()).Raw("SELECT COUNT(*) FROM " + table).Scan(&n).Error)
			return n
		}
		if _, done := add("mbx_unknown", "dlv_0"); done ||
			count("mail_contents")+count("mail_chunks")+count("mail_messages")+count("mail_search")+count("mail_deliveries") > 0 {
			t.Error("a message is stored for a mailbox that there is not")
		}
		first, done := add(id, "dlv_1")
		if done != (cfg.Dialect == store.Postgres) {
			t.Fatalf("done is %v", done)
		}
		if !done {
			return
		}
		if found := r.get("ada:member", "/api/messages?q=order").list("messages"); len(found) != 1 || found[0]["id"] != first.ID ||
			first.Seq == 0 {
			t.Errorf("found %v, stored %+v", found, first)
		}
		if raw := r.call("ada:member", "GET", "/api/messages/"+first.ID+"/raw", "").body; !strings.HasSuffix(raw, "Your order\r\n") {
			t.Errorf("the raw bytes are %q", raw)
		}
		if _, done := add(id, "dlv_2"); done || count("mail_contents") != 1 || count("mail_deliveries") != 1 {
			t.Error("a delivery that may be a repetition is stored")
		}
		if _, done := add(id, "dlv_3", "dlv_1"); done || count("mail_deliveries") != 0 {
			t.Error("the delivery is not forgotten, or not looked at")
		}
		if again, done := add(id, "dlv_4"); !done || again.Seq == 0 || again.ID == first.ID || count("mail_contents") != 2 {
			t.Errorf("once more: %v %+v", done, again)
		}
		if received := r.get("ada:member", "/api/mailboxes/"+id).json["lastReceivedAt"]; received != "2030-03-17T17:46:40.000Z" {
			t.Errorf("received at %v", received)
		}
	})
}
