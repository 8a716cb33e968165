package api

import (
	"context"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/audit"
)

// tokenHandlers serve the access tokens to administrators.
type tokenHandlers struct {
	access *access.Access
	log    *audit.Log
}

type tokenQuery struct {
	Page       int    `query:"page" minimum:"1" maximum:"1000000" default:"1"`
	PerPage    int    `query:"per_page" minimum:"1" maximum:"200" default:"10"`
	Group      string `query:"group" maxLength:"80" doc:"Only tokens of this group."`
	NoGroup    bool   `query:"no_group" doc:"Only tokens without a group."`
	Query      string `query:"q" maxLength:"100" doc:"Looked for in ids, notes and groups, in any case."`
	Owner      string `query:"owner" maxLength:"40" doc:"bound, unbound, or the id of a user."`
	Enabled    string `query:"enabled" enum:"active,frozen"`
	QuotaState string `query:"quota_state" enum:"normal,hour,day,month"`
}

// TokenPath names an access token.
type TokenPath struct {
	ID string `path:"id" maxLength:"8" doc:"Id of the token: the part between the first two dashes."`
}

type tokenTextBody struct {
	Token string `json:"token" example:"th-a1B2-…" doc:"The whole access token."`
}

// TokenBody describes an access token to make.
type TokenBody struct {
	Note      string              `json:"note" required:"false" maxLength:"500" example:"Documentation bot"`
	Group     string              `json:"group" required:"false" maxLength:"80" example:"team"`
	OwnerID   string              `json:"owner_id" required:"false" maxLength:"40" doc:"The user whom the token belongs to." example:"usr_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
	ExpiresAt *time.Time          `json:"expires_at" required:"false" doc:"From then on the token is refused." example:"2027-01-01T00:00:00Z"`
	Limits    *access.TokenLimits `json:"limits" required:"false"`
	CacheTTL  *int64              `json:"cache_ttl" required:"false" minimum:"0" maximum:"2592000" doc:"For how many seconds answers may be given again; 0 for never." example:"3600"`
}

func (h *tokenHandlers) newToken(ctx context.Context, b TokenBody) (access.NewToken, error) {
	n := access.NewToken{Note: b.Note, Group: b.Group, OwnerID: b.OwnerID, CacheTTL: b.CacheTTL}
	if b.ExpiresAt != nil {
		n.ExpiresAt = *b.ExpiresAt
	}
	if l := b.Limits; l != nil {
		n.Own = *l
	}
	return n, h.access.CheckUser(ctx, b.OwnerID)
}

func (h *tokenHandlers) listTokens(ctx context.Context, in *tokenQuery) (*api.Out[access.TokenPage], error) {
	f := access.TokenFilter{Query: in.Query, Owner: in.Owner, Enabled: in.Enabled, QuotaState: in.QuotaState}
	switch {
	case in.NoGroup && in.Group != "":
		return nil, fault.InvalidField("no_group", "Ask for a group or for tokens without one, not for both.")
	case in.NoGroup:
		none := ""
		f.Group = &none
	case in.Group != "":
		f.Group = &in.Group
	}
	return api.AnswerWith(h.access.FindTokens(ctx, f, in.Page, in.PerPage))
}

type tokenChange struct {
	TokenPath
	Body struct {
		Note      *string             `json:"note" required:"false" maxLength:"500" example:"Documentation bot"`
		Group     *string             `json:"group" required:"false" maxLength:"80" doc:"Empty takes the token out of its group." example:"team"`
		OwnerID   *string             `json:"owner_id" required:"false" maxLength:"40" doc:"Empty takes the owner away." example:"usr_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
		ExpiresAt *string             `json:"expires_at" required:"false" doc:"A time, or empty for none." example:"2027-01-01T00:00:00Z"`
		Enabled   *bool               `json:"enabled" required:"false" example:"false"`
		Limits    *access.TokenLimits `json:"limits" required:"false" doc:"Replaces all limits of the token's own; null stands for the service's default."`
		CacheTTL  *int64              `json:"cache_ttl" required:"false" minimum:"-1" maximum:"2592000" doc:"Seconds; 0 for never, -1 for the service's default." example:"3600"`
	}
}

func (h *tokenHandlers) patchToken(ctx context.Context, in *tokenChange) (*struct{}, error) {
	c := access.TokenChange{Note: in.Body.Note, Group: in.Body.Group, OwnerID: in.Body.OwnerID, Enabled: in.Body.Enabled}
	if t := in.Body.ExpiresAt; t != nil {
		var at time.Time
		if *t != "" {
			var err error
			if at, err = time.Parse(time.RFC3339, *t); err != nil {
				return nil, fault.InvalidField("expires_at", "The expiry must be a time in RFC 3339, such as 2026-12-31T00:00:00Z.")
			}
		}
		c.ExpiresAt = &at
	}
	if ttl := in.Body.CacheTTL; ttl != nil {
		c.CacheTTL = &access.Override{Value: ttl}
		if *ttl < 0 {
			c.CacheTTL.Value = nil
		}
	}
	if l := in.Body.Limits; l != nil {
		c.RequestsHour, c.RequestsMinute = &access.Override{Value: l.RequestsHour}, &access.Override{Value: l.RequestsMinute}
		c.CreditsHour, c.CreditsDay, c.CreditsMonth = &access.Override{Value: l.CreditsHour}, &access.Override{Value: l.CreditsDay},
			&access.Override{Value: l.CreditsMonth}
	}
	return nil, h.access.AssignToken(ctx, in.ID, c)
}

func (h *tokenHandlers) getToken(ctx context.Context, in *TokenPath) (*api.Out[access.AuthToken], error) {
	return api.AnswerWith(h.access.Token(ctx, in.ID))
}

func (h *tokenHandlers) postToken(ctx context.Context, in *struct{ Body TokenBody }) (*api.Out[tokenTextBody], error) {
	n, err := h.newToken(ctx, in.Body)
	if err != nil {
		return nil, err
	}
	token, err := h.access.CreateToken(ctx, n)
	return api.AnswerWith(tokenTextBody{token}, err)
}

type tokenBatch struct {
	Body struct {
		TokenBody
		Count int `json:"count" minimum:"1" maximum:"1000" example:"10"`
	}
}

type tokenTextsBody struct {
	Tokens []string `json:"tokens"`
}

func (h *tokenHandlers) postTokens(ctx context.Context, in *tokenBatch) (*api.Out[tokenTextsBody], error) {
	n, err := h.newToken(ctx, in.Body.TokenBody)
	if err != nil {
		return nil, err
	}
	if n.Group == "" {
		return nil, fault.InvalidField("group", "Tokens that are created together need a group.")
	}
	tokens, err := h.access.CreateTokens(ctx, in.Body.Count, n)
	return api.AnswerWith(tokenTextsBody{tokens}, err)
}

func (h *tokenHandlers) showToken(ctx context.Context, in *TokenPath) (*api.Out[tokenTextBody], error) {
	token, err := h.access.TokenText(ctx, in.ID)
	return api.AnswerWith(tokenTextBody{token}, err)
}

func (h *tokenHandlers) rotateToken(ctx context.Context, in *TokenPath) (*api.Out[tokenTextBody], error) {
	token, err := h.access.RotateToken(ctx, in.ID)
	return api.AnswerWith(tokenTextBody{token}, err)
}
