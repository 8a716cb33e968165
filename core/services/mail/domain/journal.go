package domain

import (
	"context"
	"errors"
	"time"

	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/store"
)

// journal stores domains, and keeps what is under way with them: one operation changes a domain at a time.
type journal struct {
	*Store
	cfg Config
}

// putDomain stores a domain under its name: a new row, or the one that a deleted domain has left.
func (j *journal) putDomain(ctx context.Context, row *Domain) error {
	now := j.cfg.Now().UnixMilli()
	return j.writeAsHolder(ctx, "add mail domain", func(ctx context.Context) error {
		row.ID, row.CreatedAt, row.UpdatedAt = store.NewID("dom"), now, now
		added, err := j.insert(ctx, row)
		if err != nil || added {
			return err
		}
		former, _, err := j.FindByName(ctx, row.Name)
		if err != nil {
			return err
		}
		if !former.isDeleted() {
			return errManaged(former)
		}
		row.ID = former.ID
		return j.replaceDomain(ctx, row)
	})
}

// lockDomain keeps other operations, also those of other nodes, away from a domain until the lock is released.
func (j *journal) lockDomain(ctx context.Context, name string) (*cluster.Lock, error) {
	lock, err := j.cfg.Locks.TryLock(ctx, "mail.domain/"+name)
	if errors.Is(err, cluster.ErrLocked) {
		return nil, fault.Wrap(err, fault.Conflict, "Another change of %s is in progress.", name)
	}
	return lock, err
}

// isBusy reports whether lockDomain has failed because somebody works on the domain.
func isBusy(err error) bool { return errors.Is(err, cluster.ErrLocked) }

// writeAsHolder runs do in a transaction, unless another node has taken over the work on the domain.
func (j *journal) writeAsHolder(ctx context.Context, name string, do func(context.Context) error) error {
	return j.cfg.Store.Tx(ctx, name, func(ctx context.Context) error {
		if err := cluster.FenceLock(ctx); err != nil {
			return err
		}
		return do(ctx)
	})
}

// changeDomain runs an operation on a domain, which no other one changes meanwhile.
func (j *journal) changeDomain(ctx context.Context, id string, do func(context.Context, *Domain) error) (Domain, error) {
	row, err := j.FindDomain(ctx, id)
	if err != nil {
		return Domain{}, err
	}
	lock, err := j.lockDomain(ctx, row.Name)
	if err != nil {
		return Domain{}, err
	}
	defer lock.Release()
	ctx = lock.Hold(ctx)
	// It may have changed until now.
	if row, err = j.FindDomain(ctx, id); err != nil {
		return Domain{}, err
	}
	row = j.assumePlugin(row)
	err = do(ctx, &row)
	return row, err
}

// persistDomain writes a domain in a transaction of its own, also when the request has ended.
func (j *journal) persistDomain(ctx context.Context, row *Domain) error {
	row.UpdatedAt = j.cfg.Now().UnixMilli()
	return j.writeAsHolder(context.WithoutCancel(ctx), "change mail domain", func(ctx context.Context) error { return j.save(ctx, row) })
}

// persistStep journals how far an operation has come, before its next step. It fails if another provider has been put into use meanwhile.
func (j *journal) persistStep(ctx context.Context, row *Domain, step string) error {
	if err := sameProvider(j.cfg.Connect(), *row); err != nil {
		return err
	}
	row.Step = step
	return j.persistDomain(ctx, row)
}

// assumePlugin returns a domain with the plugin of the provider in use, if it was provisioned with that provider and has no plugin noted.
// Who begins to change the domain calls it, so that another plugin which is put into use meanwhile is noticed.
func (j *journal) assumePlugin(row Domain) Domain {
	if row.Plugin == "" && row.Provider != "" {
		if c := j.cfg.Connect(); c.DNS != nil && c.Ref == row.Provider {
			row.Plugin = c.Plugin
		}
	}
	return row
}

// forgetZone stores a domain without what it has at its provider: the zone, the rules of the mailboxes and, if the provider routed mail,
// the catch-all. It locks the domain before its mailboxes.
func (j *journal) forgetZone(ctx context.Context, row *Domain) error {
	return j.writeAsHolder(ctx, "forget the zone of mail domain", func(ctx context.Context) error {
		if _, err := j.LockDomain(ctx, row.ID); err != nil {
			return err
		}
		if err := j.cfg.Mailboxes.ForgetRules(ctx, row.ID); err != nil {
			return err
		}
		if row.Routed && row.CatchAll {
			if err := j.cfg.Mailboxes.ExpireCaught(ctx, row.ID, j.cfg.Now()); err != nil {
				return err
			}
			row.CatchAll, row.CatchAllPattern, row.CatchAllOwnerID = false, "", ""
		}
		if row.Binding == FromBind {
			row.Binding = FromCatalog
		}
		row.setNameServers(nil)
		row.ZoneID, row.Routed, row.CatchAllSnapshot = "", false, nil
		row.UpdatedAt = j.cfg.Now().UnixMilli()
		return j.replaceDomain(ctx, row)
	})
}

// noteLimit notes until when a provider wants no requests, if a failure says that it limits them. The caller stores the domain.
func (j *journal) noteLimit(row *Domain, failed error) {
	if failed = explainFailure(failed); isLimited(failed) {
		row.RetryAt = j.retryTime(fault.As(failed).RetryAfter)
	}
}

// retryTime returns the time after a pause, which MaxCooldown bounds, in Unix milliseconds.
func (j *journal) retryTime(pause time.Duration) int64 {
	return j.cfg.Now().Add(min(pause, MaxCooldown)).UnixMilli()
}

func errManaged(d Domain) error {
	return fault.New(fault.Conflict, "%s is already a mail domain.", d.Name).With("domainId", d.ID)
}
