package domain

import (
	"context"
	"errors"
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

// notFinished is the error of a domain whose provisioning goes on or was interrupted.
const notFinished = "The provisioning has not finished."

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
		return "", fault.New(fault.InvalidArgument, "%s is a public suffix, which nobody can bind.", name).With("field", "mailDomain")
	}
	if apex != name {
		return "", fault.New(CodeSubdomain, "%s lies below %s: bind %s, and make mailboxes with the subdomain %s.", name, apex, apex,
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
	release, err := d.acquire(row.Name)
	if err != nil {
		return Domain{}, false, err
	}
	defer release()
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
	if err := d.put(ctx, &row); err != nil {
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
			d.cfg.Logger.Warn("the zone of a mail domain that could not be bound is left over", "domain", row.Name, "error", err)
			if err := d.finishFailed(ctx, row, failed); err != nil {
				return err
			}
			return fault.As(failed).With("cleanupRequired", true).With("domainId", row.ID)
		}
	}
	err := d.cfg.Store.Tx(ctx, "take back mail domain", func(ctx context.Context) error { return d.discard(ctx, row) })
	if err != nil {
		return err
	}
	return failed
}

// Retry provisions a domain again, and looks up its records.
func (d *Domains) Retry(ctx context.Context, id string) (Domain, error) {
	return d.change(ctx, id, func(ctx context.Context, row *Domain) error {
		if row.Status == Disabled {
			return fault.New(fault.Conflict, "A mail domain that is disabled cannot be checked again: enable it.")
		}
		return d.reprovisionDomain(ctx, d.cfg.Connect(), row, row.Binding == FromBind && row.ZoneID == "")
	})
}

// reprovisionDomain provisions a domain that there is with a provider, anew if it had another one. A provider that limits requests does
// not change the status: what a crash has interrupted, or what has made the domain a routed one, goes on at RetryAt. Any other failure
// leaves ProvisioningError, but a domain that works as before stays active, and the failure is returned.
func (d *Domains) reprovisionDomain(ctx context.Context, c Connection, row *Domain, create bool) error {
	if row.Operation == opDelete {
		if err := d.giveUpDeletion(context.WithoutCancel(ctx), c, row); err != nil {
			return err
		}
	}
	interrupted, step := row.Operation == opProvision, row.Step
	if hasOtherProvider(c, *row) {
		if err := d.forgetProvider(ctx, row); err != nil {
			return err
		}
	} else {
		// Until it has ended, nobody knows whether mailboxes need rules.
		err := d.resumeCatchAll(context.WithoutCancel(ctx), row)
		if errors.Is(err, errZoneUnlisted) {
			err = d.replaceUnlistedZone(context.WithoutCancel(ctx), c, row, create)
		}
		if err != nil {
			return err
		}
	}
	former := *row
	if !interrupted {
		row.beginOperation(opProvision)
	}
	ctx = context.WithoutCancel(ctx)
	failed := d.provisionDomain(ctx, c, row, create)
	if failed != nil && row.ZoneID != "" {
		var moved bool
		if moved, failed = d.leaveUnlistedZone(ctx, c, row, create, failed); moved {
			former = *row
			failed = d.provisionDomain(ctx, c, row, create)
		}
	}
	switch {
	case failed == nil:
		return d.finishActive(ctx, row)
	case isLimited(failed):
		row.Status = former.Status
		row.endOperation()
		d.noteLimit(row, failed)
		if interrupted || row.Routed != former.Routed {
			// It is tried again. Mailboxes of a domain that was not routed before lack rules.
			row.Operation, row.Step = opProvision, step
		}
		if err := d.persist(ctx, row); err != nil {
			return err
		}
		return failed
	case stillReceives(former, *row, failed):
		row.Status, row.ProvisionError, row.Operation, row.Step = former.Status, messageOf(failed), former.Operation, former.Step
		if isRefusal(failed) && row.Operation == opProvision {
			// What a crash has interrupted is tried again, unless somebody has to do something before.
			row.endOperation()
		}
		if err := d.persist(ctx, row); err != nil {
			return err
		}
		return failed
	}
	return d.finishFailed(ctx, row, failed)
}

// stillReceives reports whether an active domain still brings mail although it could not be provisioned again: the provider has said
// nothing about it, since it was not reached or a reload has replaced it, or has refused no more than the rule of a mailbox.
func stillReceives(former, row Domain, failed error) bool {
	return former.Status == Active && former.Routed == row.Routed && (!isRefusal(failed) || isReplaced(failed) || row.Step == stepRules)
}

// finishActive ends the provisioning of a domain that worked.
func (d *Domains) finishActive(ctx context.Context, row *Domain) error {
	row.endOperation()
	row.Status, row.ProvisionError, row.RetryAt, row.DisabledAt = Active, "", 0, 0
	row.ProvisionedAt = d.cfg.Now().UnixMilli()
	return d.persist(ctx, row)
}

// finishFailed ends the provisioning of a domain that did not work.
func (d *Domains) finishFailed(ctx context.Context, row *Domain, failed error) error {
	d.cfg.Logger.Warn("a mail domain could not be provisioned", "domain", row.Name, "step", row.Step, "error", failed)
	row.endOperation()
	row.Status, row.ProvisionError = ProvisioningError, messageOf(failed)
	return d.persist(ctx, row)
}

// change runs an operation on a domain, which no other one changes meanwhile.
func (d *Domains) change(ctx context.Context, id string, do func(context.Context, *Domain) error) (Domain, error) {
	row, err := d.FindDomain(ctx, id)
	if err != nil {
		return Domain{}, err
	}
	release, err := d.acquire(row.Name)
	if err != nil {
		return Domain{}, err
	}
	defer release()
	// It may have changed until now.
	if row, err = d.FindDomain(ctx, id); err != nil {
		return Domain{}, err
	}
	row = d.assumePlugin(row)
	err = do(ctx, &row)
	return row, err
}
