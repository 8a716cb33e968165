package mail

import (
	"fmt"
	"net/smtp"
	"strings"
	"sync"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/store"
)

// caught returns the addresses of the mailboxes that the catch-all has made, sorted.
func (r *receiver) caught() (all []string) {
	r.Helper()
	for _, box := range r.get("root:admin", "/api/mailboxes?limit=200").list("mailboxes") {
		if box["source"] == "catch_all" {
			all = append(all, box["address"].(string))
		}
	}
	return all
}

// catchAll switches the catch-all of the domain on or off.
func (r *receiver) catchAll(state string) {
	r.Helper()
	id := r.get("root:admin", "/api/domains").list("domains")[0]["id"].(string)
	if got := r.call("root:admin", "POST", "/api/domains/"+id+"/catch-all/"+state, "{}"); got.status != 200 {
		r.Fatalf("%s: %d %s", state, got.status, got.body)
	}
}

// probe is a client that has named recipients and no message yet.
func (r *receiver) probe(to ...string) *smtp.Client {
	r.Helper()
	c, err := smtp.Dial(r.svc.SMTPAddresses()[0])
	r.must(err)
	r.Cleanup(func() { c.Close() })
	r.must(c.Mail("bounce@example.com"))
	for _, address := range to {
		r.must(c.Rcpt(address))
	}
	return c
}

// sendData sends a message to the recipients that were named.
func sendData(c *smtp.Client, subject string) error {
	w, err := c.Data()
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "Subject: %s\r\n\r\nbody\r\n", subject); err != nil {
		return err
	}
	return w.Close()
}

// TestProbesMakeNoMailbox: naming a recipient makes no mailbox of a catch-all; a message for it does, once.
func TestProbesMakeNoMailbox(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		r := newReceiver(t, cfg)
		r.catchAll("enable")
		probes := r.probe("one@inbox.test", "two@desk.inbox.test")
		r.must(probes.Reset())
		r.must(probes.Quit())
		dropped := r.probe("three@inbox.test")
		r.must(dropped.Close())
		if got := r.caught(); len(got) != 0 {
			t.Fatalf("probes have made %v", got)
		}
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				if err := sendData(r.probe("Shop@desk.inbox.test", fmt.Sprintf("own%d@inbox.test", i)), fmt.Sprintf("message %d", i)); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if got := r.caught(); len(got) != 9 {
			t.Errorf("eight messages have made %v", got)
		}
		if got := r.get("root:admin", "/api/messages?limit=200&mailbox=shop@desk.inbox.test").list("messages"); len(got) != 8 {
			t.Errorf("%d messages are in the mailbox that they share", len(got))
		}
		posted := r.post("four@inbox.test", "Subject: by HTTP\n\nbody\n", inboundSecret)
		if posted.status != 200 || !strings.HasPrefix(posted.list("accepted")[0]["mailboxId"].(string), "mbx_") {
			t.Errorf("by HTTP: %d %s", posted.status, posted.body)
		}

		// What is switched off between the recipient and the message refuses the message; with others beside it the sender tries again.
		r.newMailbox("ada", "box")
		alone, beside := r.probe("five@inbox.test"), r.probe("five@inbox.test", "box@desk.inbox.test")
		r.catchAll("disable")
		if err := sendData(alone, "alone"); err == nil || !strings.HasPrefix(err.Error(), "550") {
			t.Errorf("alone: %v", err)
		}
		if err := sendData(beside, "beside"); err == nil || !strings.HasPrefix(err.Error(), "451") {
			t.Errorf("beside another: %v", err)
		}
		if found := r.get("ada:member", "/api/messages").list("messages"); len(found) != 0 {
			t.Errorf("stored: %v", found)
		}
	})
}

// TestCatchAllLimit: the mailboxes that a message is going to make count, so that the sender hears at the recipient which of them
// are too many.
func TestCatchAllLimit(t *testing.T) {
	r := newReceiver(t, testkit.SQLiteConfig(t), func(s *Settings) { s.Limits.CatchAll = 2 })
	r.catchAll("enable")
	c := r.probe("one@inbox.test", "two@inbox.test")
	if err := c.Rcpt("three@inbox.test"); err == nil || !strings.HasPrefix(err.Error(), "550") {
		t.Errorf("one too many: %v", err)
	}
	r.must(sendData(c, "two"))
	if got := r.caught(); len(got) != 2 {
		t.Errorf("made %v", got)
	}
}

// TestInboundAddressesOutsideOfASCII: mail workers send addresses that headers cannot carry as encoded words.
func TestInboundAddressesOutsideOfASCII(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		r := newReceiver(t, cfg)
		r.newMailbox("ada", "box")
		const raw = "Subject: by HTTP\nFrom: ada@example.com\n\nbody\n"
		// box@desk.inbox.test and 用户@例子.test
		got := r.post("=?UTF-8?B?Ym94QGRlc2suaW5ib3gudGVzdA==?=,=?utf-8?b?55So5oi3QOS+i+WtkC50ZXN0?=", raw, inboundSecret)
		if got.status != 200 || len(got.list("accepted")) != 1 || fmt.Sprint(got.json["rejected"]) != "[用户@例子.test]" {
			t.Errorf("%d %s", got.status, got.body)
		}
		if got := r.post("=?UTF-8?B?%%%?=", raw, inboundSecret); got.status != 400 || got.json["field"] != "X-Patchbay-Envelope-To" {
			t.Errorf("what cannot be decoded: %d %s", got.status, got.body)
		}
	})
}
