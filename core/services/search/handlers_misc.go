package search

import (
	"context"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/auth"
)

// TokenIDs names several access tokens.
type TokenIDs struct {
	IDs []string `json:"ids" minItems:"1" maxItems:"1000" example:"[\"a1B2\",\"c3D4\"]"`
}

type tokensStatus struct {
	Body struct {
		TokenIDs
		Enabled bool `json:"enabled" example:"false"`
	}
}

type tokensDelete struct{ Body TokenIDs }

type tokensChanged struct {
	Body struct {
		Updated int      `json:"updated"`
		Missing []string `json:"missing" doc:"Ids that there are not."`
	}
}

func (s *Service) patchTokens(ctx context.Context, in *tokensStatus) (out *tokensChanged, err error) {
	out = &tokensChanged{}
	out.Body.Updated, out.Body.Missing, err = s.ChangeTokens(ctx, in.Body.IDs, map[string]any{"enabled": in.Body.Enabled})
	return out, err
}

func (s *Service) deleteTokens(ctx context.Context, in *tokensDelete) (out *tokensChanged, err error) {
	out = &tokensChanged{}
	out.Body.Updated, out.Body.Missing, err = s.ChangeTokens(ctx, in.Body.IDs, map[string]any{"deleted_at": s.cfg.Now().UnixMilli()})
	return out, err
}

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

type topQuery struct {
	Window string `query:"window" enum:"day,month" default:"day"`
	Limit  int    `query:"limit" minimum:"1" maximum:"50" default:"10"`
}

func (s *Service) listTopTokens(ctx context.Context, in *topQuery) (*struct{ Body []TopToken }, error) {
	top, err := s.TopTokens(ctx, in.Window, in.Limit)
	return &struct{ Body []TopToken }{top}, err
}

func (s *Service) allChart(ctx context.Context, in *ChartQuery) (*struct{ Body Chart }, error) {
	return chartBody(s.readChart(ctx, scopeAll, "", in.Window))
}

func (s *Service) tokenChart(ctx context.Context, in *tokenChart) (*struct{ Body Chart }, error) {
	if _, err := s.repo.liveToken(ctx, in.ID); err != nil {
		return nil, err
	}
	return chartBody(s.readChart(ctx, scopeToken, in.ID, in.Window))
}

type keyChart struct {
	KeyPath
	ChartQuery
}

func (s *Service) keyChart(ctx context.Context, in *keyChart) (*struct{ Body Chart }, error) {
	if _, err := s.repo.liveKey(ctx, in.ID); err != nil {
		return nil, err
	}
	return chartBody(s.readChart(ctx, scopeKey, in.ID, in.Window))
}

func chartBody(c *Chart, err error) (*struct{ Body Chart }, error) {
	if err != nil {
		return nil, err
	}
	return &struct{ Body Chart }{*c}, nil
}

// handleUserLogEvents sends the requests of the caller's tokens as they end, without the upstream key.
func (s *Service) handleUserLogEvents(c *gin.Context) {
	user := auth.From(c.Request.Context()).User.ID
	s.followLog(c, func(r *RequestLog) bool {
		r.KeyID = ""
		// Asked anew for each request: tokens are made, and given to others, while a stream goes on.
		t := s.tokens.get(r.TokenID)
		return t != nil && t.owner != "" && t.owner == user && matchesFilter(c.Query("auth_token_id"), r.TokenID)
	})
}
