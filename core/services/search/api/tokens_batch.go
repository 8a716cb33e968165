package api

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
)

type tokenStatus struct {
	TokenPath
	Body struct {
		Enabled bool `json:"enabled" example:"false"`
	}
}

type tokenNote struct {
	TokenPath
	Body struct {
		Note string `json:"note" maxLength:"500" example:"Documentation bot"`
	}
}

type tokensStatus struct {
	Body struct {
		TokenIDs
		Enabled bool `json:"enabled" example:"false"`
	}
}

type tokensChangedBody struct {
	Updated int      `json:"updated"`
	Missing []string `json:"missing" doc:"Ids that there are not."`
}

func (h *tokenHandlers) patchTokens(ctx context.Context, in *tokensStatus) (out *api.Out[tokensChangedBody], err error) {
	out = &api.Out[tokensChangedBody]{}
	out.Body.Updated, out.Body.Missing, err = h.access.SetTokensEnabled(ctx, in.Body.IDs, in.Body.Enabled)
	return out, err
}

func (h *tokenHandlers) deleteTokens(ctx context.Context, in *struct{ Body TokenIDs }) (out *api.Out[tokensChangedBody], err error) {
	out = &api.Out[tokensChangedBody]{}
	out.Body.Updated, out.Body.Missing, err = h.access.DeleteTokens(ctx, in.Body.IDs)
	return out, err
}

type topQuery struct {
	Window string `query:"window" enum:"day,month" default:"day"`
	Limit  int    `query:"limit" minimum:"1" maximum:"50" default:"10"`
}

func (h *tokenHandlers) listTopTokens(ctx context.Context, in *topQuery) (*api.Out[[]access.TopToken], error) {
	return api.AnswerWith(h.access.TopTokens(ctx, in.Window, in.Limit))
}

// TokenIDs names several access tokens.
type TokenIDs struct {
	IDs []string `json:"ids" minItems:"1" maxItems:"1000" example:"[\"a1B2\",\"c3D4\"]"`
}
