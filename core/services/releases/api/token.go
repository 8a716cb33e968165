package api

import (
	"context"
	"net/http"

	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/releases/link"
)

type (
	tokenBody struct {
		Body struct {
			Token string `json:"token" minLength:"8" maxLength:"512" doc:"It is sensitive."`
		}
	}
)

func (h *accountHandlers) tokenAPI(a *api.API) {
	const path = "/api/reaction-token"
	op := func(id, method, path, summary string, errors ...int) api.Operation {
		return newOperation(id, method, path, tagToken, httpd.Session, summary, errors...)
	}
	api.Register(a, op("token", http.MethodGet, path, "Whether there is a token, and whose it is"), h.getToken)
	api.Register(a, op("token-save", http.MethodPut, path, "Save a token", http.StatusUnprocessableEntity, http.StatusServiceUnavailable),
		h.putToken)
	api.Register(a, withText(op("token-delete", http.MethodDelete, path, "Forget the token", http.StatusConflict),
		"With it go the stars, notifications and events that were read with it."), h.deleteToken)
	check := op("token-check", http.MethodPost, path+"/check", "Ask the code host about a token", http.StatusServiceUnavailable)
	check.Audit = httpd.Unaudited
	api.Register(a, check, h.checkToken)
}

func (h *accountHandlers) getToken(ctx context.Context, _ *struct{}) (*api.Out[link.TokenStatus], error) {
	return api.AnswerWith(h.links.TokenStatus(ctx))
}

func (h *accountHandlers) checkToken(ctx context.Context, in *tokenBody) (*api.Out[link.TokenAnswer], error) {
	return api.AnswerWith(h.links.CheckToken(ctx, in.Body.Token))
}

func (h *accountHandlers) putToken(ctx context.Context, in *tokenBody) (*api.Out[link.TokenStatus], error) {
	return api.AnswerWith(h.links.SaveToken(ctx, in.Body.Token))
}

func (h *accountHandlers) deleteToken(ctx context.Context, _ *struct{}) (*api.Out[link.TokenStatus], error) {
	if err := h.links.DeleteToken(ctx); err != nil {
		return nil, err
	}
	return h.getToken(ctx, nil)
}
