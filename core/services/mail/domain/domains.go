package domain

import (
	"context"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/store"
)

// Config is what the package needs.
type Config struct {
	Store  *store.Store
	Logger hclog.Logger
	// Now is the clock.
	Now func() time.Time
}

// Domains manages the mail domains.
type Domains struct {
	*Store
	cfg Config
}

// New makes the manager.
func New(cfg Config) *Domains { return &Domains{Store: NewStore(cfg.Store), cfg: cfg} }

// AddFromSettings makes the domains that the settings name, and that there are not, as active ones. A deleted one comes back;
// one that was disabled stays so.
func (d *Domains) AddFromSettings(ctx context.Context, names []string) error {
	for _, name := range names {
		found, exists, err := d.FindByName(ctx, name)
		if err != nil {
			return err
		}
		if exists && found.DeletedAt == 0 {
			continue
		}
		if err := d.addActive(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// addActive adds a domain that no provider is asked about.
func (d *Domains) addActive(ctx context.Context, name string) error {
	now := d.cfg.Now().UnixMilli()
	return d.cfg.Store.Tx(ctx, "add mail domain", func(ctx context.Context) error {
		row := Domain{ID: store.NewID("dom"), Name: name, Binding: FromSettings, Status: Active, CreatedAt: now, UpdatedAt: now, ProvisionedAt: now}
		added, err := d.insert(ctx, &row)
		if err != nil || added {
			return err
		}
		former, _, err := d.FindByName(ctx, name)
		if err != nil || former.DeletedAt == 0 {
			return err
		}
		row.ID = former.ID
		return d.save(ctx, &row)
	})
}

// NeedsRule reports whether a mailbox of the domain needs a rule of its own at the provider.
func (d *Domains) NeedsRule(Domain) bool { return false }

// AddRule makes the rule for an address, or finds the one that there is, and returns its id.
func (d *Domains) AddRule(context.Context, Domain, string) (ruleID string, err error) { return "", nil }

// RemoveRule deletes a rule. That there is none is no error.
func (d *Domains) RemoveRule(_ context.Context, _, _, _ string) error { return nil }
