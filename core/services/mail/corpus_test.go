package mail

import (
	"fmt"
	"net/http"
	"net/smtp"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/mailcorpus"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
)

// TestPublicMessages: the messages of the corpus are taken in by both ways, listed and shown, and their raw bytes stay as they were.
func TestPublicMessages(t *testing.T) {
	all := mailcorpus.Messages(t)
	if len(all) < 300 {
		t.Fatalf("the corpus has %d messages", len(all))
	}
	r := newReceiver(t, testkit.SQLiteConfig(t))
	r.newMailbox("ada", "http")
	r.newMailbox("ada", "smtp")
	client, err := smtp.Dial(r.svc.SMTPAddresses()[0])
	r.must(err)
	defer client.Close()
	posted, sent := map[string]string{}, map[string]string{}
	for name, raw := range all {
		if got := r.post("http@desk.inbox.test", raw, inboundSecret); got.status != http.StatusOK || got.list("accepted")[0]["messageId"] == nil {
			t.Errorf("%s by HTTP: %d %s", name, got.status, got.body)
		}
		posted[raw] = name
		wire := strings.TrimSuffix(strings.ReplaceAll(strings.ReplaceAll(raw, "\r\n", "\n"), "\n", "\r\n"), "\r\n") + "\r\n"
		if strings.Contains(strings.ReplaceAll(wire, "\r\n", ""), "\r") {
			// SMTP refuses a bare CR, which another server may take for the end of a line.
			continue
		}
		r.must(client.Mail("bounce@example.com"))
		r.must(client.Rcpt("smtp@desk.inbox.test"))
		w, err := client.Data()
		r.must(err)
		_, err = w.Write([]byte(wire))
		r.must(err)
		if err := w.Close(); err != nil {
			t.Errorf("%s by SMTP: %v", name, err)
		}
		sent[wire] = name
	}
	if len(sent) < 300 {
		t.Errorf("%d messages were sent by SMTP", len(sent))
	}
	t.Logf("%d messages by HTTP, %d by SMTP", len(posted), len(sent))
	statuses := map[any]int{}
	for mailbox, want := range map[string]map[string]string{"http": posted, "smtp": sent} {
		r.eachMessage("ada:member", mailbox+"@desk.inbox.test", func(item map[string]any) {
			at := "/api/messages/" + item["id"].(string)
			raw := r.get("ada:member", at+"/raw").body
			name, known := want[raw]
			if !known {
				t.Errorf("by %s, %v is not as it was sent", mailbox, item["subject"])
			}
			delete(want, raw)
			statuses[item["parseStatus"]]++
			r.showMessage(name, at)
		})
		for _, name := range want {
			t.Errorf("by %s, %s is missing", mailbox, name)
		}
	}
	t.Logf("by status: %v", statuses)
}

// eachMessage calls do with the messages of a mailbox.
func (r *receiver) eachMessage(user, address string, do func(item map[string]any)) {
	r.Helper()
	for cursor := ""; ; {
		page := r.get(user, "/api/messages?limit=200&mailbox="+address+"&cursor="+cursor)
		for _, item := range page.list("messages") {
			do(item)
		}
		next, more := page.json["nextCursor"].(string)
		if !more {
			return
		}
		cursor = next
	}
}

// showMessage asks for everything that can be shown of a message.
func (r *receiver) showMessage(name, at string) {
	r.Helper()
	detail, _ := r.get("ada:member", at).json["message"].(map[string]any)
	if got := r.call("ada:member", http.MethodGet, at+"/html", ""); detail["html"] != nil && got.status != http.StatusOK ||
		got.status >= http.StatusInternalServerError {
		r.Errorf("the HTML of %s: %d %s", name, got.status, got.body)
	}
	attachments, _ := detail["attachments"].([]any)
	for _, a := range attachments {
		got := r.get("ada:member", at+"/attachments/"+a.(map[string]any)["id"].(string))
		if size := a.(map[string]any)["sizeBytes"]; fmt.Sprint(size) != fmt.Sprint(float64(len(got.body))) {
			r.Errorf("an attachment of %s has %d bytes, want %v", name, len(got.body), size)
		}
	}
}
