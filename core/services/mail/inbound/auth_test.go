package inbound

import (
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
)

// TestAuthIsNotOffered: AUTH is refused as a command that there is not, whenever it comes, and mail goes on.
func TestAuthIsNotOffered(t *testing.T) {
	e := newEnv(t, testkit.SQLiteConfig(t), nil)
	c := e.dial()
	c.expect("220")
	c.say("AUTH PLAIN AGEAYg==", "502 5.5.1")
	c.say("EHLO client", "250")
	for _, line := range []string{"AUTH", "AUTH LOGIN", "auth plain", "AUTH PLAIN AGEAYg==", "AUTH XOAUTH2 x y"} {
		c.say(line, "502 5.5.1")
	}
	c.write("AUTH LOGIN\r\nMAIL FROM:<ada@example.com>\r\nAUTH PLAIN\r\nRCPT TO:<box@inbox.test>\r\n")
	c.expect("502 5.5.1")
	c.expect("250")
	c.expect("502 5.5.1")
	c.expect("250")
	c.say("DATA", "354")
	c.write(sample(1, 100) + ".\r\n")
	c.expect("250")
	if got := e.all(); len(got) != 1 {
		t.Errorf("stored: %d", len(got))
	}
}
