package api

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/search/audit"
)

func (h *logHandlers) allChart(ctx context.Context, in *ChartQuery) (*api.Out[audit.Chart], error) {
	return chartBody(h.log.Chart(ctx, in.Window))
}

func (h *tokenHandlers) tokenChart(ctx context.Context, in *tokenChart) (*api.Out[audit.Chart], error) {
	if err := h.access.CheckToken(ctx, in.ID); err != nil {
		return nil, err
	}
	return chartBody(h.log.TokenChart(ctx, in.ID, in.Window))
}

type keyChart struct {
	KeyPath
	ChartQuery
}

func (h *keyHandlers) keyChart(ctx context.Context, in *keyChart) (*api.Out[audit.Chart], error) {
	if err := h.keys.CheckKey(ctx, in.ID); err != nil {
		return nil, err
	}
	return chartBody(h.log.KeyChart(ctx, in.ID, in.Window))
}

func chartBody(c *audit.Chart, err error) (*api.Out[audit.Chart], error) {
	if err != nil {
		return nil, err
	}
	return api.AnswerWith(*c, nil)
}

// ChartQuery says which stretch of time a chart shows.
type ChartQuery struct {
	Window string `query:"window" enum:"1h,24h,30d" default:"24h"`
}

func (h *logHandlers) showWindows(ctx context.Context, _ *struct{}) (*api.Out[audit.Windows], error) {
	return api.AnswerWith(h.log.Windows(ctx))
}
