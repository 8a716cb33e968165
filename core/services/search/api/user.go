package api

import (
	"context"
	"net/http"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/audit"
	"github.com/patchbay-dev/patchbay/core/services/search/keys"
)

// userHandlers serve what a user may see: the own tokens, their quota and their requests.
type userHandlers struct {
	access   *access.Access
	keys     *keys.Keys
	tokens   *tokenHandlers
	logs     *logHandlers
	sessions Sessions
}

// checkOwn returns an error for a token that is not one of the caller's.
func (h *userHandlers) checkOwn(ctx context.Context, id string) error {
	return h.access.CheckOwner(ctx, id, auth.From(ctx).User.ID)
}

func (h *userHandlers) userToken(ctx context.Context, _ *struct{}) (*api.Out[tokenTextBody], error) {
	text, err := h.access.FirstTokenText(ctx, auth.From(ctx).User.ID)
	return api.AnswerWith(tokenTextBody{Token: text}, err)
}

func (h *userHandlers) userTokens(ctx context.Context, _ *struct{}) (*api.Out[access.TokenPage], error) {
	return api.AnswerWith(h.access.TokensOf(ctx, auth.From(ctx).User.ID))
}

func (h *userHandlers) userShow(ctx context.Context, in *TokenPath) (*api.Out[tokenTextBody], error) {
	if err := h.checkOwn(ctx, in.ID); err != nil {
		return nil, err
	}
	return h.tokens.showToken(ctx, in)
}

func (h *userHandlers) userRotate(ctx context.Context, in *TokenPath) (*api.Out[tokenTextBody], error) {
	if err := h.checkOwn(ctx, in.ID); err != nil {
		return nil, err
	}
	return h.tokens.rotateToken(ctx, in)
}

func (h *userHandlers) userGet(ctx context.Context, in *TokenPath) (*api.Out[access.AuthToken], error) {
	if err := h.checkOwn(ctx, in.ID); err != nil {
		return nil, err
	}
	return h.tokens.getToken(ctx, in)
}

type tokenChart struct {
	TokenPath
	ChartQuery
}

func (h *userHandlers) userChart(ctx context.Context, in *tokenChart) (*api.Out[audit.Chart], error) {
	if err := h.checkOwn(ctx, in.ID); err != nil {
		return nil, err
	}
	return h.tokens.tokenChart(ctx, in)
}

// ownLogs confines filters to the caller's tokens; found is false where there are none.
func (h *userHandlers) ownLogs(ctx context.Context, in *LogQuery) (f audit.LogFilter, found bool, err error) {
	f = in.toFilter()
	// Which upstream key it was is none of a user's business.
	f.KeyID = ""
	if in.TokenID != "" {
		err := h.checkOwn(ctx, in.TokenID)
		return f, true, err
	}
	f.TokenIDs, err = h.access.TokenIDs(ctx, auth.From(ctx).User.ID)
	return f, len(f.TokenIDs) > 0, err
}

func hideKey(r *audit.RequestLog) { r.KeyID = "" }

// userLogs returns the requests of the caller's tokens.
func (h *userHandlers) userLogs(ctx context.Context, in *logQuery) (*api.Out[audit.LogPage], error) {
	f, found, err := h.ownLogs(ctx, &in.LogQuery)
	if err != nil || !found {
		return api.AnswerWith(audit.LogPage{Items: []audit.RequestLog{}, PageSize: in.Limit}, err)
	}
	out, err := h.logs.log.Requests(ctx, f, in.Cursor, in.Limit)
	for i := range out.Items {
		hideKey(&out.Items[i])
	}
	return api.AnswerWith(out, err)
}

func (h *userHandlers) showDashboard(ctx context.Context, _ *struct{}) (*api.Out[access.Dashboard], error) {
	return api.AnswerWith(h.access.DashboardOf(ctx, auth.From(ctx).User.ID))
}

type logoutAnswer struct {
	SetCookie http.Cookie `header:"Set-Cookie"`
}

// endSession ends the session of the request. With an API key there is none to end.
func (h *userHandlers) endSession(ctx context.Context, _ *struct{}) (*logoutAnswer, error) {
	if p := auth.From(ctx); p.SessionID != "" && h.sessions != nil {
		if err := h.sessions.End(ctx, p.SessionID); err != nil {
			return nil, err
		}
	}
	return &logoutAnswer{*auth.Cookie("", false)}, nil
}

func (h *userHandlers) showSummary(ctx context.Context, _ *struct{}) (*api.Out[keys.Summary], error) {
	return api.AnswerWith(h.keys.Summary(ctx))
}
