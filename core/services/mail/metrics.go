package mail

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/patchbay-dev/patchbay/core/services/mail/domain"
	"github.com/patchbay-dev/patchbay/core/services/mail/mailbox"
)

// countTimeout bounds the counting for one scrape.
const countTimeout = 5 * time.Second

// stateCollector counts mailboxes and domains by state when it is asked. What cannot be counted is left out.
type stateCollector struct {
	service         *Service
	boxes, domains  *prometheus.Desc
	mailboxStatuses []mailbox.Status
	domainStatuses  []domain.Status
}

// registerStates registers the counts; a nil registerer leaves them out.
func (s *Service) registerStates(reg prometheus.Registerer) {
	if reg == nil {
		return
	}
	reg.MustRegister(&stateCollector{
		service:         s,
		boxes:           prometheus.NewDesc("patchbay_mail_mailboxes", "Mailboxes by state, without destroyed ones.", []string{"state"}, nil),
		domains:         prometheus.NewDesc("patchbay_mail_domains", "Mail domains by state.", []string{"state"}, nil),
		mailboxStatuses: []mailbox.Status{mailbox.Active, mailbox.Expired, mailbox.Destroying},
		domainStatuses:  []domain.Status{domain.Active, domain.Disabled, domain.ProvisioningError},
	})
}

// Describe implements prometheus.Collector.
func (c *stateCollector) Describe(out chan<- *prometheus.Desc) { out <- c.boxes; out <- c.domains }

// Collect implements prometheus.Collector.
func (c *stateCollector) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), countTimeout)
	defer cancel()
	for _, status := range c.mailboxStatuses {
		n, err := c.service.mailboxes.CountByStatus(ctx, status)
		if err != nil {
			return
		}
		out <- prometheus.MustNewConstMetric(c.boxes, prometheus.GaugeValue, float64(n), string(status))
	}
	all, err := c.service.domains.ListDomains(ctx)
	if err != nil {
		return
	}
	counts := map[domain.Status]int{}
	for _, d := range all {
		counts[d.Status]++
	}
	for _, status := range c.domainStatuses {
		out <- prometheus.MustNewConstMetric(c.domains, prometheus.GaugeValue, float64(counts[status]), string(status))
	}
}
