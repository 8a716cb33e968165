package mail_test

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/patchbay-dev/patchbay/core/plugin/client"
)

// TestStatesAreCounted: the metrics have a figure for each state.
func TestStatesAreCounted(t *testing.T) {
	forEach(t, client.DNSAbilities{Manual: true}, func(t *testing.T, s *server) {
		s.metrics = prometheus.NewRegistry()
		s.open()
		s.want(201, "", s.ada, "POST", "/api/mailboxes", nil)
		s.clock.advance(2 * time.Hour)
		for range 2 {
			s.want(201, "", s.ada, "POST", "/api/mailboxes", nil)
		}
		families, err := s.metrics.Gather()
		must(t, err)
		got := map[string]float64{}
		for _, f := range families {
			for _, m := range f.GetMetric() {
				if f.GetName() == "patchbay_mail_mailboxes" || f.GetName() == "patchbay_mail_domains" {
					got[f.GetName()+" "+m.GetLabel()[0].GetValue()] = m.GetGauge().GetValue()
				}
			}
		}
		for name, want := range map[string]float64{
			"patchbay_mail_mailboxes active": 2, "patchbay_mail_mailboxes expired": 1, "patchbay_mail_mailboxes destroying": 0,
			"patchbay_mail_domains active": 1, "patchbay_mail_domains disabled": 0,
		} {
			if n, there := got[name]; !there || n != want {
				t.Errorf("%s is %v, want %v", name, n, want)
			}
		}
	})
}
