package api

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
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

// deployHandlers checks the deployment, one check at a time, and keeps the last report.
type deployHandlers struct {
	domains  domainReader
	settings func() Settings
	now      func() time.Time
	checking sync.Mutex
	last     atomic.Pointer[DeployReport]
}

// LastDeployReport returns the last report of this process, nil if there is none.
func (h *deployHandlers) LastDeployReport() *DeployReport { return h.last.Load() }

// CheckDeployment checks what mail from other servers needs to arrive here. It takes up to some fifteen seconds.
func (h *deployHandlers) CheckDeployment(ctx context.Context) (*DeployReport, error) {
	rows, err := h.domains.ListDomains(ctx)
	if err != nil {
		return nil, err
	}
	cfg := h.settings().Deploy
	cfg.Now = h.now
	for _, d := range rows {
		if d.Status != domain.Disabled && !d.Routed && !dns.IsLocal(d.Name) {
			cfg.Domains = append(cfg.Domains, d.Name)
		}
	}
	h.checking.Lock()
	defer h.checking.Unlock()
	report := &DeployReport{Checks: deploycheck.Run(ctx, cfg), GeneratedAt: api.TimeOf(h.now())}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	h.last.Store(report)
	return report, nil
}

// deployAPI declares the endpoint of the deploy check.
func (h *deployHandlers) deployAPI(a *api.API) {
	api.Register(a, withText(newOperation("deploy-check", http.MethodGet, "/api/deploy-check", tagDomains, httpd.Admin,
		"Check what mail from other servers needs to arrive"),
		"Looks up the MX records of the domains, the addresses of the host that they name and their reverse names, connects to port 25 of these addresses, and reads the certificate. It takes up to some fifteen seconds."),
		func(ctx context.Context, _ *struct{}) (*api.Out[DeployReport], error) {
			report, err := h.CheckDeployment(ctx)
			if err != nil {
				return nil, err
			}
			return api.AnswerWith(*report, nil)
		})
}
