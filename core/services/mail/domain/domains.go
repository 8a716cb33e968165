package domain

import (
	"cmp"
	"context"
	"fmt"

	"github.com/patchbay-dev/patchbay/core/cluster"
)

// Domains manages the mail domains.
type Domains struct {
	*journal
	*catchAlls
	*provisioner
}

// New makes the manager.
func New(cfg Config) *Domains {
	cfg.Locks = cmp.Or(cfg.Locks, new(cluster.Locks))
	d := &Domains{journal: &journal{Store: NewStore(cfg.Store), cfg: cfg}}
	d.catchAlls = &catchAlls{d.journal, &router{cfg.Connect}}
	d.provisioner = &provisioner{d.journal, d.catchAlls}
	return d
}

// AddFromSettings makes the domains that the settings name, and that there are not, as active ones. A deleted one comes back, once its
// deletion has ended; one that was disabled stays so. One that somebody changes at present is left out. It may be repeated.
func (d *Domains) AddFromSettings(ctx context.Context, names []string) error {
	for _, name := range names {
		if err := d.addFromSettings(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// addFromSettings is AddFromSettings for one name.
func (d *Domains) addFromSettings(ctx context.Context, name string) error {
	lock, err := d.lockDomain(ctx, name)
	if isBusy(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.Release()
	ctx = lock.Hold(ctx)
	found, exists, err := d.FindByName(ctx, name)
	if err != nil || exists && !found.isDeleted() {
		return err
	}
	row := Domain{Name: name, Binding: FromSettings, Status: Active, ProvisionedAt: d.cfg.Now().UnixMilli()}
	row.setRecords(planRecords(name, d.cfg.Connect().MXHost))
	return d.putDomain(ctx, &row)
}

// NotePlugins notes the plugin of the provider in use in the domains that were provisioned with it before plugins were noted. It does not
// wait for who changes one of them: save and assumePlugin see to it that no note is lost, and none contradicts the provider that such a
// change has asked.
func (d *Domains) NotePlugins(ctx context.Context) error {
	c := d.cfg.Connect()
	if c.DNS == nil || c.Plugin == "" {
		return nil
	}
	unnoted, err := d.lacksPlugin(ctx, c.Ref)
	if err == nil && unnoted {
		err = d.cfg.Store.Tx(ctx, "note the plugins of mail domains",
			func(ctx context.Context) error { return d.setPlugin(ctx, c.Ref, c.Plugin) })
	}
	if err != nil {
		return fmt.Errorf("note the plugins of the mail domains: %w", err)
	}
	return nil
}
