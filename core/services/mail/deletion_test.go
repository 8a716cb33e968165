package mail_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
)

// handover is a provider whose instance a reload gives to another plugin right after a look at the name of its plugin.
type handover struct {
	*fake.DNS
	next *fake.DNS
}

func (h *handover) DeleteZone(ctx context.Context, zoneID string) error {
	return h.next.DeleteZone(ctx, zoneID)
}

func (h *handover) Pin() (client.DNS, string) { return outdated{h.DNS}, h.Plugin }

// outdated is what such a provider is to who asks for the former plugin alone.
type outdated struct{ *fake.DNS }

func (outdated) DeleteZone(context.Context, string) error { return client.ErrOtherPlugin }

// TestDomainIsDeletedWhileProviderChanges: a zone is deleted at the provider that has it, or not at all. Then the domain stays as it was.
func TestDomainIsDeletedWhileProviderChanges(t *testing.T) {
	swap := func(s *server) {
		s.swapPlugin("other", routed)
		s.dns.AddZone("example.com", "kept")
	}
	for name, c := range map[string]struct {
		begin          func(s *server, i *interrupter)
		status         int
		deleted, other bool
	}{
		"plugin before":                   {func(s *server, _ *interrupter) { swap(s) }, 409, false, true},
		"plugin before the zone":          {func(s *server, i *interrupter) { i.before = func() { swap(s) } }, 204, true, true},
		"plugin as its name is looked at": {func(s *server, i *interrupter) { i.named = func() { swap(s) } }, 204, true, true},
		"plugin behind the handle": {func(s *server, i *interrupter) {
			h := &handover{s.dns, fake.NewDNS(routed)}
			s.dns = h.next
			s.dns.AddZone("example.com", "kept")
			s.useProvider("dns.main", h)
		}, 409, false, true},
		"plugin while the zone cannot be deleted": {func(s *server, i *interrupter) {
			s.dns.Fail("DeleteZone", fake.DNSError(500, 0))
			i.before = func() { swap(s) }
		}, 502, false, true},
		"reference before the zone": {func(s *server, i *interrupter) {
			i.before = func() { s.settings.DNS = "dns.other"; swap(s) }
		}, 204, true, true},
		"reference while the domain is hidden": {func(s *server, i *interrupter) {
			s.clock.before = func() { s.settings.DNS = "dns.other"; swap(s) }
		}, 409, false, true},
		"no provider before the zone":            {func(s *server, i *interrupter) { i.before = s.useNoProvider }, 204, true, false},
		"no provider while the domain is hidden": {func(s *server, i *interrupter) { s.clock.before = s.useNoProvider }, 409, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			forEach(t, routed, func(t *testing.T, s *server) {
				i := s.interrupt()
				at := "/api/domains/" + s.bind()
				former := s.dns
				c.begin(s, i)
				s.want(c.status, "", s.admin, "POST", at+"/delete", nil)
				s.clock.advance(time.Hour)
				s.cleanUp()
				if got := former.State(); strings.Contains(got, "example.com") == c.deleted {
					t.Errorf("the provider that had the zone has %q", got)
				}
				if got := s.dns.State(); c.other && !strings.Contains(got, `catch-all="kept"`) || s.dns != former && s.countCalls("DeleteZone") != 0 {
					t.Errorf("the other provider has %q", got)
				}
				if c.deleted {
					s.want(404, "", s.admin, "POST", at+"/retry", nil)
					return
				}
				if got := s.domain("example.com"); got["status"] != "active" || got["zoneId"] != "zone-example.com" || got["provider"] != "dns.main" {
					t.Errorf("got %v", got)
				}
				s.want(409, "conflict", s.admin, "POST", at+"/delete", nil)
			})
		})
	}
}
