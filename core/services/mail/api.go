package mail

import (
	"cmp"
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/mail/mailbox"
)

// The groups of operations in the document.
const (
	tagPublic    = "Public"
	tagMailboxes = "Mailboxes"
	tagMessages  = "Messages"
	tagDomains   = "Domains"
	// The groups of accounts have the names that core/auth/account gives them.
	tagSignIn  = "Sign-in"
	tagAccount = "Own account"
	tagUsers   = "Users"
)

// newAPI declares all JSON endpoints of the service.
func (s *Service) newAPI(baseURL string) *api.API {
	a := api.New(api.Config{
		Title: "Patchbay mail", Version: cmp.Or(s.cfg.Version, "0.0.0-dev"), BaseURL: baseURL, Invalid: fault.InvalidArgument,
		KnownQueryOnly: true,
		Description:    "Mail domains, mailboxes that are made with one call, and the messages that arrive in them.",
		Tags: []*huma.Tag{
			{Name: tagPublic}, {Name: tagMailboxes, Description: "Members see their own mailboxes, administrators all."}, {Name: tagMessages},
			{Name: tagDomains, Description: "For administrators."}, {Name: tagSignIn}, {Name: tagAccount}, {Name: tagUsers},
		},
	})
	api.Register(a, newOperation("meta", http.MethodGet, "/api/meta", tagPublic, httpd.Public, "What a client needs to know"), s.getMeta)
	s.mailboxAPI(a)
	s.domainAPI(a)
	s.messageAPI(a)
	s.inboundAPI(a)
	s.deployAPI(a)
	accounts := s.state.Load().accounts
	for _, add := range []func(*api.API, string){accounts.Auth, accounts.Passkeys, accounts.Keys, accounts.Users} {
		add(a, "/api")
	}
	return a
}

// newOperation begins the declaration of an endpoint.
func newOperation(id, method, path, tag string, policy httpd.Policy, summary string, errors ...int) api.Operation {
	return api.Operation{ID: id, Method: method, Path: path, Policy: policy, Tag: tag, Summary: summary, Errors: errors}
}

func withText(o api.Operation, text string) api.Operation { o.Description = text; return o }

func withStatus(o api.Operation, code int, also ...int) api.Operation {
	o.Status = code
	for _, status := range also {
		o.Also = map[int]any{status: nil}
	}
	return o
}

func (s *Service) mailboxAPI(a *api.API) {
	const (
		get, post          = http.MethodGet, http.MethodPost
		notFound, conflict = http.StatusNotFound, http.StatusConflict
	)
	op := func(id, method, path, summary string, errors ...int) api.Operation {
		return newOperation(id, method, path, tagMailboxes, httpd.APIKey, summary, errors...)
	}
	api.Register(a, withText(op("mailboxes", get, "/api/mailboxes", "List mailboxes"),
		"The newest first. Without status, all but destroyed ones."), s.listMailboxes)
	api.Register(a, withText(withStatus(op("mailbox-create", post, "/api/mailboxes", "Create a mailbox", conflict), http.StatusCreated),
		"What is left out is chosen at random; without expiresInMinutes the mailbox lives for an hour, with null for ever. For an address that is taken the code is mailbox_exists, with the mailbox if the caller may see it."), s.createMailbox)
	api.Register(a, withText(withStatus(op("mailbox-ensure", post, "/api/mailboxes/ensure", "Make a mailbox, unless there is one", conflict),
		http.StatusCreated, http.StatusOK),
		"201 for a mailbox that was made, 200 for one that there is. That one is never shortened: it lives until the later of both ends, an expired one begins anew, and one of the catch-all becomes registered. Other members than these are refused."), s.ensureMailbox)
	api.Register(a, withText(op("mailbox-resolve", get, "/api/mailboxes/resolve", "The mailbox with an address", notFound),
		"Active and expired ones."), s.resolveMailbox)
	api.Register(a, op("mailbox", get, "/api/mailboxes/{id}", "One mailbox, in any state", notFound), s.getMailbox)
	api.Register(a, op("mailbox-tags", http.MethodPatch, "/api/mailboxes/{id}/tags", "Replace the tags of a mailbox", notFound, conflict),
		s.setTags)
	api.Register(a, withText(op("mailbox-delete", http.MethodDelete, "/api/mailboxes/{id}", "Destroy a mailbox", notFound, conflict,
		http.StatusBadGateway),
		"Its messages are deleted and its address is free again. It may be repeated. What fails, such as the DNS provider, is tried again until it works."), s.deleteMailbox)
}

// callerFrom returns who acts on mailboxes.
func callerFrom(ctx context.Context) mailbox.Caller {
	p := auth.From(ctx)
	caller := mailbox.Caller{UserID: p.User.ID, Admin: p.Admin(), Via: mailbox.ViaWeb}
	if p.Via == auth.ViaKey {
		caller.Via = mailbox.ViaAPIKey
	}
	return caller
}

// creatorFrom is callerFrom with the API key that was shown.
func (s *Service) creatorFrom(ctx context.Context) (mailbox.Caller, error) {
	caller := callerFrom(ctx)
	if caller.Via != mailbox.ViaAPIKey {
		return caller, nil
	}
	key, err := s.cfg.Users.FindKey(ctx, auth.From(ctx).KeyID)
	caller.KeyID, caller.KeyName, caller.KeyPrefix = key.ID, key.Name, key.Prefix
	return caller, err
}
