package api

import (
	"context"
	"net/http"

	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/releases/link"
)

// accountHandlers manages the accounts at the code hosts, and their tokens.
type accountHandlers struct{ links *link.Links }

type (
	accountsOutputBody struct {
		Accounts []link.Account `json:"accounts" nullable:"false"`
	}
	accountInput struct {
		ID string `path:"id" maxLength:"64"`
	}
	accountReadsInput struct {
		ID   string `path:"id" maxLength:"64"`
		Body link.AccountReads
	}
)

func (h *accountHandlers) accountsAPI(a *api.API) {
	const path = "/api/accounts"
	op := func(id, method, path, summary string, errors ...int) api.Operation {
		return newOperation(id, method, path, tagToken, httpd.Session, summary, errors...)
	}
	api.Register(a, withText(op("accounts", http.MethodGet, path, "Accounts at the code host"),
		"The first one is that of /api/reaction-token."), h.listAccounts)
	api.Register(a, op("account-add", http.MethodPost, path, "Add the account of a token", http.StatusConflict,
		http.StatusUnprocessableEntity, http.StatusServiceUnavailable), h.addAccount)
	api.Register(a, withText(op("account-reads", http.MethodPut, path+"/{id}", "Choose what is read with an account", http.StatusNotFound),
		"What is not read any more is forgotten."), h.putAccountReads)
	api.Register(a, withText(op("account-delete", http.MethodDelete, path+"/{id}", "Take an account away", http.StatusNotFound,
		http.StatusConflict), "With it go the stars, notifications and events that were read with it."), h.deleteAccount)
}

func (h *accountHandlers) listAccounts(ctx context.Context, _ *struct{}) (*api.Out[accountsOutputBody], error) {
	accounts, err := h.links.Accounts(ctx)
	return api.AnswerWith(accountsOutputBody{accounts}, err)
}

func (h *accountHandlers) addAccount(ctx context.Context, in *tokenBody) (*api.Out[link.Account], error) {
	return api.AnswerWith(h.links.AddAccount(ctx, in.Body.Token))
}

func (h *accountHandlers) putAccountReads(ctx context.Context, in *accountReadsInput) (*api.Out[link.Account], error) {
	return api.AnswerWith(h.links.SetAccountReads(ctx, in.ID, in.Body))
}

func (h *accountHandlers) deleteAccount(ctx context.Context, in *accountInput) (*struct{}, error) {
	return nil, h.links.DeleteAccount(ctx, in.ID)
}
