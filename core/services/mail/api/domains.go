package api

import (
	"context"
	"net/http"
	"time"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/mail/domain"
)

// domainHandlers answers what is asked about mail domains.
type domainHandlers struct {
	domains  domains
	failures mailboxReader
	connect  func() domain.Connection
	// addMissing adds the domains that the settings name and that there are not.
	addMissing func(context.Context)
	now        func() time.Time
}

// Domain is a mail domain in answers.
type Domain struct {
	ID                 string          `json:"id" example:"dom_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
	MailDomain         string          `json:"mailDomain" example:"example.com"`
	RootDomain         string          `json:"rootDomain" deprecated:"true" doc:"Another name of mailDomain." example:"example.com"`
	ZoneID             *string         `json:"zoneId" doc:"The DNS provider's id of the zone."`
	Provider           *string         `json:"provider" doc:"The DNS instance that it was provisioned with." example:"dns.main"`
	BindingSource      domain.Binding  `json:"bindingSource" enum:"settings,catalog,project_bind" doc:"project_bind: its zone was made here, and is deleted with it."`
	Status             domain.Status   `json:"status" enum:"active,disabled,provisioning_error"`
	CatchAllEnabled    bool            `json:"catchAllEnabled"`
	CatchAllPattern    *string         `json:"catchAllPattern" doc:"The regular expression that local parts must match as a whole."`
	SubdomainDNSMode   string          `json:"subdomainDnsMode" enum:"explicit,wildcard" doc:"wildcard: one record serves all names below the domain. explicit: the provider accepts mail for each that has a mailbox."`
	Records            []domain.Record `json:"records" nullable:"false" doc:"The DNS records that mail to the domain needs, and whether they can be seen: visible, missing, different, unknown or not_needed."`
	RecordsCheckedAt   *api.Time       `json:"recordsCheckedAt" nullable:"true"`
	NameServers        []string        `json:"nameServers" nullable:"false" doc:"What the parent zone must name, as far as the provider says."`
	LastProvisionError *string         `json:"lastProvisionError" doc:"Why the domain could not be set up, or what was begun with it could not be ended."`
	CreatedAt          api.Time        `json:"createdAt"`
	UpdatedAt          api.Time        `json:"updatedAt"`
	LastProvisionedAt  *api.Time       `json:"lastProvisionedAt" nullable:"true"`
	DisabledAt         *api.Time       `json:"disabledAt" nullable:"true"`
}

// formatDomain returns a mail domain for answers.
func formatDomain(d domain.Domain) Domain {
	out := Domain{
		ID: d.ID, MailDomain: d.Name, RootDomain: d.Name, ZoneID: optionalText(d.ZoneID), Provider: optionalText(d.Provider),
		BindingSource: d.Binding, Status: d.Status,
		CatchAllEnabled: d.CatchAll, CatchAllPattern: optionalText(d.CatchAllPattern), SubdomainDNSMode: "wildcard",
		Records: append([]domain.Record{}, d.Records()...), RecordsCheckedAt: api.OptionalTime(d.CheckedAt),
		NameServers:        append([]string{}, d.NameServers()...),
		LastProvisionError: optionalText(d.ProvisionError), CreatedAt: api.TimeOfMillis(d.CreatedAt), UpdatedAt: api.TimeOfMillis(d.UpdatedAt),
		LastProvisionedAt: api.OptionalTime(d.ProvisionedAt), DisabledAt: api.OptionalTime(d.DisabledAt),
	}
	if d.Routed {
		out.SubdomainDNSMode = "explicit"
	}
	return out
}

// CleanupFailure tells of the mailboxes of a domain that could not be destroyed, or may have left a rule at the DNS provider.
type CleanupFailure struct {
	DomainID  string `json:"domainId" example:"dom_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
	Mailboxes int    `json:"mailboxes" doc:"How many there are."`
	Error     string `json:"error" doc:"What is the matter with one of them."`
}

// DomainPath names a mail domain.
type DomainPath struct {
	ID string `path:"id" maxLength:"64" doc:"Id of the mail domain."`
}

type (
	domainOutput struct {
		Status int
		Body   Domain
	}
	domainListBody struct {
		Domains         []Domain         `json:"domains" nullable:"false"`
		CleanupFailures []CleanupFailure `json:"cleanupFailures" nullable:"false" doc:"By domain, the mailboxes that could not be destroyed, or may have left a rule at the DNS provider; it is tried again."`
	}
	bindInput struct {
		Body struct {
			MailDomain string `json:"mailDomain,omitempty" maxLength:"253" example:"example.com"`
			RootDomain string `json:"rootDomain,omitempty" maxLength:"253" deprecated:"true" doc:"Another name of mailDomain."`
		}
	}
	enableInput struct {
		Body struct {
			MailDomain string `json:"mailDomain,omitempty" maxLength:"253" example:"example.com"`
			RootDomain string `json:"rootDomain,omitempty" maxLength:"253" deprecated:"true" doc:"Another name of mailDomain."`
			ZoneID     string `json:"zoneId" minLength:"1" maxLength:"128" doc:"From the catalog."`
		}
	}
	catchAllInput struct {
		DomainPath
		Body *struct {
			Pattern string `json:"pattern,omitempty" maxLength:"500" doc:"A regular expression that local parts must match as a whole; left out, all do." example:"shop-.*"`
		}
	}
)

func (h *domainHandlers) domainAPI(a *api.API) {
	const (
		get, post          = http.MethodGet, http.MethodPost
		notFound, conflict = http.StatusNotFound, http.StatusConflict
		upstream, limited  = http.StatusBadGateway, http.StatusTooManyRequests
	)
	op := func(id, method, path, summary string, errors ...int) api.Operation {
		return newOperation(id, method, path, tagDomains, httpd.Admin, summary, errors...)
	}
	both := func(o api.Operation) api.Operation { return withStatus(o, http.StatusCreated, http.StatusOK) }
	api.Register(a, op("domains", get, "/api/domains", "List the mail domains"), h.listDomains)
	api.Register(a, withText(op("domain-catalog", get, "/api/domains/catalog", "Mail domains and the zones of the DNS provider", upstream),
		"While the provider is rate limited, its zones are missing."), h.listCatalog)
	api.Register(a, withText(both(op("domain-bind", post, "/api/domains/bind", "Make a zone and use it for mail", conflict, upstream)),
		"201 for a new domain, 200 for one that is provisioned again; it may end with the status provisioning_error. A name below another one is refused with the code subdomain_direct_bind_not_supported and what to bind instead. Where the provider makes no zones, or a person sets the records, the answer names them."), h.bindDomain)
	api.Register(a, withText(both(op("domain-enable", post, "/api/domains", "Use a zone of the catalog for mail", conflict, upstream)),
		"201 for a new domain, 200 for one that is provisioned again; it may end with the status provisioning_error."), h.enableDomain)
	api.Register(a, withText(op("catch-all-enable", post, "/api/domains/{id}/catch-all/enable",
		"Make a mailbox for each address that gets mail", notFound, conflict, limited, upstream),
		"What the DNS provider did with such mail is kept. On a domain whose catch-all is on it changes the pattern."), h.enableCatchAll)
	api.Register(a, withText(op("catch-all-disable", post, "/api/domains/{id}/catch-all/disable",
		"End that, and restore what the DNS provider did before", notFound, conflict, limited, upstream),
		"The mailboxes that it has made expire; a day later they are destroyed."), h.disableCatchAll)
	api.Register(a, op("domain-retry", post, "/api/domains/{id}/retry", "Provision a domain again, and look up its records", notFound,
		conflict, limited, upstream), h.retryDomain)
	api.Register(a, withText(op("domain-disable", post, "/api/domains/{id}/disable", "Make no more mailboxes on a domain", notFound, conflict,
		limited, upstream), "Its mailboxes go on receiving. It may be repeated. With the status provisioning_error it gives up a zone that the DNS provider does not list any more."), h.disableDomain)
	api.Register(a, withText(withStatus(op("domain-delete", post, "/api/domains/{id}/delete",
		"Remove a domain, and delete its zone if Patchbay created it", notFound, conflict, limited, upstream), http.StatusNoContent),
		"A zone that was there before stays, with its records. Refused while the domain has mailboxes that are not destroyed."), h.deleteDomain)
}

func (h *domainHandlers) listDomains(ctx context.Context, _ *struct{}) (*api.Out[domainListBody], error) {
	domains, err := h.Domains(ctx)
	if err != nil {
		return nil, err
	}
	failures, err := h.failures.ListCleanupFailures(ctx)
	if err != nil {
		return nil, err
	}
	out := &api.Out[domainListBody]{}
	out.Body.Domains, out.Body.CleanupFailures = domains, make([]CleanupFailure, len(failures))
	for i, f := range failures {
		out.Body.CleanupFailures[i] = CleanupFailure(f)
	}
	return out, nil
}

// writeDomain returns the answer with a domain, which is 201 for a new one.
func writeDomain(ctx context.Context, d domain.Domain, created bool, err error) (*domainOutput, error) {
	if err != nil {
		return nil, err
	}
	httpd.NoteObject(ctx, d.ID)
	out := &domainOutput{Status: http.StatusOK, Body: formatDomain(d)}
	if created {
		out.Status = http.StatusCreated
	}
	return out, nil
}

func (h *domainHandlers) bindDomain(ctx context.Context, in *bindInput) (*domainOutput, error) {
	name, err := sameDomain(in.Body.MailDomain, in.Body.RootDomain)
	if err != nil {
		return nil, err
	}
	d, created, err := h.domains.Bind(ctx, name)
	return writeDomain(ctx, d, created, err)
}

func (h *domainHandlers) enableDomain(ctx context.Context, in *enableInput) (*domainOutput, error) {
	name, err := sameDomain(in.Body.MailDomain, in.Body.RootDomain)
	if err != nil {
		return nil, err
	}
	d, created, err := h.domains.Enable(ctx, name, in.Body.ZoneID)
	return writeDomain(ctx, d, created, err)
}

func (h *domainHandlers) enableCatchAll(ctx context.Context, in *catchAllInput) (*domainOutput, error) {
	pattern := ""
	if in.Body != nil {
		pattern = in.Body.Pattern
	}
	d, err := h.domains.EnableCatchAll(ctx, in.ID, auth.From(ctx).User.ID, pattern)
	return writeDomain(ctx, d, false, err)
}

func (h *domainHandlers) disableCatchAll(ctx context.Context, in *DomainPath) (*domainOutput, error) {
	d, err := h.domains.DisableCatchAll(ctx, in.ID)
	return writeDomain(ctx, d, false, err)
}

func (h *domainHandlers) retryDomain(ctx context.Context, in *DomainPath) (*domainOutput, error) {
	d, err := h.domains.Retry(ctx, in.ID)
	return writeDomain(ctx, d, false, err)
}

func (h *domainHandlers) disableDomain(ctx context.Context, in *DomainPath) (*domainOutput, error) {
	d, err := h.domains.Disable(ctx, in.ID)
	return writeDomain(ctx, d, false, err)
}

func (h *domainHandlers) deleteDomain(ctx context.Context, in *DomainPath) (*struct{}, error) {
	if err := h.domains.Delete(ctx, in.ID); err != nil {
		return nil, err
	}
	// The settings may name it as well.
	h.addMissing(context.WithoutCancel(ctx))
	return nil, nil
}
