package mail_test

import (
	"context"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
)

// interrupter is a provider in front of another one. before, unless it is nil, runs once, before the next call of one of its methods, and
// named before the next look at the name of its plugin.
type interrupter struct {
	client.DNS
	before, named func()
}

// interrupt puts an interrupter in front of the provider, by a start of the core.
func (s *server) interrupt() *interrupter {
	s.t.Helper()
	i := &interrupter{DNS: s.dns}
	s.provider = i
	s.open()
	s.remount()
	return i
}

func (i *interrupter) runBefore() { runOnce(&i.before) }

// runOnce calls a function, unless it is nil, and forgets it.
func runOnce(f *func()) {
	if run := *f; run != nil {
		*f = nil
		run()
	}
}

func (i *interrupter) Pin() (client.DNS, string) {
	runOnce(&i.named)
	_, plugin := i.DNS.Pin()
	return i, plugin
}

func (i *interrupter) EnableRouting(ctx context.Context, zoneID, host string) error {
	i.runBefore()
	return i.DNS.EnableRouting(ctx, zoneID, host)
}

func (i *interrupter) DeleteZone(ctx context.Context, zoneID string) error {
	i.runBefore()
	return i.DNS.DeleteZone(ctx, zoneID)
}

func (i *interrupter) RestoreCatchAll(ctx context.Context, zoneID string, snapshot []byte) error {
	i.runBefore()
	return i.DNS.RestoreCatchAll(ctx, zoneID, snapshot)
}

// TestMailboxIsMadeWhileCatchAllEnds: a mailbox that the catch-all makes while it ends expires with the others.
func TestMailboxIsMadeWhileCatchAllEnds(t *testing.T) {
	cfg := testkit.PostgresConfig(t)
	s := startServer(t, cfg, client.DNSAbilities{Manual: true})
	at := "/api/domains/" + text(t, s.domain("mail.localhost"), "id")
	s.want(200, "", s.admin, "POST", at+"/catch-all/enable", nil)
	end := s.post(200, s.admin, at+"/catch-all/disable", "")
	catch := func() error { _, err := s.service.FindRecipient(t.Context(), "shop@mail.localhost"); return err }
	first, second := testkit.Overlap(t, cfg, "SELECT 1 FROM mail_domains WHERE name = 'mail.localhost' FOR SHARE", end, catch)
	must(t, first)
	must(t, second)
	box := s.want(200, "", s.admin, "GET", "/api/mailboxes?status=active&status=expired", nil)["mailboxes"].([]any)[0].(dict)
	if box["address"] != "shop@mail.localhost" || box["status"] != "expired" {
		t.Errorf("the catch-all has ended and left %v", box)
	}
}

// wantRules fails unless the provider has rules for all of these addresses.
func (s *server) wantRules(addresses ...string) {
	s.t.Helper()
	for _, a := range addresses {
		if !strings.Contains(s.dns.State(), a) {
			s.t.Errorf("%s has no rule: %s", a, s.dns.State())
		}
	}
}

// TestMailboxIsRegisteredWhileCatchAllEnds: what is registered while the catch-all of a provider ends has a rule afterwards.
func TestMailboxIsRegisteredWhileCatchAllEnds(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		i := s.interrupt()
		at := "/api/domains/" + s.bind()
		register := func(status int, address string) {
			t.Helper()
			s.want(status, "", s.admin, "POST", "/api/mailboxes/ensure", dict{"address": address})
		}
		s.want(200, "", s.admin, "POST", at+"/catch-all/enable", nil)
		_, err := s.service.FindRecipient(t.Context(), "caught@example.com")
		must(t, err)
		// The rules of registered mailboxes have been made, and the catch-all is still on.
		i.before = func() { register(201, "new@example.com"); register(200, "caught@example.com") }
		s.want(200, "", s.admin, "POST", at+"/catch-all/disable", nil)
		s.wantRules("new@example.com", "caught@example.com")

		// The catch-all ends while the provider is told of a host.
		s.want(200, "", s.admin, "POST", at+"/catch-all/enable", nil)
		i.before = func() { s.want(200, "", s.admin, "POST", at+"/catch-all/disable", nil) }
		register(201, "box@desk.example.com")
		s.wantRules("box@desk.example.com")
		if n := s.countCalls("DeleteRule"); n != 0 {
			t.Errorf("%d rules were made in vain", n)
		}
	})
}

// TestMailboxIsRegisteredAsCatchAllHasEnded: whether an address needs a rule is decided when the mailbox is stored.
func TestMailboxIsRegisteredAsCatchAllHasEnded(t *testing.T) {
	cfg := testkit.PostgresConfig(t)
	s := startServer(t, cfg, routed)
	s.settings.Limits.PerUser = 10
	s.open()
	s.remount()
	s.want(200, "", s.admin, "POST", "/api/domains/"+s.bind()+"/catch-all/enable", nil)
	register := s.post(201, s.ada, "/api/mailboxes", `{"localPart": "box", "mailDomain": "example.com"}`)
	end := func() error {
		return s.store.Tx(t.Context(), "end the catch-all", func(ctx context.Context) error {
			return s.store.Writer(ctx).Exec("UPDATE mail_domains SET catch_all = FALSE").Error
		})
	}
	first, second := testkit.Overlap(t, cfg, "LOCK TABLE mail_mailboxes IN ACCESS EXCLUSIVE MODE", register, end)
	must(t, first)
	must(t, second)
	s.wantRules("box@example.com")
}
