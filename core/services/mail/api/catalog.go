package api

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/lists"
	"github.com/patchbay-dev/patchbay/core/services/mail/domain"
)

// CatalogItem is a mail domain, or a zone of the DNS provider that could be one.
type CatalogItem struct {
	MailDomain           string               `json:"mailDomain" example:"example.com"`
	RootDomain           string               `json:"rootDomain" deprecated:"true" doc:"Another name of mailDomain." example:"example.com"`
	ProjectStatus        string               `json:"projectStatus" enum:"not_enabled,active,disabled,provisioning_error"`
	ProviderAvailability string               `json:"providerAvailability" enum:"available,missing" doc:"Whether the DNS provider has a zone of this name."`
	ProviderStatus       *string              `json:"providerStatus" doc:"The provider's word for the state of the zone." example:"active"`
	ZoneID               *string              `json:"zoneId"`
	NameServers          []string             `json:"nameServers" nullable:"false"`
	Domain               api.Optional[Domain] `json:"domain" doc:"Null for a zone that is not in use."`
}

// ProviderSync tells how current the zones of the catalog are.
type ProviderSync struct {
	Status            string    `json:"status" enum:"live,rate_limited,none" doc:"none: there is no DNS provider."`
	RetryAfter        *api.Time `json:"retryAfter" nullable:"true"`
	RetryAfterSeconds *int64    `json:"retryAfterSeconds"`
}

type catalogOutputBody struct {
	Domains      []CatalogItem `json:"domains" nullable:"false"`
	ProviderSync ProviderSync  `json:"providerSync"`
}

func (h *domainHandlers) listCatalog(ctx context.Context, _ *struct{}) (*api.Out[catalogOutputBody], error) {
	catalog, err := h.domains.ListCatalog(ctx)
	if err != nil {
		return nil, err
	}
	out := &api.Out[catalogOutputBody]{}
	out.Body.Domains = lists.ConvertAll(catalog.Items, formatCatalogItem)
	sync := &out.Body.ProviderSync
	switch {
	case catalog.Limited:
		seconds := httpd.RetrySeconds(catalog.RetryAfter)
		at := api.TimeOf(h.now().Add(catalog.RetryAfter))
		sync.Status, sync.RetryAfter, sync.RetryAfterSeconds = "rate_limited", &at, &seconds
	case h.connect().DNS == nil:
		sync.Status = "none"
	default:
		sync.Status = "live"
	}
	return out, nil
}

func formatCatalogItem(item domain.CatalogItem) CatalogItem {
	out := CatalogItem{MailDomain: item.Name, RootDomain: item.Name, ProjectStatus: "not_enabled", ProviderAvailability: "missing",
		NameServers: []string{}}
	if z := item.Zone; z != nil {
		out.ProviderAvailability, out.ProviderStatus, out.ZoneID = "available", optionalText(z.Status), &z.ID
		out.NameServers = append(out.NameServers, z.NameServers...)
	}
	if item.Domain != nil {
		d := formatDomain(*item.Domain)
		out.ProjectStatus, out.Domain.Of = string(d.Status), &d
		if out.ZoneID == nil {
			out.ZoneID = d.ZoneID
		}
	}
	return out
}
