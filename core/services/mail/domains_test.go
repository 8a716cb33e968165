package mail_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
)

// routed are the abilities of a vendor that takes mail in itself.
var routed = client.DNSAbilities{CreateZones: true, MailRouting: true}

// bind binds example.com and returns the id of the domain.
func (s *server) bind() string {
	s.t.Helper()
	return text(s.t, s.want(201, "", s.admin, "POST", "/api/domains/bind", dict{"mailDomain": "Example.com"}), "id")
}

// countCalls returns how often a method of the provider was called.
func (s *server) countCalls(method string) (n int) {
	for _, c := range s.dns.Calls() {
		if c.Method == method {
			n++
		}
	}
	return n
}

// TestDomainOfCatalogIsRemoved: whatever its state, a domain that uses a zone of the catalog can be removed, once it has no mailboxes and
// no catch-all. Its zone stays, and can be used again.
func TestDomainOfCatalogIsRemoved(t *testing.T) {
	for name, can := range map[string]client.DNSAbilities{"records": {}, "rules": routed} {
		t.Run(name, func(t *testing.T) {
			forEach(t, can, func(t *testing.T, s *server) {
				zone := s.dns.AddZone("own.example", "")
				enabled := dict{"mailDomain": "own.example", "zoneId": zone}
				for round, state := range []string{"active", "disabled"} {
					got := s.want(201, "", s.admin, "POST", "/api/domains", enabled)
					at := "/api/domains/" + text(t, got, "id")
					if got["bindingSource"] != "catalog" || got["status"] != "active" {
						t.Fatalf("round %d: %v", round, got)
					}
					box := s.want(201, "", s.admin, "POST", "/api/mailboxes/ensure", dict{"address": "box@own.example"})
					s.want(409, "conflict", s.admin, "POST", at+"/delete", nil)
					s.want(200, "", s.admin, "DELETE", "/api/mailboxes/"+text(t, box, "id"), nil)
					s.cleanUp()
					s.want(200, "", s.admin, "POST", at+"/catch-all/enable", nil)
					s.want(409, "conflict", s.admin, "POST", at+"/delete", nil)
					s.want(200, "", s.admin, "POST", at+"/catch-all/disable", nil)
					if state == "disabled" {
						s.want(200, "", s.admin, "POST", at+"/disable", nil)
					}
					s.want(204, "", s.admin, "POST", at+"/delete", nil)
					s.want(204, "", s.admin, "POST", at+"/delete", nil)
					if n := len(s.want(200, "", s.admin, "GET", "/api/domains", nil)["domains"].([]any)); n != 1 {
						t.Errorf("round %d: %d domains are left", round, n)
					}
					if !strings.Contains(s.dns.State(), "own.example") || s.countCalls("DeleteZone") > 0 {
						t.Errorf("round %d: the zone is deleted: %s", round, s.dns.State())
					}
				}
				s.want(409, "conflict", s.admin, "POST",
					"/api/domains/"+text(t, s.want(200, "", s.admin, "GET", "/api/domains", nil)["domains"].([]any)[0].(dict), "id")+"/delete", nil)
			})
		})
	}
}

// TestRecordsOfDomains: a name server gets the MX records of a domain and of all below it; the answer tells that they can be
// seen.
func TestRecordsOfDomains(t *testing.T) {
	forEach(t, client.DNSAbilities{CreateZones: true}, func(t *testing.T, s *server) {
		got := s.want(201, "", s.admin, "POST", "/api/domains/bind", dict{"rootDomain": "example.com"})
		records := got["records"].([]any)
		first := records[0].(dict)
		if got["status"] != "active" || got["bindingSource"] != "project_bind" || got["zoneId"] != "zone-example.com" || len(records) != 2 ||
			first["value"] != "10 mx.example.com" || first["state"] != "visible" || records[1].(dict)["name"] != "*.example.com" {
			t.Fatalf("got %v", got)
		}
		s.want(409, "conflict", s.admin, "POST", "/api/domains/bind", dict{"mailDomain": "example.com"})
		catalog := s.want(200, "", s.admin, "GET", "/api/domains/catalog", nil)
		if item := catalog["domains"].([]any)[0].(dict); item["mailDomain"] != "example.com" || item["projectStatus"] != "active" ||
			item["providerAvailability"] != "available" {
			t.Fatalf("got %v", catalog)
		}
		// Mail that goes somewhere else at present is not diverted.
		zone := s.dns.AddZone("other.example", "")
		must(t, setMX(t, s.dns, zone, "other.example", "10 mx.elsewhere.example"))
		before := s.dns.State()
		got = s.want(201, "", s.admin, "POST", "/api/domains", dict{"mailDomain": "other.example", "zoneId": zone})
		if why := text(t, got, "lastProvisionError"); got["status"] != "provisioning_error" || !strings.Contains(why, "mx.elsewhere.example") ||
			s.dns.State() != before {
			t.Fatalf("got %v", got)
		}
		s.want(400, "invalid_argument", s.admin, "POST", "/api/domains", dict{"mailDomain": "none.example", "zoneId": zone})
		s.want(204, "", s.admin, "POST", "/api/domains/"+text(t, got, "id")+"/delete", nil)
	})
}

// TestManualRecords: without an account the answer names the records, and the domain is active.
func TestManualRecords(t *testing.T) {
	forEach(t, client.DNSAbilities{Manual: true}, func(t *testing.T, s *server) {
		got := s.want(201, "", s.admin, "POST", "/api/domains/bind", dict{"mailDomain": "example.com"})
		if first := got["records"].([]any)[0].(dict); got["status"] != "active" || got["bindingSource"] == "project_bind" ||
			first["state"] != "missing" {
			t.Fatalf("got %v", got)
		}
		got = s.want(400, "subdomain_direct_bind_not_supported", s.admin, "POST", "/api/domains/bind", dict{"mailDomain": "a.b.example.co.uk"})
		if got["recommendedApex"] != "example.co.uk" || got["recommendedMailboxSubdomain"] != "a.b" {
			t.Fatalf("got %v", got)
		}
		s.want(400, "invalid_argument", s.admin, "POST", "/api/domains/bind", dict{"mailDomain": "co.uk"})
		s.want(400, "invalid_argument", s.admin, "POST", "/api/domains/bind", dict{})
	})
}

// TestRulesOfMailboxes: a vendor that routes mail gets a rule for each mailbox, and loses it with the mailbox.
func TestRulesOfMailboxes(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		id := s.bind()
		empty := s.dns.State()
		box := s.want(201, "", s.ada, "POST", "/api/mailboxes", dict{"localPart": "a", "mailDomain": "example.com"})
		if box["routingRuleId"] == nil || !strings.Contains(s.dns.State(), "a@example.com") {
			t.Fatalf("got %v with %s", box, s.dns.State())
		}
		s.want(409, "conflict", s.admin, "POST", "/api/domains/"+id+"/delete", nil)
		// A rule that cannot be made leaves no mailbox behind, and a rule that cannot be deleted is tried again.
		for _, status := range []int{401, 409, 429, 500} {
			s.dns.Fail("CreateRule", fake.DNSError(status, 0))
			if got, body := s.call(s.ada, "POST", "/api/mailboxes", dict{"localPart": "b", "mailDomain": "example.com"}); got < 409 {
				t.Fatalf("got %d %v", got, body)
			}
			s.want(404, "", s.ada, "GET", "/api/mailboxes/resolve?address=b@example.com", nil)
		}
		s.want(201, "", s.ada, "POST", "/api/mailboxes", dict{"localPart": "b", "mailDomain": "example.com"})
		at := "/api/mailboxes/" + text(t, box, "id")
		s.dns.Fail("DeleteRule", fake.DNSError(500, 0))
		s.want(502, "upstream_unavailable", s.ada, "DELETE", at, nil)
		if got := s.want(200, "", s.ada, "GET", at, nil); got["status"] != "destroying" {
			t.Fatalf("got %v", got)
		}
		s.clock.advance(2 * time.Minute)
		s.cleanUp()
		if got := s.want(200, "", s.ada, "GET", at, nil); got["status"] != "destroyed" || strings.Contains(s.dns.State(), "a@example.com") {
			t.Fatalf("got %v with %s", got, s.dns.State())
		}
		for _, m := range s.want(200, "", s.ada, "GET", "/api/mailboxes", nil)["mailboxes"].([]any) {
			s.want(200, "", s.ada, "DELETE", "/api/mailboxes/"+m.(dict)["id"].(string), nil)
		}
		if got := s.dns.State(); got != empty {
			t.Fatalf("got %s, want %s", got, empty)
		}
		s.want(204, "", s.admin, "POST", "/api/domains/"+id+"/delete", nil)
		s.want(204, "", s.admin, "POST", "/api/domains/"+id+"/delete", nil)
		if got := s.dns.State(); got != "" {
			t.Fatalf("the zone is left: %s", got)
		}
		// The name can be bound again.
		s.bind()
	})
}

// TestCatchAllIsRestored: after the catch-all the provider does exactly what it did before; registered mailboxes have rules,
// and those of the catch-all expire.
func TestCatchAllIsRestored(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		zone := s.dns.AddZone("example.com", "forward to ada@example.net")
		at := "/api/domains/" + text(t, s.want(201, "", s.admin, "POST", "/api/domains", dict{"mailDomain": "example.com", "zoneId": zone}), "id")
		s.want(201, "", s.ada, "POST", "/api/mailboxes", dict{"localPart": "first", "mailDomain": "example.com"})
		before := s.dns.State()
		s.want(403, "forbidden", s.ada, "POST", at+"/catch-all/enable", nil)
		got := s.want(200, "", s.admin, "POST", at+"/catch-all/enable", dict{"pattern": "shop-.*"})
		if got["catchAllEnabled"] != true || got["catchAllPattern"] != "shop-.*" || !strings.Contains(s.dns.State(), `catch-all="worker"`) {
			t.Fatalf("got %v with %s", got, s.dns.State())
		}
		s.want(400, "invalid_argument", s.admin, "POST", at+"/catch-all/enable", dict{"pattern": "("})
		s.want(200, "", s.admin, "POST", at+"/catch-all/enable", nil)
		box := s.want(201, "", s.ada, "POST", "/api/mailboxes", dict{"localPart": "second", "mailDomain": "example.com"})
		if box["routingRuleId"] != nil {
			t.Fatalf("a rule beside the catch-all: %v", box)
		}
		if got := s.want(200, "", s.admin, "POST", at+"/catch-all/disable", nil); got["catchAllEnabled"] != false {
			t.Fatalf("got %v", got)
		}
		s.want(200, "", s.admin, "POST", at+"/catch-all/disable", nil)
		if !strings.Contains(s.dns.State(), "second@example.com") {
			t.Fatalf("a registered mailbox has no rule: %s", s.dns.State())
		}
		s.want(200, "", s.ada, "DELETE", "/api/mailboxes/"+text(t, box, "id"), nil)
		if got := s.dns.State(); got != before {
			t.Fatalf("got %s, want %s", got, before)
		}
		// Disabling the domain ends its catch-all, too.
		s.want(200, "", s.admin, "POST", at+"/catch-all/enable", nil)
		if got := s.want(200, "", s.admin, "POST", at+"/disable", nil); got["status"] != "disabled" || got["catchAllEnabled"] != false ||
			s.dns.State() != before {
			t.Fatalf("got %v with %s", got, s.dns.State())
		}
		s.want(409, "conflict", s.admin, "POST", at+"/catch-all/enable", nil)
		s.want(409, "conflict", s.admin, "POST", at+"/retry", nil)
		s.want(404, "not_found", s.admin, "POST", "/api/domains/dom_none/retry", nil)
	})
}

// TestFailuresOfTheProvider fails each step of each operation, and expects that what the provider has is as before, or as after
// the operation once the service has carried on.
func TestFailuresOfTheProvider(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		// A new domain is taken back, with its zone.
		for _, method := range []string{"CreateZone", "EnableRouting"} {
			for _, status := range []int{401, 403, 429, 500} {
				s.dns.Fail(method, fake.DNSError(status, time.Minute))
				want := map[int]int{429: 429}[status]
				if want == 0 {
					want = 502
				}
				s.want(want, "", s.admin, "POST", "/api/domains/bind", dict{"mailDomain": "example.com"})
				if got := s.dns.State(); got != "" {
					t.Fatalf("%s %d leaves %s", method, status, got)
				}
			}
		}
		// A refusal keeps it, and a second attempt works.
		s.dns.Fail("EnableRouting", fake.DNSError(409, 0))
		got := s.want(201, "", s.admin, "POST", "/api/domains/bind", dict{"mailDomain": "example.com"})
		at := "/api/domains/" + text(t, got, "id")
		if got["status"] != "provisioning_error" || got["lastProvisionError"] == nil {
			t.Fatalf("got %v", got)
		}
		s.want(409, "conflict", s.admin, "POST", at+"/catch-all/enable", nil)
		// A limit changes no status.
		s.dns.Fail("EnableRouting", fake.DNSError(429, time.Minute), fake.DNSError(500, 0))
		if got := s.want(429, "rate_limited", s.admin, "POST", at+"/retry", nil); got["retry_after"] != 60.0 {
			t.Fatalf("got %v", got)
		}
		if got := s.want(200, "", s.admin, "POST", at+"/retry", nil); got["status"] != "provisioning_error" {
			t.Fatalf("got %v", got)
		}
		if got := s.want(200, "", s.admin, "POST", at+"/retry", nil); got["status"] != "active" || got["lastProvisionError"] != nil {
			t.Fatalf("got %v", got)
		}
		s.dns.Fail("EnableRouting", fake.DNSError(429, time.Minute))
		s.want(429, "rate_limited", s.admin, "POST", at+"/retry", nil)
		s.dns.Fail("ListZones", fake.DNSError(429, time.Minute))
		if got := s.want(200, "", s.admin, "GET", "/api/domains/catalog", nil)["providerSync"].(dict); got["status"] != "rate_limited" ||
			got["retryAfterSeconds"] != 60.0 {
			t.Fatalf("got %v", got)
		}
		s.checkCatchAllFailures(at)
		s.dns.Fail("DeleteZone", fake.DNSError(500, 0))
		s.want(502, "upstream_unavailable", s.admin, "POST", at+"/delete", nil)
		list := s.want(200, "", s.admin, "GET", "/api/domains", nil)["domains"].([]any)
		if !slices.ContainsFunc(list, func(d any) bool { return d.(dict)["mailDomain"] == "example.com" && d.(dict)["status"] == "active" }) {
			t.Fatalf("got %v", list)
		}
		s.want(204, "", s.admin, "POST", at+"/delete", nil)
	})
}

// checkCatchAllFailures fails each step of switching the catch-all of an active domain on and off.
func (s *server) checkCatchAllFailures(at string) {
	s.t.Helper()
	before := s.dns.State()
	for _, method := range []string{"ReadCatchAll", "SetCatchAll"} {
		s.dns.Fail(method, fake.DNSError(500, 0))
		s.want(502, "upstream_unavailable", s.admin, "POST", at+"/catch-all/enable", nil)
		if got := s.dns.State(); got != before {
			s.t.Fatalf("%s leaves %s", method, got)
		}
	}
	// The way back fails as well: it is gone later.
	s.dns.Fail("SetCatchAll", fake.DNSError(500, 0))
	s.dns.Fail("RestoreCatchAll", fake.DNSError(500, 0))
	s.want(502, "upstream_unavailable", s.admin, "POST", at+"/catch-all/enable", nil)
	restores := s.countCalls("RestoreCatchAll")
	s.cleanUp()
	if s.countCalls("RestoreCatchAll") != restores+1 || s.dns.State() != before {
		s.t.Fatalf("the catch-all was not restored: %s", s.dns.State())
	}
	s.want(200, "", s.admin, "POST", at+"/catch-all/enable", nil)
	s.dns.Fail("RestoreCatchAll", fake.DNSError(500, 0))
	s.want(502, "upstream_unavailable", s.admin, "POST", at+"/catch-all/disable", nil)
	// Nobody knows what the provider does now: the end is carried on.
	s.dns.Fail("RestoreCatchAll", fake.DNSError(500, 0))
	s.dns.Fail("SetCatchAll", fake.DNSError(500, 0))
	s.want(502, "upstream_unavailable", s.admin, "POST", at+"/catch-all/disable", nil)
	s.open()
	s.cleanUp()
	if got := s.dns.State(); got != before {
		s.t.Fatalf("got %s, want %s", got, before)
	}
}
