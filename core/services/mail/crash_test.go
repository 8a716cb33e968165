package mail_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/sdk/dns"
)

// errKilled is what a call panics with: nothing that follows it happens, as when the core is killed.
var errKilled = errors.New("the core was killed")

// killer is a provider in front of another one. The core dies right after its calls of one method, which have worked.
type killer struct {
	client.DNS
	mu sync.Mutex
	at string
}

func (k *killer) killAt(method string) { k.mu.Lock(); defer k.mu.Unlock(); k.at = method }

func (k *killer) passed(method string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.at == method {
		panic(errKilled)
	}
}

func (k *killer) Pin() (client.DNS, string) {
	_, plugin := k.DNS.Pin()
	return k, plugin
}

func (k *killer) CreateZone(ctx context.Context, name string) (*dns.Zone, bool, error) {
	zone, created, err := k.DNS.CreateZone(ctx, name)
	k.passed("CreateZone")
	return zone, created, err
}

func (k *killer) DeleteZone(ctx context.Context, zoneID string) error {
	err := k.DNS.DeleteZone(ctx, zoneID)
	k.passed("DeleteZone")
	return err
}

func (k *killer) EnableRouting(ctx context.Context, zoneID, host string) error {
	err := k.DNS.EnableRouting(ctx, zoneID, host)
	k.passed("EnableRouting")
	return err
}

func (k *killer) CreateRule(ctx context.Context, zoneID, address string) (string, error) {
	id, err := k.DNS.CreateRule(ctx, zoneID, address)
	k.passed("CreateRule")
	return id, err
}

func (k *killer) DeleteRule(ctx context.Context, zoneID, ruleID string) error {
	err := k.DNS.DeleteRule(ctx, zoneID, ruleID)
	k.passed("DeleteRule")
	return err
}

func (k *killer) SetCatchAll(ctx context.Context, zoneID string) error {
	err := k.DNS.SetCatchAll(ctx, zoneID)
	k.passed("SetCatchAll")
	return err
}

func (k *killer) RestoreCatchAll(ctx context.Context, zoneID string, snapshot []byte) error {
	err := k.DNS.RestoreCatchAll(ctx, zoneID, snapshot)
	k.passed("RestoreCatchAll")
	return err
}

// killed runs a request during which the core dies after a call of method, and then starts the service again, whose job runs.
func (s *server) killed(k *killer, method, path string) {
	s.t.Helper()
	k.killAt(method)
	s.want(500, "internal", s.admin, "POST", path, dict{"mailDomain": "example.com", "localPart": "a"})
	k.killAt("")
	s.open()
	s.remount()
	s.clock.advance(time.Hour)
	s.cleanUp()
}

// TestKilledInTheMiddle: whichever step of the provider was the last one, the restarted core goes on or back.
func TestKilledInTheMiddle(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		k := &killer{DNS: s.dns}
		s.provider = k
		s.open()
		s.remount()
		status := func() (id, status string) {
			t.Helper()
			for _, d := range s.want(200, "", s.admin, "GET", "/api/domains", nil)["domains"].([]any) {
				if d := d.(dict); d["mailDomain"] == "example.com" {
					return d["id"].(string), d["status"].(string)
				}
			}
			return "", ""
		}
		for _, method := range []string{"CreateZone", "EnableRouting"} {
			s.killed(k, method, "/api/domains/bind")
			id, got := status()
			if got != "active" {
				t.Fatalf("after %s the domain is %q", method, got)
			}
			if method == "CreateZone" {
				// Nobody knows who has made the zone: it is not deleted.
				s.want(204, "", s.admin, "POST", "/api/domains/"+id+"/delete", nil)
				must(t, s.dns.DeleteZone(t.Context(), "zone-example.com"))
				must(t, s.store.Tx(t.Context(), "forget the domain", func(ctx context.Context) error {
					return s.store.Writer(ctx).Exec("DELETE FROM mail_domains WHERE id = ?", id).Error
				}))
			}
		}
		id, _ := status()
		at := "/api/domains/" + id
		before := s.dns.State()

		// A reservation leaves neither a mailbox nor a rule.
		s.killed(k, "CreateRule", "/api/mailboxes")
		if got := s.dns.State(); got != before {
			t.Fatalf("got %s, want %s", got, before)
		}
		box := text(t, s.want(201, "", s.admin, "POST", "/api/mailboxes", dict{"localPart": "a", "mailDomain": "example.com"}), "id")
		withRule := s.dns.State()

		s.killed(k, "SetCatchAll", at+"/catch-all/enable")
		if got := s.dns.State(); got != withRule {
			t.Fatalf("got %s, want %s", got, withRule)
		}
		s.want(200, "", s.admin, "POST", at+"/catch-all/enable", nil)
		s.killed(k, "RestoreCatchAll", at+"/catch-all/disable")
		if got := s.dns.State(); got != withRule {
			t.Fatalf("got %s, want %s", got, withRule)
		}
		if _, got := status(); got != "active" {
			t.Fatalf("the domain is %q", got)
		}
		k.killAt("DeleteRule")
		s.want(500, "internal", s.admin, "DELETE", "/api/mailboxes/"+box, nil)
		k.killAt("")
		s.clock.advance(time.Hour)
		s.cleanUp()
		if got := s.want(200, "", s.admin, "GET", "/api/mailboxes/"+box, nil); got["status"] != "destroyed" || s.dns.State() != before {
			t.Fatalf("got %v with %s", got, s.dns.State())
		}
		s.killed(k, "DeleteZone", at+"/delete")
		if _, got := status(); got != "" || s.dns.State() != "" {
			t.Fatalf("the domain is %q with %s", got, s.dns.State())
		}
	})
}

// TestMailMakesCatchAllMailboxesOnce: of many deliveries to an address that nobody has, one makes the mailbox.
func TestMailMakesCatchAllMailboxesOnce(t *testing.T) {
	forEach(t, client.DNSAbilities{Manual: true}, func(t *testing.T, s *server) {
		list := s.want(200, "", s.admin, "GET", "/api/domains", nil)["domains"].([]any)
		at := "/api/domains/" + list[0].(dict)["id"].(string)
		if _, err := s.service.FindRecipient(t.Context(), "shop-1@mail.localhost"); fault.StatusOf(err) != 404 {
			t.Fatalf("got %v", err)
		}
		s.want(200, "", s.admin, "POST", at+"/catch-all/enable", dict{"pattern": "shop-[0-9]+"})
		ids := make([]string, 8)
		var all sync.WaitGroup
		for i := range ids {
			all.Go(func() {
				box, err := s.service.FindRecipient(t.Context(), "Shop-1@desk.mail.localhost")
				if err != nil {
					t.Error(err)
				}
				ids[i] = box.MailboxID
			})
		}
		all.Wait()
		for _, id := range ids {
			if id == "" || id != ids[0] {
				t.Fatalf("got the mailboxes %q", ids)
			}
		}
		for _, other := range []string{"shop-x@mail.localhost", "postmaster@mail.localhost", "x", "shop-1@other.example",
			"shop-1@notmail.localhost"} {
			if _, err := s.service.FindRecipient(t.Context(), other); fault.StatusOf(err) != 404 {
				t.Errorf("%s: got %v", other, err)
			}
		}
		// A registered mailbox that has expired takes no mail, and the catch-all does not replace it.
		s.want(201, "", s.ada, "POST", "/api/mailboxes", dict{"localPart": "shop-2"})
		s.clock.advance(61 * time.Minute)
		if _, err := s.service.FindRecipient(t.Context(), "shop-2@mail.localhost"); fault.CodeOf(err) != "mailbox_expired" {
			t.Errorf("got %v", err)
		}
		// A member takes it over; the end of the catch-all leaves it alone.
		s.want(409, "mailbox_exists", s.ada, "POST", "/api/mailboxes/ensure", dict{"address": "shop-1@desk.mail.localhost"})
		if got := s.want(200, "", s.admin, "POST", "/api/mailboxes/ensure",
			dict{"address": "shop-1@desk.mail.localhost"}); got["source"] != "registered" || got["createdVia"] != "system" ||
			got["expiresAt"] != nil {
			t.Fatalf("got %v", got)
		}
		_, err := s.service.FindRecipient(t.Context(), "shop-3@mail.localhost")
		must(t, err)
		s.want(200, "", s.admin, "POST", at+"/catch-all/disable", nil)
		if _, err := s.service.FindRecipient(t.Context(), "shop-3@mail.localhost"); fault.CodeOf(err) != "mailbox_expired" {
			t.Errorf("got %v", err)
		}
		if box, err := s.service.FindRecipient(t.Context(), "shop-1@desk.mail.localhost"); err != nil || box.MailboxID != ids[0] {
			t.Errorf("got %v, %v", box, err)
		}
	})
}
