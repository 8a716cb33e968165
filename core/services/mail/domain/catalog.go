package domain

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/sdk/dns"
)

// CatalogItem is a name that is a mail domain, or could be one: at least one of its parts is set.
type CatalogItem struct {
	Name string
	// Domain is nil for a zone that is not in use.
	Domain *Domain
	// Zone is nil for a domain that the provider has no zone of.
	Zone *dns.Zone
}

// Catalog is the union of the mail domains and the provider's zones, by name.
type Catalog struct {
	Items []CatalogItem
	// Limited says that the provider limits requests, so that its zones are missing; RetryAfter is when it may be asked again.
	Limited    bool
	RetryAfter time.Duration
}

// ListCatalog returns the catalog. A provider that limits requests is no error.
func (d *Domains) ListCatalog(ctx context.Context) (out Catalog, err error) {
	own, err := d.ListDomains(ctx)
	if err != nil {
		return Catalog{}, err
	}
	for i := range own {
		out.Items = append(out.Items, CatalogItem{Name: own[i].Name, Domain: &own[i]})
	}
	c := d.cfg.Connect()
	if c.DNS == nil {
		return out, nil
	}
	zones, err := c.DNS.ListZones(ctx)
	if err = explainFailure(err); err != nil && !isLimited(err) {
		return Catalog{}, err
	}
	if err != nil {
		out.Limited, out.RetryAfter = true, fault.As(err).RetryAfter
	}
	for i := range zones {
		at := slices.IndexFunc(out.Items, func(item CatalogItem) bool { return item.Name == zones[i].Name })
		if at < 0 {
			out.Items = append(out.Items, CatalogItem{Name: zones[i].Name})
			at = len(out.Items) - 1
		}
		out.Items[at].Zone = &zones[i]
	}
	slices.SortFunc(out.Items, func(a, b CatalogItem) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}
