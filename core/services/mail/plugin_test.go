package mail_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
)

// swapPlugin gives the instance another plugin, which knows nothing of what the former one has set up, by a reload.
func (s *server) swapPlugin(name string, can client.DNSAbilities) (former *fake.DNS) {
	s.t.Helper()
	former = s.dns
	s.dns = fake.NewDNS(can)
	s.dns.Plugin = name
	s.useProvider(s.settings.DNS, s.dns)
	return former
}

// useProvider names an instance in the settings, by a reload.
func (s *server) useProvider(ref string, provider client.DNS) {
	s.t.Helper()
	s.settings.DNS = ref
	commit, err := s.service.Prepare(s.settings, provider, s.access)
	must(s.t, err)
	commit()
}

// useNoProvider takes the provider out of the settings, by a reload.
func (s *server) useNoProvider() {
	s.t.Helper()
	s.useProvider("", nil)
}

// domain returns a domain as the API has it. Pages must know what it says.
func (s *server) domain(name string) dict {
	s.t.Helper()
	for _, d := range s.want(200, "", s.admin, "GET", "/api/domains", nil)["domains"].([]any) {
		if d := d.(dict); d["mailDomain"] == name {
			if why, ok := d["lastProvisionError"].(string); ok {
				wantPageText(s.t, why)
			}
			return d
		}
	}
	s.t.Fatalf("there is no domain %s", name)
	return nil
}

// TestInstanceGetsAnotherPlugin: the plugin behind the same reference is another provider. It is not asked for what the former one has
// set up, and sets everything up when the domain is tried again.
func TestInstanceGetsAnotherPlugin(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		at := "/api/domains/" + s.bind()
		s.want(201, "", s.ada, "POST", "/api/mailboxes", dict{"localPart": "box", "mailDomain": "example.com"})
		desk := text(t, s.want(201, "", s.ada, "POST", "/api/mailboxes",
			dict{"localPart": "box", "subdomain": "desk", "mailDomain": "example.com"}), "id")
		s.want(200, "", s.admin, "POST", at+"/catch-all/enable", nil)
		_, err := s.service.FindRecipient(t.Context(), "caught@example.com")
		must(t, err)
		former := s.swapPlugin("other", routed)
		s.dns.AddZone("example.com", "kept")
		before, formerState := s.dns.State(), former.State()

		const forMembers, forAdmins = "The mail domain example.com is being changed; ask an administrator.", "gives up what the former one"
		for _, c := range []struct{ key, method, path, message string }{
			{s.ada, "POST", "/api/mailboxes", forMembers},
			{s.admin, "POST", "/api/mailboxes", forAdmins},
			{s.ada, "DELETE", "/api/mailboxes/" + desk, forMembers},
			{s.admin, "POST", at + "/catch-all/disable", forAdmins},
		} {
			got := s.want(409, "conflict", c.key, c.method, c.path, dict{"localPart": "new", "subdomain": "desk", "mailDomain": "example.com"})
			if !strings.Contains(text(t, got, "message"), c.message) {
				t.Errorf("%s %s: got %v, want %q", c.method, c.path, got, c.message)
			}
		}
		if got := s.dns.State(); got != before {
			t.Errorf("the other provider got what belongs to the former one: %s", got)
		}

		got := s.want(200, "", s.admin, "POST", at+"/retry", nil)
		if got["status"] != "active" || got["catchAllEnabled"] != false || got["bindingSource"] != "catalog" {
			t.Errorf("got %v", got)
		}
		s.wantRules("hosts=[example.com]", "rules=[box@example.com]", `catch-all="kept"`)
		if _, err := s.service.FindRecipient(t.Context(), "caught@example.com"); err == nil {
			t.Error("a mailbox of the former catch-all takes mail")
		}
		s.clock.advance(2 * time.Minute)
		s.cleanUp()
		if got := s.want(200, "", s.ada, "GET", "/api/mailboxes/"+desk, nil); got["status"] != "destroyed" {
			t.Errorf("got %v", got)
		}
		if got := former.State(); got != formerState {
			t.Errorf("the former provider was asked: %s", got)
		}
		// The zone was not made by this provider.
		s.want(409, "conflict", s.admin, "POST", at+"/delete", nil)
	})
}

// TestAnotherPluginHasNoZone: a domain whose zone the other provider does not have is in error, and its way back is open.
func TestAnotherPluginHasNoZone(t *testing.T) {
	forEach(t, client.DNSAbilities{CreateZones: true}, func(t *testing.T, s *server) {
		at := "/api/domains/" + s.bind()
		s.swapPlugin("other", client.DNSAbilities{CreateZones: true})
		s.want(409, "conflict", s.admin, "POST", at+"/delete", nil)
		s.dns.Fail("FindZone", fake.DNSError(429, time.Minute))
		s.want(429, "rate_limited", s.admin, "POST", at+"/retry", nil)
		if got := s.domain("example.com"); got["status"] != "provisioning_error" {
			t.Errorf("nothing is set up: %v", got)
		}
		s.want(200, "", s.admin, "POST", at+"/retry", nil)
		s.dns.AddZone("example.com", "")
		if got := s.want(200, "", s.admin, "POST", at+"/retry", nil); got["status"] != "active" ||
			!strings.Contains(s.dns.State(), "mx.example.com") {
			t.Errorf("got %v with %s", got, s.dns.State())
		}
	})
}

// notedPlugin returns the plugin that is noted for example.com.
func (s *server) notedPlugin() (name string) {
	s.t.Helper()
	must(s.t, s.store.DB(s.t.Context()).Raw("SELECT plugin FROM mail_domains WHERE name = 'example.com'").Scan(&name).Error)
	return name
}

// forgetPlugin makes example.com a domain of a provider and of a time before plugins were noted.
func (s *server) forgetPlugin(provider string) {
	s.t.Helper()
	must(s.t, s.store.Tx(s.t.Context(), "forget plugins", func(ctx context.Context) error {
		return s.store.Writer(ctx).Exec("UPDATE mail_domains SET plugin = '', provider = ? WHERE name = 'example.com'", provider).Error
	}))
}

// TestPluginsAreNoted: a domain of a time before plugins were noted gets the one that its provider has at the next start or reload, and
// domains of other providers get none.
func TestPluginsAreNoted(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		s.bind()
		plugins, forget := s.notedPlugin, s.forgetPlugin
		if got := plugins(); got != "fake" {
			t.Errorf("provisioned with %q", got)
		}
		forget("dns.main")
		s.open()
		if got := plugins(); got != "fake" {
			t.Errorf("after a start: %q", got)
		}
		forget("dns.main")
		s.swapPlugin("other", routed)
		if got := plugins(); got != "other" {
			t.Errorf("after a reload: %q", got)
		}
		s.swapPlugin("third", routed)
		if got := plugins(); got != "other" {
			t.Errorf("what was noted has changed to %q", got)
		}
		forget("dns.former")
		s.open()
		if got := plugins(); got != "" {
			t.Errorf("a domain of another provider has %q", got)
		}
	})
}

// TestRecordsAreCheckedInTheZoneOfTheProvider: another provider than that of a domain is not asked about the zone of the former one.
func TestRecordsAreCheckedInTheZoneOfTheProvider(t *testing.T) {
	can := client.DNSAbilities{CreateZones: true}
	forEach(t, can, func(t *testing.T, s *server) {
		s.bind()
		must(t, s.store.Tx(t.Context(), "forget what was seen", func(ctx context.Context) error {
			return s.store.Writer(ctx).Exec("UPDATE mail_domains SET records = REPLACE(records, 'visible', 'missing')").Error
		}))
		s.swapPlugin("other", can)
		s.clock.advance(time.Hour)
		s.cleanUp()
		if s.countCalls("FindZone") == 0 {
			t.Error("the zone of the other provider was not looked for")
		}
		for _, c := range s.dns.Calls() {
			if c.Of == "zone-example.com" {
				t.Errorf("%s with a zone of the former provider", c.Method)
			}
		}
	})
}

// TestHostsAreEnabledOnce: when many mailboxes get rules, the provider is told of each host once.
func TestHostsAreEnabledOnce(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		at := "/api/domains/" + s.bind()
		s.want(200, "", s.admin, "POST", at+"/catch-all/enable", nil)
		for _, address := range []string{"one@desk.example.com", "two@desk.example.com", "three@example.com"} {
			box, err := s.service.FindRecipient(t.Context(), address)
			must(t, err)
			s.want(200, "", s.admin, "POST", "/api/mailboxes/ensure", dict{"address": box.Address})
		}
		before := s.countCalls("EnableRouting")
		s.want(200, "", s.admin, "POST", at+"/catch-all/disable", nil)
		if n := s.countCalls("EnableRouting") - before; n != 1 {
			t.Errorf("the provider was told %d times of one host", n)
		}
		s.wantRules("rules=[one@desk.example.com three@example.com two@desk.example.com]")
	})
}

// hasPending reports whether the journal has a change of a domain that has not ended.
func (s *server) hasPending() bool {
	s.t.Helper()
	var n int64
	must(s.t, s.store.DB(s.t.Context()).Raw("SELECT COUNT(*) FROM mail_domains WHERE operation <> ''").Scan(&n).Error)
	return n > 0
}

// TestDeletionEndsWithAnotherPlugin: a deletion that was interrupted ends, without the zone, if the provider that has it is not in use
// any more.
func TestDeletionEndsWithAnotherPlugin(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		k := &killer{DNS: s.dns}
		s.provider = k
		s.open()
		s.remount()
		at := "/api/domains/" + s.bind()
		k.killAt("DeleteZone")
		s.want(500, "internal", s.admin, "POST", at+"/delete", nil)
		s.swapPlugin("other", routed)
		s.dns.AddZone("example.com", "kept")
		s.cleanUp()
		if s.hasPending() || s.countCalls("DeleteZone") != 0 {
			t.Errorf("the deletion has not ended, or the other provider was asked: %s", s.dns.State())
		}
	})
}
