package domain

import (
	"context"
	"errors"
	"fmt"

	"github.com/patchbay-dev/patchbay/core/fault"
)

// ErrOtherProvider is in the chain of errors which say that another provider is in use than a domain was provisioned with. Their messages
// are for administrators.
var ErrOtherProvider = errors.New("another DNS provider is in use")

// sameProvider fails with ErrOtherProvider if another provider is in use than the one that a domain was provisioned with: another
// instance, or another plugin behind the same reference.
func sameProvider(c Connection, row Domain) error {
	if c.DNS == nil || c.Ref != row.Provider {
		return fault.Wrap(ErrOtherProvider, fault.Conflict, "%s was provisioned with %s, which the service does not use at present. "+
			"\"Check again\" with another provider gives up what the former one had been given.", row.Name, row.Provider)
	}
	if hasOtherProvider(c, row) {
		return fault.Wrap(ErrOtherProvider, fault.Conflict, "%s was provisioned with the plugin %s, and %s is %s now. "+
			"\"Check again\" gives up what the former one had been given.", row.Name, row.Plugin, c.Ref, c.Plugin)
	}
	return nil
}

// hasOtherProvider reports whether there is a provider in use, and it is another one than a domain has something at: another instance or,
// as far as both are known, another plugin. The ids of one provider may name something else at another.
func hasOtherProvider(c Connection, row Domain) bool {
	if c.DNS == nil || row.Provider == "" && row.ZoneID == "" {
		return false
	}
	return c.Ref != row.Provider || row.Plugin != "" && c.Plugin != "" && row.Plugin != c.Plugin
}

// assumePlugin returns a domain with the plugin of the provider in use, if it was provisioned with that provider and has no plugin noted.
// Who begins to change the domain calls it, so that another plugin which is put into use meanwhile is noticed.
func (d *Domains) assumePlugin(row Domain) Domain {
	if row.Plugin == "" && row.Provider != "" {
		if c := d.cfg.Connect(); c.DNS != nil && c.Ref == row.Provider {
			row.Plugin = c.Plugin
		}
	}
	return row
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

// forgetProvider takes out of a domain what the provider before has set up, and nobody can take back any more. Its provisioning has begun
// then.
func (d *Domains) forgetProvider(ctx context.Context, row *Domain) error {
	row.endOperation()
	row.beginOperation(opProvision)
	row.Status, row.ProvisionError, row.Plugin = ProvisioningError, notFinished, ""
	return d.forgetZone(ctx, row)
}

// forgetZone stores a domain without what it has at its provider: the zone, the rules of the mailboxes and, if the provider routed mail,
// the catch-all. It locks the domain before its mailboxes.
func (d *Domains) forgetZone(ctx context.Context, row *Domain) error {
	return d.cfg.Store.Tx(ctx, "forget the zone of mail domain", func(ctx context.Context) error {
		if _, err := d.LockDomain(ctx, row.ID); err != nil {
			return err
		}
		if err := d.cfg.Mailboxes.ForgetRules(ctx, row.ID); err != nil {
			return err
		}
		if row.Routed && row.CatchAll {
			if err := d.cfg.Mailboxes.ExpireCaught(ctx, row.ID, d.cfg.Now()); err != nil {
				return err
			}
			row.CatchAll, row.CatchAllPattern, row.CatchAllOwnerID = false, "", ""
		}
		if row.Binding == FromBind {
			row.Binding = FromCatalog
		}
		row.setNameServers(nil)
		row.ZoneID, row.Routed, row.CatchAllSnapshot = "", false, nil
		row.UpdatedAt = d.cfg.Now().UnixMilli()
		return d.replaceDomain(ctx, row)
	})
}
