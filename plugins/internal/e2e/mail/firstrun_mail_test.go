package mail

import (
	"net/smtp"
	"regexp"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// TestFirstRunReceivesMail: with plugin.hcl as shipped, mail to a mailbox that was made a moment ago arrives, and its code can
// be waited for.
func TestFirstRunReceivesMail(t *testing.T) {
	t.Parallel()
	kit.EachStorage(t, func(t *testing.T, s kit.Storage) {
		c := kit.NewcomerCore(t, s)
		c.Logged("SMTP listening")
		at := regexp.MustCompile(`SMTP listening: address=(\S+)`).FindStringSubmatch(c.Logs())
		if at == nil {
			t.Fatalf("the log does not name the address:\n%s", c.Logs())
		}
		c.CLI("user", "create", "-email", "ada@example.com", "-name", "Ada")
		address := strings.TrimSpace(c.CLI("mailbox", "create", "-owner", "ada@example.com"))
		if !strings.HasSuffix(address, "@mail.localhost") {
			t.Fatalf("made %q", address)
		}
		message := "From: shop@example.com\r\nTo: " + address + "\r\nSubject: Your code is 428319\r\n\r\nHello.\r\n"
		if err := smtp.SendMail(at[1], nil, "shop@example.com", []string{address}, []byte(message)); err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(c.CLI("mailbox", "wait", "-code", address)); got != "428319" {
			t.Errorf("the code is %q", got)
		}
		kit.Contains(t, c.CLI("mailbox", "list"), address, "active")
		if err := smtp.SendMail(at[1], nil, "shop@example.com", []string{"nobody@mail.localhost"}, []byte(message)); err == nil ||
			!strings.HasPrefix(err.Error(), "550 ") {
			t.Errorf("mail to an unknown address: %v", err)
		}
	})
}
