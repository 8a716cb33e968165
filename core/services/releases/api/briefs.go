package api

import (
	"context"
	"net/http"

	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/releases/reading"
)

type (
	briefsOutput struct{ Body []reading.BriefSummary }
	briefOutput  struct{ Body reading.BriefDetail }
	briefInput   struct {
		ID string `path:"brief_id" maxLength:"64"`
	}
)

func (h *taskHandlers) briefAPI(a *api.API) {
	api.Register(a, withText(newOperation("briefs", http.MethodGet, "/api/briefs", tagRead, httpd.APIKey, "Briefs"), "The latest first."),
		h.listBriefs)
	api.Register(a, newOperation("brief", http.MethodGet, "/api/briefs/{brief_id}", tagRead, httpd.APIKey, "A brief", http.StatusNotFound),
		h.getBrief)
}

func (h *taskHandlers) listBriefs(ctx context.Context, _ *struct{}) (*briefsOutput, error) {
	found, err := h.reading.Briefs(ctx)
	return &briefsOutput{found}, err
}

func (h *taskHandlers) getBrief(ctx context.Context, in *briefInput) (*briefOutput, error) {
	b, err := h.reading.Brief(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return &briefOutput{b}, nil
}
