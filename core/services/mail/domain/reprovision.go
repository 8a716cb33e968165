package domain

import (
	"context"
	"errors"
)

// reprovisionDomain provisions a domain that there is with a provider, anew if it had another one. A provider that limits requests does
// not change the status: what a crash has interrupted, or what has made the domain a routed one, goes on at RetryAt. Any other failure
// leaves ProvisioningError, but a domain that works as before stays active, and the failure is returned.
func (p *provisioner) reprovisionDomain(ctx context.Context, c Connection, row *Domain, create bool) error {
	if row.Operation == opDelete {
		if err := p.giveUpDeletion(context.WithoutCancel(ctx), c, row); err != nil {
			return err
		}
	}
	interrupted, step := row.Operation == opProvision, row.Step
	if hasOtherProvider(c, *row) {
		if err := p.forgetProvider(ctx, row); err != nil {
			return err
		}
	} else {
		// Until it has ended, nobody knows whether mailboxes need rules.
		err := p.catchAlls.resumeCatchAll(context.WithoutCancel(ctx), row)
		if errors.Is(err, errZoneUnlisted) {
			err = p.replaceUnlistedZone(context.WithoutCancel(ctx), c, row, create)
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
	failed := p.provisionDomain(ctx, c, row, create)
	if failed != nil && row.ZoneID != "" {
		var moved bool
		if moved, failed = p.leaveUnlistedZone(ctx, c, row, create, failed); moved {
			former = *row
			failed = p.provisionDomain(ctx, c, row, create)
		}
	}
	switch {
	case failed == nil:
		return p.finishActive(ctx, row)
	case isLimited(failed):
		row.Status = former.Status
		row.endOperation()
		p.noteLimit(row, failed)
		if interrupted || row.Routed != former.Routed {
			// It is tried again. Mailboxes of a domain that was not routed before lack rules.
			row.Operation, row.Step = opProvision, step
		}
		if err := p.persistDomain(ctx, row); err != nil {
			return err
		}
		return failed
	case stillReceives(former, *row, failed):
		row.Status, row.ProvisionError, row.Operation, row.Step = former.Status, operatorMessage(failed), former.Operation, former.Step
		if isRefusal(failed) && row.Operation == opProvision {
			// What a crash has interrupted is tried again, unless somebody has to do something before.
			row.endOperation()
		}
		if err := p.persistDomain(ctx, row); err != nil {
			return err
		}
		return failed
	}
	return p.finishFailed(ctx, row, failed)
}

// stillReceives reports whether an active domain still brings mail although it could not be provisioned again: the provider has said
// nothing about it, since it was not reached or a reload has replaced it, or has refused no more than the rule of a mailbox.
func stillReceives(former, row Domain, failed error) bool {
	return former.Status == Active && former.Routed == row.Routed && (!isRefusal(failed) || isReplaced(failed) || row.Step == stepRules)
}

// finishActive ends the provisioning of a domain that worked.
func (p *provisioner) finishActive(ctx context.Context, row *Domain) error {
	row.endOperation()
	row.Status, row.ProvisionError, row.RetryAt, row.DisabledAt = Active, "", 0, 0
	row.ProvisionedAt = p.cfg.Now().UnixMilli()
	return p.persistDomain(ctx, row)
}

// finishFailed ends the provisioning of a domain that did not work.
func (p *provisioner) finishFailed(ctx context.Context, row *Domain, failed error) error {
	p.cfg.Logger.Warn("cannot provision a domain", "domain", row.Name, "step", row.Step, "error", failed)
	row.endOperation()
	row.Status, row.ProvisionError = ProvisioningError, operatorMessage(failed)
	return p.persistDomain(ctx, row)
}

// forgetProvider takes out of a domain what the provider before has set up, and nobody can take back any more. Its provisioning has begun
// then.
func (p *provisioner) forgetProvider(ctx context.Context, row *Domain) error {
	row.endOperation()
	row.beginOperation(opProvision)
	row.Status, row.ProvisionError, row.Plugin = ProvisioningError, notFinished, ""
	return p.forgetZone(ctx, row)
}

// giveUpDeletion keeps a domain whose deletion has not ended. If the provider does not list its zone any more, that is replaced when the
// domain is provisioned. A provider that cannot be asked for its zones leaves the deletion to go on.
func (p *provisioner) giveUpDeletion(ctx context.Context, c Connection, row *Domain) error {
	if row.Binding == FromBind && row.ZoneID != "" && sameProvider(c, *row) == nil {
		if _, err := listsZone(ctx, c, *row); err != nil {
			return err
		}
	}
	row.endOperation()
	row.DeletedAt = 0
	return p.persistDomain(ctx, row)
}
