package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/patchbay-dev/patchbay/config"
)

// Reload reads the configuration again and puts what has changed into use, all or nothing. Requests that are under way
// finish on what they began with. With errors in the diagnostics, or another error, the running configuration stays.
func (a *App) Reload(ctx context.Context) (config.Diagnostics, error) {
	a.reload.Lock()
	defer a.reload.Unlock()
	if a.draining {
		return nil, errors.New("the core is stopping")
	}
	set, res, diags, err := load(ctx, a.cfg.Path, a.cfg.Env)
	if err != nil || diags.HasErrors() {
		return diags, err
	}
	if err := a.switchable(set); err != nil {
		return diags, err
	}
	change, found, err := a.prepare(ctx, set, res)
	diags = append(diags, found...)
	if err != nil || diags.HasErrors() {
		return diags, err
	}
	retire, err := change.Commit(ctx)
	if err != nil {
		a.log.Error("an instance could not be replaced and keeps its former configuration", "error", err)
	}
	defer func() { a.retiring.Go(retire) }()
	a.keepRestartSettings(set)
	a.set = set
	if a.search != nil {
		use, backends, err := a.searchChain(*set.search)
		if err != nil {
			return diags, err
		}
		if err := a.search.Reload(use, backends...); err != nil {
			return diags, err
		}
	}
	if a.containers != nil {
		p, err := a.containerProviders(*set.containers)
		if err != nil {
			return diags, err
		}
		if err := a.containers.Reload(*set.containers, p); err != nil {
			return diags, err
		}
		a.containers.SetAccess(set.containerAccess())
	}
	if err := a.mount(); err != nil {
		return diags, err
	}
	a.log.Info("the configuration was read again")
	return diags, nil
}

// switchable refuses what cannot change while the core runs.
func (a *App) switchable(next *settings) error {
	for name, switched := range map[string]bool{
		"search":     (next.search == nil) != (a.set.search == nil),
		"containers": (next.containers == nil) != (a.set.containers == nil),
	} {
		if switched {
			return fmt.Errorf("switching the service %q on or off needs a restart; nothing was changed", name)
		}
	}
	return nil
}

// keepRestartSettings warns of changes that wait for a restart.
func (a *App) keepRestartSettings(next *settings) {
	for _, c := range []struct {
		name    string
		changed bool
	}{
		{"core.http_addr", next.core.HTTPAddr != a.set.core.HTTPAddr},
		{"core.admin_addr", next.core.AdminAddr != a.set.core.AdminAddr},
		{"core.data_dir", next.dataDir != a.set.dataDir},
		{"core.secret_key", next.core.SecretKey != a.set.core.SecretKey},
		{"core.socket_dir", next.core.SocketDir != a.set.core.SocketDir},
		{"core.trusted_proxies", fmt.Sprint(next.core.TrustedProxies) != fmt.Sprint(a.set.core.TrustedProxies)},
		{"core.log_level", next.core.LogLevel != a.set.core.LogLevel || next.core.LogFormat != a.set.core.LogFormat},
		{"storage", next.store != a.set.store},
	} {
		if c.changed {
			a.log.Warn("a changed setting takes effect at the next restart", "setting", c.name)
		}
	}
}
