package mail

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
)

// TestTakenListener: a listener whose address is taken does not keep the service from starting. It says who has it and which setting is
// meant, and takes mail in when the address is free.
func TestTakenListener(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	at := taken.Addr().String()
	host, port, _ := net.SplitHostPort(at)
	r := newReceiver(t, testkit.SQLiteConfig(t), func(s *Settings) {
		other := s.SMTP[0]
		other.Listen = at
		s.SMTP = append(s.SMTP, other)
	}, func(s *Settings) { s.Domains = []string{"inbox.test"} })
	down := r.svc.DownListeners()
	if len(down) != 1 || !down[0].Taken || !strings.Contains(down[0].Holder, "(process ") {
		t.Fatalf("down: %+v", down)
	}
	text := r.svc.Impaired().Error()
	for _, want := range []string{"port " + port + " on " + host + " is in use by " + down[0].Holder, "listen of smtp block 2", "Retrying every "} {
		if !strings.Contains(text, want) {
			t.Errorf("%q does not name %s", text, want)
		}
	}
	r.newMailbox("ada", "box")
	r.deliver("box", "Subject: by the other listener\n\nx\n")
	_ = taken.Close()
	testkit.Eventually(t, 20*time.Second, func() bool { return r.svc.Impaired() == nil }, "mail is taken in there too")
	if all := r.svc.SMTPAddresses(); len(all) != 2 || all[1] != at {
		t.Errorf("listening at %v", all)
	}
}
