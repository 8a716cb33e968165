package mail

import (
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/mail/message"
	"github.com/patchbay-dev/patchbay/core/store"
)

// TestSignedMessages looks at which messages are read again for a signature: those whose header has one, or is not known.
func TestSignedMessages(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		r := newReceiver(t, cfg)
		r.newMailbox("ada", "box")
		for subject, test := range map[string]struct {
			header, body string
			signed       bool
		}{
			"none":   {"", "DKIM-Signature: v=1; a=rsa-sha256; d=example.com\r\n", false},
			"one":    {"dkim-signature: v=1; a=rsa-sha256; d=example.com; s=key; h=from; bh=eA==; b=eA==\r\n", "text\r\n", true},
			"large":  {"", strings.Repeat("text\r\n", 100_000), true},
			"broken": {"DKIM-Signature\r\n", "text\r\n", true},
		} {
			r.deliver("box", "From: ada@example.com\r\nSubject: "+subject+"\r\n"+test.header+"\r\n"+test.body)
			id := r.get("ada:member", "/api/messages?q=subject:"+subject).list("messages")[0]["id"].(string)
			var m message.Stored
			testkit.Eventually(t, 20*time.Second, func() bool {
				var err error
				m, err = r.svc.messages.Find(t.Context(), id)
				return err == nil && m.AuthAt > 0
			}, "the sender of "+subject+" is checked")
			if m.Signed != test.signed {
				t.Errorf("%s: signed is %v", subject, m.Signed)
			}
			if has := !strings.Contains(m.Auth, `"dkim":null`); has != (subject == "one" || subject == "broken") {
				t.Errorf("%s: %s", subject, m.Auth)
			}
		}
	})
}
