package api

import (
	"context"
	"net/http"

	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/containers/deploycheck"
)

// reportAPI declares the endpoints of the deploy check.
func (h *handlers) reportAPI(a *api.API) {
	last := newOperation("deploy-report", http.MethodGet, "/api/deploy-check/report", tagDeploy, "The last report of the deploy check")
	last.Also = map[int]any{http.StatusOK: deploycheck.Report{}, http.StatusAccepted: PendingReport{}}
	api.Register(a, last, h.getReport)
	refresh := newOperation("deploy-report-refresh", http.MethodPost, "/api/deploy-check/report/refresh", tagDeploy, "Have a report made")
	refresh.Status = http.StatusAccepted
	api.Register(a, refresh, h.postReport)
}

// PendingReport tells that a report is being made.
type PendingReport struct {
	Status       string `json:"status" enum:"pending"`
	RetryAfterMS int    `json:"retryAfterMs" example:"1000"`
}

type reportAnswer struct {
	Status int
	Body   any
}

func (h *handlers) getReport(ctx context.Context, _ *struct{}) (*reportAnswer, error) {
	rep, err := h.s.DeployReport(ctx)
	if err != nil {
		return nil, err
	}
	if rep == nil {
		return &reportAnswer{http.StatusAccepted, PendingReport{"pending", 1000}}, nil
	}
	return &reportAnswer{http.StatusOK, rep}, nil
}

func (h *handlers) postReport(ctx context.Context, _ *struct{}) (*struct{ Body PendingReport }, error) {
	_, err := h.s.RefreshReport(ctx)
	return &struct{ Body PendingReport }{PendingReport{"pending", 1000}}, err
}
