package app

import (
	"context"
	"time"

	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/store"
)

// openStore opens the database and brings it up to date.
func (a *App) openStore(ctx context.Context) (err error) {
	cfg := a.set.Store
	if a.keyring, err = secret.LoadKeyring(a.set.Keyring()); err != nil {
		return err
	}
	a.keyring.Observe(func(plain string) { a.redact.Add(plain) })
	cfg.Logger, cfg.Exclusive = a.log.ResetNamed("store"), !cfg.Shared
	if a.store, err = store.Open(ctx, cfg); err != nil {
		return err
	}
	a.closers = append(a.closers, func() { _ = a.store.Close() })
	if cfg.Shared {
		if err := store.LockShared(ctx, a.store); err != nil {
			return err
		}
		now, err := store.ReadClock(ctx, a.store)
		if err == nil {
			err = checkClock(time.Now(), now)
		}
		if err != nil {
			return err
		}
	}
	store.ListOthers(a.store, cluster.ListRunning)
	if err := a.store.Migrate(ctx, a.cfg.configSource().Migrations()...); err != nil {
		return err
	}
	switch created, steps := a.store.Migrated(); {
	case created:
		a.log.Info("database created", "version", a.cfg.Version)
	case steps > 0:
		a.log.Info("database migrated", "version", a.cfg.Version, "migrations", steps)
	}
	a.secrets.Store, a.secrets.Keyring = a.store, a.keyring
	if err := a.watchTimes(ctx); err != nil {
		return err
	}
	if cfg.Shared {
		if err := cluster.CheckMasterKey(ctx, a.store, a.keyring); err != nil {
			return err
		}
	}
	return joinNodes(ctx, a)
}
