package api

import (
	"context"
	"net/http"

	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/releases/reading"
)

type (
	briefInput struct {
		ID string `path:"brief_id" maxLength:"64"`
	}
)

func (h *taskHandlers) briefAPI(a *api.API) {
	api.Register(a, withText(newOperation("briefs", http.MethodGet, "/api/briefs", tagRead, httpd.APIKey, "Briefs"), "The latest first."),
		h.listBriefs)
	api.Register(a, newOperation("brief", http.MethodGet, "/api/briefs/{brief_id}", tagRead, httpd.APIKey, "A brief", http.StatusNotFound),
		h.getBrief)
}

func (h *taskHandlers) listBriefs(ctx context.Context, _ *struct{}) (*api.Out[[]reading.BriefSummary], error) {
	return api.AnswerWith(h.reading.Briefs(ctx))
}

func (h *taskHandlers) getBrief(ctx context.Context, in *briefInput) (*api.Out[reading.BriefDetail], error) {
	return api.AnswerWith(h.reading.Brief(ctx, in.ID))
}
