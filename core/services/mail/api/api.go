// Package api declares the endpoints of the mail service and answers them.
package api

import (
	"cmp"

	"github.com/danielgtaylor/huma/v2"

	"github.com/patchbay-dev/patchbay/core/auth/account"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
)

// API answers the requests, and has the verbs that they share with the pages.
type API struct {
	cfg Config
	*mailboxHandlers
	*messageHandlers
	*domainHandlers
	*deployHandlers
}

// New makes the API of the service.
func New(cfg Config) *API {
	return &API{
		cfg: cfg, mailboxHandlers: &mailboxHandlers{boxes: cfg.Mailboxes, users: cfg.Users, now: cfg.Now},
		messageHandlers: newMessageHandlers(cfg),
		domainHandlers: &domainHandlers{domains: cfg.Domains, failures: cfg.Mailboxes, connect: cfg.Connect, addMissing: cfg.AddMissing,
			now: cfg.Now},
		deployHandlers: &deployHandlers{domains: cfg.Domains, settings: cfg.Settings, now: cfg.Now},
	}
}

// MountAt returns the routes of the API below a base URL.
func (a *API) MountAt(baseURL string) (httpd.Mount, error) {
	return httpd.Mount{Service: "mail", BaseURL: baseURL, Routes: a.declareOperations(baseURL).Routes()}, nil
}

// declareOperations declares all JSON endpoints of the service.
func (a *API) declareOperations(baseURL string) *api.API {
	set := a.cfg.Settings()
	out := api.New(api.Config{
		Title: "Patchbay mail", Version: cmp.Or(a.cfg.Version, "0.0.0-dev"), BaseURL: baseURL, Invalid: fault.InvalidArgument,
		KnownQueryOnly: true,
		Description:    "Mail domains, mailboxes that are made with one call, and the messages that arrive in them.",
		Tags: []*huma.Tag{
			{Name: tagPublic}, {Name: tagMailboxes, Description: "Members see their own mailboxes, administrators all."}, {Name: tagMessages},
			{Name: tagDomains, Description: "For administrators."}, {Name: tagSignIn}, {Name: tagAccount}, {Name: tagUsers},
		},
	})
	(&metaHandlers{domains: a.cfg.Domains, connect: a.cfg.Connect, settings: a.cfg.Settings}).metaAPI(out)
	a.mailboxAPI(out)
	a.domainAPI(out)
	a.messageAPI(out)
	(&codeHandlers{a.messageHandlers}).codeAPI(out)
	(&fileHandlers{a.messageHandlers}).fileAPI(out)
	a.declareMessageEvents(out)
	inbound := &inboundHandlers{ingester: a.cfg.Ingester, recipients: a.cfg.Recipients, settings: a.cfg.Settings, spoolDir: a.cfg.SpoolDir,
		now: a.cfg.Now}
	inbound.inboundAPI(out, set.MaxMessageBytes)
	a.deployAPI(out)
	accounts := account.New(account.Config{Users: a.cfg.Users, Access: set.Access, Version: a.cfg.Version})
	for _, add := range []func(*api.API, string){accounts.Auth, accounts.Passkeys, accounts.Keys, accounts.Users} {
		add(out, "/api")
	}
	return out
}
