package domain

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/mail/address"
	"github.com/patchbay-dev/patchbay/sdk/dns"
)

// CodeSubdomain is the code of a name that is bound although it lies below another one that can be.
const CodeSubdomain fault.Code = "subdomain_direct_bind_not_supported"

// Bind makes the zone of a domain, where the provider can, and has mail for it brought to us. It reports true if the domain is
// new, and false if one that was not active is provisioned again. A provider that refuses leaves the domain with
// ProvisioningError; any other failure takes back what was done.
func (d *Domains) Bind(ctx context.Context, text string) (row Domain, created bool, err error) {
	name, err := parseApex(text)
	if err != nil {
		return Domain{}, false, err
	}
	return d.add(ctx, d.cfg.Connect(), Domain{Name: name, Binding: FromCatalog}, true)
}

// parseApex returns the name of a domain that is bound: the highest name that somebody can own.
func parseApex(text string) (string, error) {
	name, err := address.ParseDomain(text)
	if err != nil {
		return "", err
	}
	apex, err := publicsuffix.EffectiveTLDPlusOne(name)
	if err != nil {
		return "", fault.New(fault.InvalidArgument, "%s is a public suffix and cannot be bound.", name).With("field", "mailDomain")
	}
	if apex != name {
		return "", fault.New(CodeSubdomain, "%s is a subdomain of %s: bind %s, and create mailboxes with the subdomain %s.", name, apex, apex,
			strings.TrimSuffix(name, "."+apex)).
			WithStatus(http.StatusBadRequest).With("field", "mailDomain").With("mailDomain", name).With("recommendedApex", apex).
			With("recommendedMailboxSubdomain", strings.TrimSuffix(name, "."+apex))
	}
	return name, nil
}

// Enable has mail brought to us for a zone that the provider has. It reports true if the domain is new. Whatever fails, except
// for a provider that limits requests, leaves the domain with ProvisioningError.
func (d *Domains) Enable(ctx context.Context, text, zoneID string) (row Domain, created bool, err error) {
	name, err := address.ParseDomain(text)
	if err != nil {
		return Domain{}, false, err
	}
	c := d.cfg.Connect()
	if c.DNS == nil {
		return Domain{}, false, fault.New(fault.Conflict, "There is no DNS provider: set dns in the block of the service, or bind the domain.")
	}
	zones, err := c.DNS.ListZones(ctx)
	if err != nil {
		return Domain{}, false, explainFailure(err)
	}
	if !slices.ContainsFunc(zones, func(z dns.Zone) bool { return z.ID == zoneID && z.Name == name }) {
		return Domain{}, false, fault.New(fault.InvalidArgument, "The DNS provider has no zone %s with this id.", name).With("field",
			"zoneId").With("rootDomain", name).With("zoneId", zoneID)
	}
	return d.add(ctx, c, Domain{Name: name, ZoneID: zoneID, Binding: FromCatalog}, false)
}

// add provisions a domain that is new, deleted or not active, with a provider. A deletion that has not ended is given up.
func (d *Domains) add(ctx context.Context, c Connection, row Domain, bind bool) (Domain, bool, error) {
	lock, err := d.lockDomain(ctx, row.Name)
	if err != nil {
		return Domain{}, false, err
	}
	defer lock.Release()
	ctx = lock.Hold(ctx)
	former, exists, err := d.FindByName(ctx, row.Name)
	if err != nil {
		return Domain{}, false, err
	}
	if exists && !former.isDeleted() {
		if former.Status == Active {
			return Domain{}, false, errManaged(former)
		}
		row = former
		err := d.reprovisionDomain(ctx, c, &row, bind)
		return row, false, err
	}
	row.Status, row.ProvisionError, row.Operation = ProvisioningError, notFinished, opProvision
	if err := d.putDomain(ctx, &row); err != nil {
		return Domain{}, false, err
	}
	ctx = context.WithoutCancel(ctx)
	if failed := d.provisionDomain(ctx, c, &row, bind); failed != nil {
		if isLimited(failed) || bind && !isRefusal(failed) {
			return Domain{}, false, d.rollbackBind(ctx, &row, failed)
		}
		return row, true, d.finishFailed(ctx, &row, failed)
	}
	return row, true, d.finishActive(ctx, &row)
}

// rollbackBind deletes a new domain whose provisioning failed, with the zone that was made for it. If that fails as well, the
// domain stays with ProvisioningError, so that it can be tried again or deleted.
func (d *Domains) rollbackBind(ctx context.Context, row *Domain, failed error) error {
	if row.Binding == FromBind {
		if err := d.removeZone(ctx, *row); err != nil {
			d.cfg.Logger.Warn("domain not added, its zone stays at the DNS provider", "domain", row.Name, "error", err)
			if err := d.finishFailed(ctx, row, failed); err != nil {
				return err
			}
			return fault.As(failed).With("cleanupRequired", true).With("domainId", row.ID)
		}
	}
	err := d.writeAsHolder(ctx, "take back mail domain", func(ctx context.Context) error { return d.discard(ctx, row) })
	if err != nil {
		return err
	}
	return failed
}

// Retry provisions a domain again, and looks up its records.
func (d *Domains) Retry(ctx context.Context, id string) (Domain, error) {
	return d.changeDomain(ctx, id, func(ctx context.Context, row *Domain) error {
		if row.Status == Disabled {
			return fault.New(fault.Conflict, "This mail domain is disabled: enable it before you check it again.")
		}
		return d.reprovisionDomain(ctx, d.cfg.Connect(), row, row.Binding == FromBind && row.ZoneID == "")
	})
}
