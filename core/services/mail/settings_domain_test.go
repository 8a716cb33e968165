package mail_test

import (
	"testing"
	"time"
)

// wantFromSettings fails unless example.com is an active domain of the settings, which has nothing at a provider.
func (s *server) wantFromSettings() {
	s.t.Helper()
	got := s.domain("example.com")
	if got["status"] != "active" || got["bindingSource"] != "settings" || got["provider"] != nil || got["zoneId"] != nil ||
		got["lastProvisionError"] != nil {
		s.t.Errorf("got %v", got)
	}
}

// TestSettingsNameDomainThatIsBeingDeleted: a deletion that was interrupted is carried to its end, also if the settings name the domain
// meanwhile. That of the settings appears then, without a restart or a reload.
func TestSettingsNameDomainThatIsBeingDeleted(t *testing.T) {
	for name, c := range map[string]struct{ listed, reload bool }{
		"hidden, start": {}, "hidden, reload": {false, true}, "listed, start": {true, false}, "listed, reload": {true, true},
	} {
		t.Run(name, func(t *testing.T) {
			forEach(t, routed, func(t *testing.T, s *server) {
				s.interruptDeletion(1)
				if c.listed {
					s.cleanUp()
				}
				s.settings.Domains = append(s.settings.Domains, "example.com")
				if c.reload {
					s.useProvider("dns.main", s.dns)
				} else {
					s.restart()
				}
				if !s.hasPending() {
					t.Error("the deletion is forgotten")
				}
				s.clock.advance(time.Hour)
				s.cleanUp()
				s.clock.advance(time.Hour)
				s.cleanUp()
				s.wantDeleted()
				s.wantFromSettings()
			})
		})
	}
}

// TestSettingsNameDomainThatIsDeleted: a domain that the settings name is theirs as soon as a person has deleted the one that was bound
// before.
func TestSettingsNameDomainThatIsDeleted(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		at := "/api/domains/" + s.bind()
		s.settings.Domains = append(s.settings.Domains, "example.com")
		s.useProvider("dns.main", s.dns)
		s.wantDomain("active", false)
		s.want(204, "", s.admin, "POST", at+"/delete", nil)
		s.wantDeleted()
		s.wantFromSettings()
	})
}
