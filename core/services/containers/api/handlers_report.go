package api

import (
	"context"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"net/http"
)

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
	rep, err := h.cfg.service.DeployReport(ctx)
	if err != nil {
		return nil, err
	}
	if rep == nil {
		return &reportAnswer{http.StatusAccepted, PendingReport{"pending", 1000}}, nil
	}
	return &reportAnswer{http.StatusOK, rep}, nil
}

func (h *handlers) postReport(ctx context.Context, _ *struct{}) (*api.Out[PendingReport], error) {
	_, err := h.cfg.service.RefreshReport(ctx)
	return api.AnswerWith(PendingReport{"pending", 1000}, err)
}
