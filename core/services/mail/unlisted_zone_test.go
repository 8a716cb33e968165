package mail_test

import (
	"context"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/sdk/dns"
)

// listInterrupter is a provider in front of another one. after, unless it is nil, runs once, after the next call of ListZones.
type listInterrupter struct {
	client.DNS
	after func()
}

func (i *listInterrupter) Pin() (client.DNS, string) {
	_, plugin := i.DNS.Pin()
	return i, plugin
}

func (i *listInterrupter) ListZones(ctx context.Context) ([]dns.Zone, error) {
	zones, err := i.DNS.ListZones(ctx)
	runOnce(&i.after)
	return zones, err
}

// TestZoneIsListedAgainMeanwhile: a zone that the provider lists again while a person checks the domain is not taken for another one.
func TestZoneIsListedAgainMeanwhile(t *testing.T) {
	for name, in := range catchAllChanges {
		for _, path := range []string{"retry", "bind"} {
			t.Run(name+" "+path, func(t *testing.T) {
				forEach(t, routed, func(t *testing.T, s *server) {
					at := s.interruptChange(in)
					s.dns.HideZone("zone-example.com", true)
					s.want(409, "conflict", s.admin, "POST", at+"/retry", nil)
					i := &listInterrupter{DNS: s.dns, after: func() { s.dns.HideZone("zone-example.com", false) }}
					s.useProvider("dns.main", i)
					if path == "bind" {
						at = "/api/domains"
					}
					s.want(409, "conflict", s.admin, "POST", at+"/"+path, dict{"mailDomain": "example.com"})
					if got := s.domain("example.com"); !s.hasPending() || got["zoneId"] != "zone-example.com" || got["bindingSource"] != "project_bind" {
						t.Errorf("the zone is forgotten: %v", got)
					}
					s.cleanUp()
					if s.hasPending() {
						t.Error("the catch-all is not taken back")
					}
					s.wantRules(`catch-all=""`)
				})
			})
		}
	}
}

// TestZoneIsGivenUp: who has checked a domain in vain whose zone is not listed any more can disable it, and delete it with its mailboxes
// then, also if the provider makes no other zone.
func TestZoneIsGivenUp(t *testing.T) {
	for name, in := range catchAllChanges {
		for _, hidden := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				forEach(t, routed, func(t *testing.T, s *server) {
					at := s.interruptChange(in)
					ensureUnknown(s, at, 201)
					if hidden {
						s.dns.HideZone("zone-example.com", true)
					} else {
						must(t, s.dns.DeleteZone(t.Context(), "zone-example.com"))
					}
					s.want(409, "conflict", s.admin, "POST", at+"/retry", nil)
					s.dns.Fail("CreateZone", fake.DNSError(409, 0))
					s.want(409, "conflict", s.admin, "POST", "/api/domains/bind", dict{"mailDomain": "example.com"})
					got := s.want(200, "", s.admin, "POST", at+"/disable", nil)
					if got["status"] != "disabled" || got["catchAllEnabled"] != false || got["zoneId"] != nil || s.hasPending() {
						t.Errorf("got %v", got)
					}
					s.wantDomain("disabled", true)
					asked := len(s.dns.Calls())
					s.clock.advance(time.Hour)
					s.cleanUp()
					if n := len(s.dns.Calls()) - asked; n != 0 {
						t.Errorf("the provider was asked %d times again", n)
					}
					s.deleteUnknown()
					s.want(204, "", s.admin, "POST", at+"/delete", nil)
				})
			})
		}
	}
}

// TestZoneIsNotGivenUpAtOnce: nobody gives up a zone without having been told that it is not listed, be the domain in error for another
// reason or not.
func TestZoneIsNotGivenUpAtOnce(t *testing.T) {
	for status, refused := range map[string]error{"active": nil, "provisioning_error": fake.DNSError(409, 0)} {
		t.Run(status, func(t *testing.T) {
			forEach(t, routed, func(t *testing.T, s *server) {
				at := "/api/domains/" + s.bind()
				s.want(200, "", s.admin, "POST", at+"/catch-all/enable", nil)
				s.dns.Fail("EnableRouting", refused)
				s.want(200, "", s.admin, "POST", at+"/retry", nil)
				s.dns.HideZone("zone-example.com", true)
				s.want(409, "conflict", s.admin, "POST", at+"/disable", nil)
				s.cleanUp()
				s.wantZoneUnlisted(status, true)
			})
		})
	}
}

// TestDomainInErrorIsDisabledWithoutProvider: nobody needs a provider to disable a domain in error, whose catch-all is taken back later.
func TestDomainInErrorIsDisabledWithoutProvider(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		at := s.interruptChange(catchAllChanges["beginning"])
		s.dns.HideZone("zone-example.com", true)
		s.want(409, "conflict", s.admin, "POST", at+"/retry", nil)
		s.useNoProvider()
		s.want(200, "", s.admin, "POST", at+"/disable", nil)
		s.dns.HideZone("zone-example.com", false)
		s.useProvider("dns.main", s.dns)
		s.cleanUp()
		if s.hasPending() {
			t.Error("the catch-all is not taken back")
		}
		s.wantRules(`catch-all=""`)
	})
}

// TestZoneIsReplacedWithoutCatchAll: a domain goes over to another zone of its name also if there is no catch-all to be taken back.
func TestZoneIsReplacedWithoutCatchAll(t *testing.T) {
	for _, refused := range []error{nil, fake.DNSError(403, 0)} {
		forEach(t, routed, func(t *testing.T, s *server) {
			at := "/api/domains/" + s.bind()
			s.want(201, "", s.ada, "POST", "/api/mailboxes", dict{"localPart": "box", "mailDomain": "example.com"})
			must(t, s.dns.DeleteZone(t.Context(), "zone-example.com"))
			s.want(200, "", s.admin, "POST", at+"/retry", nil)
			s.wantDomain("provisioning_error", true)
			s.dns.AddZone("example.com", "kept")
			s.dns.Fail("EnableRouting", refused)
			if got := s.want(200, "", s.admin, "POST", at+"/retry", nil); got["status"] != "active" || got["bindingSource"] != "catalog" ||
				got["zoneId"] != "zone-example.com-2" {
				t.Errorf("got %v", got)
			}
			s.wantDomain("active", false)
			s.wantRules("rules=[box@example.com]", `catch-all="kept"`)
		})
	}
}

// TestZoneIsMadeAgainWithoutCatchAll: who binds such a domain has the zone made again. One that is hidden is kept.
func TestZoneIsMadeAgainWithoutCatchAll(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		at := "/api/domains/" + s.bind()
		s.want(201, "", s.ada, "POST", "/api/mailboxes", dict{"localPart": "box", "mailDomain": "example.com"})
		s.dns.HideZone("zone-example.com", true)
		s.want(200, "", s.admin, "POST", at+"/retry", nil)
		s.want(200, "", s.admin, "POST", "/api/domains/bind", dict{"mailDomain": "example.com"})
		if got := s.domain("example.com"); got["status"] != "provisioning_error" || got["zoneId"] != "zone-example.com" ||
			got["bindingSource"] != "project_bind" {
			t.Errorf("got %v", got)
		}
		s.dns.HideZone("zone-example.com", false)
		must(t, s.dns.DeleteZone(t.Context(), "zone-example.com"))
		if got := s.want(200, "", s.admin, "POST", "/api/domains/bind", dict{"mailDomain": "example.com"}); got["status"] != "active" ||
			got["bindingSource"] != "project_bind" {
			t.Errorf("got %v", got)
		}
		s.wantRules("rules=[box@example.com]")
	})
}

// TestZoneIsReplacedAndProviderLimits: the mailboxes get their rules when the provider may be asked again.
func TestZoneIsReplacedAndProviderLimits(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		at := "/api/domains/" + s.bind()
		s.want(201, "", s.ada, "POST", "/api/mailboxes", dict{"localPart": "box", "mailDomain": "example.com"})
		must(t, s.dns.DeleteZone(t.Context(), "zone-example.com"))
		s.dns.AddZone("example.com", "")
		s.dns.Fail("CreateRule", fake.DNSError(429, time.Minute))
		s.want(429, "rate_limited", s.admin, "POST", at+"/retry", nil)
		s.clock.advance(time.Minute)
		s.cleanUp()
		s.wantDomain("active", false)
		s.wantRules("rules=[box@example.com]")
	})
}

// TestZoneOfRecordsIsReplaced: so it is where the provider keeps records. A catch-all, which is not at such a provider, stays on.
func TestZoneOfRecordsIsReplaced(t *testing.T) {
	forEach(t, client.DNSAbilities{CreateZones: true}, func(t *testing.T, s *server) {
		at := "/api/domains/" + s.bind()
		s.want(200, "", s.admin, "POST", at+"/catch-all/enable", nil)
		must(t, s.dns.DeleteZone(t.Context(), "zone-example.com"))
		s.dns.AddZone("example.com", "")
		if got := s.want(200, "", s.admin, "POST", at+"/retry", nil); got["status"] != "active" || got["catchAllEnabled"] != true ||
			got["zoneId"] != "zone-example.com-2" {
			t.Errorf("got %v", got)
		}
		s.wantRules("mx.example.com")
	})
}

// TestKilledWhileZoneIsReplaced: whichever step of the provider was the last one, the restarted core goes on in the new zone. Of one that
// was made, and not noted, it knows when a person checks the domain.
func TestKilledWhileZoneIsReplaced(t *testing.T) {
	for name, in := range catchAllChanges {
		for _, method := range []string{"CreateZone", "EnableRouting", "CreateRule"} {
			t.Run(name+" "+method, func(t *testing.T) {
				forEach(t, routed, func(t *testing.T, s *server) {
					at := s.interruptChange(in)
					on := s.domain("example.com")["catchAllEnabled"].(bool)
					ensureUnknown(s, at, 201)
					must(t, s.dns.DeleteZone(t.Context(), "zone-example.com"))
					s.want(409, "conflict", s.admin, "POST", at+"/retry", nil)
					k := &killer{DNS: s.dns}
					s.provider = k
					s.restart()
					s.killed(k, method, "/api/domains/bind")
					if method == "CreateZone" {
						s.wantZoneUnlisted("provisioning_error", on)
						s.want(200, "", s.admin, "POST", at+"/retry", nil)
					}
					s.wantDomain("active", false)
					if s.hasPending() {
						t.Error("something is left to do")
					}
					s.wantRules("rules=[" + unknownBox + "]")
				})
			})
		}
	}
}
