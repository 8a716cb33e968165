package mail

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/patchbay-dev/patchbay/core/metric"
	"github.com/patchbay-dev/patchbay/core/services/mail/domain"
	"github.com/patchbay-dev/patchbay/core/services/mail/mailbox"
)

// registerStates registers how many mailboxes and domains there are by state; a nil registerer leaves them out.
func (s *Service) registerStates(reg prometheus.Registerer) {
	if reg == nil {
		return
	}
	reg.MustRegister(
		metric.NewCounts("patchbay_mail_mailboxes", "Mailboxes by state, without destroyed ones.", "state", s.countMailboxes),
		metric.NewCounts("patchbay_mail_domains", "Mail domains by state.", "state", s.countDomains),
	)
}

func (s *Service) countMailboxes(ctx context.Context) (map[string]int64, error) {
	out := map[string]int64{}
	for _, status := range []mailbox.Status{mailbox.Active, mailbox.Expired, mailbox.Destroying} {
		n, err := s.mailboxes.CountByStatus(ctx, status)
		if err != nil {
			return nil, err
		}
		out[string(status)] = n
	}
	return out, nil
}

func (s *Service) countDomains(ctx context.Context) (map[string]int64, error) {
	all, err := s.domains.ListDomains(ctx)
	out := map[string]int64{string(domain.Active): 0, string(domain.Disabled): 0, string(domain.ProvisioningError): 0}
	for _, d := range all {
		out[string(d.Status)]++
	}
	return out, err
}
