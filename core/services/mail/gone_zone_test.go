package mail_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/sdk/dns"
)

// catchAllChanges are the interruptions that leave a catch-all to be taken back.
var catchAllChanges = map[string]interruption{
	"beginning": interruptions["beginning of the catch-all"], "end": interruptions["end of the catch-all"],
}

// wantZoneUnlisted fails unless example.com is as it was, tells that the provider does not list its zone any more, and has something left
// to do.
func (s *server) wantZoneUnlisted(status string, catchAll bool) {
	s.t.Helper()
	got := s.domain("example.com")
	if !s.hasPending() || got["status"] != status || got["zoneId"] != "zone-example.com" || got["catchAllEnabled"] != catchAll ||
		got["bindingSource"] != "project_bind" ||
		!strings.Contains(text(s.t, got, "lastProvisionError"), "does not list the zone") {
		s.t.Errorf("got %v", got)
	}
}

// TestCatchAllOfZoneThatIsHidden: where the credentials of the provider may not see the zone any more, nothing is forgotten: a catch-all
// that is to be taken back is when they may again, and until then the domain says what is missing. Some providers say that there is no
// such zone, others that its credentials may not do this.
func TestCatchAllOfZoneThatIsHidden(t *testing.T) {
	for name, in := range catchAllChanges {
		for answer, refused := range map[string]error{"missing": nil, "denied": fake.DNSError(403, 0)} {
			t.Run(name+" "+answer, func(t *testing.T) {
				forEach(t, routed, func(t *testing.T, s *server) {
					at := s.interruptChange(in, refused, refused, refused)
					on := s.domain("example.com")["catchAllEnabled"].(bool)
					s.dns.HideZone("zone-example.com", true)
					s.cleanUp()
					s.wantZoneUnlisted("active", on)
					s.want(409, "conflict", s.admin, "POST", at+"/retry", nil)
					s.wantZoneUnlisted("provisioning_error", on)
					s.want(409, "conflict", s.admin, "POST", "/api/domains/bind", dict{"mailDomain": "example.com"})
					s.dns.HideZone("zone-example.com", false)
					s.clock.advance(time.Hour)
					s.cleanUp()
					if s.hasPending() {
						t.Error("the catch-all is not taken back")
					}
					s.wantRules(`catch-all=""`)
					s.wantDomain("provisioning_error", true)
					s.want(200, "", s.admin, "POST", at+"/retry", nil)
					s.wantDomain("active", false)
				})
			})
		}
	}
}

// TestCatchAllOfZoneThatIsGone: where the zone was deleted by hand, and made again, a person who tries the domain again gives up the
// former one.
func TestCatchAllOfZoneThatIsGone(t *testing.T) {
	for name, in := range catchAllChanges {
		t.Run(name, func(t *testing.T) {
			forEach(t, routed, func(t *testing.T, s *server) {
				at := s.interruptChange(in)
				must(t, s.dns.DeleteZone(t.Context(), "zone-example.com"))
				s.dns.AddZone("example.com", "kept")
				s.cleanUp()
				s.wantZoneUnlisted("active", s.domain("example.com")["catchAllEnabled"].(bool))
				if got := s.want(200, "", s.admin, "POST", at+"/retry", nil); got["status"] != "active" || got["bindingSource"] != "catalog" ||
					got["catchAllEnabled"] != false {
					t.Errorf("got %v", got)
				}
				if s.hasPending() {
					t.Error("something is left to do")
				}
				s.wantRules(`catch-all="kept"`)
			})
		})
	}
}

// TestZoneIsGoneForRequests: so it is where a person changes the domain, be there a mailbox that lacks its rule or not. Bound again, it
// has a new zone with the rules of its mailboxes.
func TestZoneIsGoneForRequests(t *testing.T) {
	for _, withMailbox := range []bool{false, true} {
		forEach(t, routed, func(t *testing.T, s *server) {
			at := "/api/domains/" + s.bind()
			s.want(201, "", s.ada, "POST", "/api/mailboxes", dict{"localPart": "ruled", "mailDomain": "example.com"})
			s.want(200, "", s.admin, "POST", at+"/catch-all/enable", nil)
			if withMailbox {
				s.want(201, "", s.ada, "POST", "/api/mailboxes", dict{"localPart": "box", "mailDomain": "example.com"})
			}
			must(t, s.dns.DeleteZone(t.Context(), "zone-example.com"))
			s.want(409, "conflict", s.admin, "POST", at+"/catch-all/disable", nil)
			s.want(409, "conflict", s.admin, "POST", at+"/retry", nil)
			s.wantZoneUnlisted("provisioning_error", true)
			if got := s.want(200, "", s.admin, "POST", "/api/domains/bind",
				dict{"mailDomain": "example.com"}); got["bindingSource"] != "project_bind" || got["catchAllEnabled"] != false {
				t.Errorf("got %v", got)
			}
			s.wantRules("ruled@example.com")
			s.wantDomain("active", false)
		})
	}
}

// TestCatchAllThatIsGone: a catch-all that the provider does not find in a zone that there is has ended as well, and the domain stays
// active.
func TestCatchAllThatIsGone(t *testing.T) {
	for name, in := range catchAllChanges {
		t.Run(name, func(t *testing.T) {
			forEach(t, routed, func(t *testing.T, s *server) {
				at := s.interruptChange(in, fake.DNSError(404, 0))
				s.cleanUp()
				s.wantDomain("active", true)
				if got := s.domain("example.com"); s.hasPending() || got["catchAllEnabled"] != false || got["zoneId"] == nil {
					t.Errorf("got %v", got)
				}
				s.want(200, "", s.admin, "POST", at+"/retry", nil)
				s.wantDomain("active", false)
			})
		})
	}
}

// TestZoneThatIsNotFoundForNow: a zone is given up only if the provider says that it does not have it.
func TestZoneThatIsNotFoundForNow(t *testing.T) {
	for name, in := range catchAllChanges {
		t.Run(name, func(t *testing.T) {
			forEach(t, routed, func(t *testing.T, s *server) {
				s.interruptChange(in, fake.DNSError(404, 0))
				s.dns.Fail("ListZones", fake.DNSError(500, 0))
				s.cleanUp()
				if got := s.domain("example.com"); !s.hasPending() || got["zoneId"] != "zone-example.com" {
					t.Errorf("got %v", got)
				}
				s.clock.advance(time.Minute)
				s.cleanUp()
				s.wantDomain("active", false)
				s.wantRules(`catch-all=""`)
			})
		})
	}
}

// otherAccount is a provider in front of another one, which finds the zone that another account has for a name first.
type otherAccount struct{ client.DNS }

func (o otherAccount) Pin() (client.DNS, string) {
	_, plugin := o.DNS.Pin()
	return o, plugin
}

func (otherAccount) FindZone(_ context.Context, name string) (*dns.Zone, error) {
	return &dns.Zone{ID: "zone-of-other-account", Name: name}, nil
}

// TestNameIsFoundInAnotherZone: a zone that the provider still lists is not given up because its name is found in another one.
func TestNameIsFoundInAnotherZone(t *testing.T) {
	for name, in := range catchAllChanges {
		t.Run(name, func(t *testing.T) {
			forEach(t, routed, func(t *testing.T, s *server) {
				s.interruptChange(in, fake.DNSError(409, 0))
				s.useProvider("dns.main", otherAccount{s.dns})
				s.cleanUp()
				if got := s.domain("example.com"); got["status"] != "active" || got["zoneId"] != "zone-example.com" ||
					got["bindingSource"] != "project_bind" {
					t.Errorf("got %v", got)
				}
			})
		})
	}
}

// TestDeletionOfZoneThatIsGone: a domain is deleted although the provider does not find its zone.
func TestDeletionOfZoneThatIsGone(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		at := "/api/domains/" + s.bind()
		s.dns.Fail("DeleteZone", fake.DNSError(404, 0))
		s.want(204, "", s.admin, "POST", at+"/delete", nil)
	})
}

// TestBindFailsAndZoneIsGone: so is one that could not be bound.
func TestBindFailsAndZoneIsGone(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		s.dns.Fail("EnableRouting", fake.DNSError(500, 0))
		s.dns.Fail("DeleteZone", fake.DNSError(404, 0))
		if got := s.want(502, "upstream_unavailable", s.admin, "POST", "/api/domains/bind",
			dict{"mailDomain": "example.com"}); got["cleanupRequired"] != nil {
			t.Errorf("got %v", got)
		}
	})
}

// TestMailboxOfZoneThatIsGone: a mailbox is destroyed although its rule has gone with the zone.
func TestMailboxOfZoneThatIsGone(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		s.bind()
		box := s.want(201, "", s.ada, "POST", "/api/mailboxes", dict{"localPart": "box", "mailDomain": "example.com"})
		must(t, s.dns.DeleteZone(t.Context(), "zone-example.com"))
		if got := s.want(200, "", s.ada, "DELETE", "/api/mailboxes/"+text(t, box, "id"), nil); got["status"] != "destroyed" {
			t.Errorf("got %v", got)
		}
	})
}
