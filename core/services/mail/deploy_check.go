package mail

import (
	"context"
	"net/http"
	"sync"

	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/mail/authresult"
	"github.com/patchbay-dev/patchbay/core/services/mail/deploycheck"
	"github.com/patchbay-dev/patchbay/core/services/mail/domain"
	"github.com/patchbay-dev/patchbay/sdk/dns"
)

// DeployReport is what the deploy check found.
type DeployReport struct {
	GeneratedAt api.Time              `json:"generatedAt"`
	Checks      []deploycheck.Finding `json:"checks" nullable:"false"`
}

// Failed returns how many checks failed.
func (r *DeployReport) Failed() (n int) {
	for _, c := range r.Checks {
		if c.Status == deploycheck.Fail {
			n++
		}
	}
	return n
}

// deployReports keeps the last report, and has one made at a time.
type deployReports struct {
	making sync.Mutex
	mu     sync.Mutex
	last   *DeployReport
}

func (r *deployReports) get() *DeployReport {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}

func (r *deployReports) set(report *DeployReport) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = report
}

// LastDeployReport returns the last report of this process, nil if there is none.
func (s *Service) LastDeployReport() *DeployReport { return s.reports.get() }

// CheckDeployment checks what mail from other servers needs to arrive here. It takes up to some fifteen seconds.
func (s *Service) CheckDeployment(ctx context.Context) (*DeployReport, error) {
	rows, err := s.domains.ListDomains(ctx)
	if err != nil {
		return nil, err
	}
	set := s.state.Load().settings
	cfg := deploycheck.Config{Resolver: authresult.NewResolver(set.Resolver), Host: set.mxHost(), Now: s.cfg.Now}
	for _, d := range rows {
		if d.Status != domain.Disabled && !d.Routed && !dns.IsLocal(d.Name) {
			cfg.Domains = append(cfg.Domains, d.Name)
		}
	}
	for _, l := range set.SMTP {
		cfg.Listeners = append(cfg.Listeners, deploycheck.Listener{Address: l.Listen, Hostname: l.Hostname, CertFile: l.TLSCert,
			KeyFile: l.TLSKey})
	}
	s.reports.making.Lock()
	defer s.reports.making.Unlock()
	report := &DeployReport{Checks: deploycheck.Run(ctx, cfg), GeneratedAt: api.TimeOf(s.cfg.Now())}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.reports.set(report)
	return report, nil
}

// deployAPI declares the endpoint of the deploy check.
func (s *Service) deployAPI(a *api.API) {
	api.Register(a, withText(newOperation("deploy-check", http.MethodGet, "/api/deploy-check", tagDomains, httpd.Admin,
		"Check what mail from other servers needs to arrive"),
		"Looks up the MX records of the domains, the addresses of the host that they name and their reverse names, connects to port 25 of these addresses, and reads the certificate. It takes up to some fifteen seconds."),
		func(ctx context.Context, _ *struct{}) (*struct{ Body DeployReport }, error) {
			report, err := s.CheckDeployment(ctx)
			if err != nil {
				return nil, err
			}
			return &struct{ Body DeployReport }{*report}, nil
		})
}
