package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/patchbay-dev/patchbay/config"
	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
	"github.com/patchbay-dev/patchbay/core/settings"
)

// Reload reads the configuration again and puts what has changed into use, all or nothing. Requests that are under way
// finish on what they began with. With errors in the diagnostics, or another error, the running configuration stays, and
// pages, /readyz and metrics tell so until a reload succeeds.
func (a *App) Reload(ctx context.Context) (config.Diagnostics, error) {
	a.reload.Lock()
	defer a.reload.Unlock()
	if a.draining {
		return nil, errors.New("the core is stopping")
	}
	diags, err := a.reloadConfiguration(ctx)
	a.outcome.record(diags, err)
	return diags, err
}

func (a *App) reloadConfiguration(ctx context.Context) (config.Diagnostics, error) {
	set, res, diags, err := a.cfg.configSource().Load(ctx)
	if err != nil || diags.HasErrors() {
		return diags, err
	}
	if diags = append(diags, set.CheckBackupFolder()...); diags.HasErrors() {
		return diags, nil
	}
	a.learnSecrets(set, res)
	if err := a.checkSwitches(set); err != nil {
		return diags, err
	}
	change, absent, found, err := a.prepareInstances(ctx, set, res)
	diags = append(diags, found...)
	if err != nil || diags.HasErrors() {
		return diags, err
	}
	if err := a.applySettings(ctx, set, change); err != nil {
		found, err := set.LocateFailure(err)
		return append(diags, found...), err
	}
	a.res = res
	a.absent.replaceAll(absent)
	a.rescheduleBackups(ctx, set)
	a.log.Info("configuration reloaded")
	return diags, nil
}

// prepareInstances builds the instances that the settings ask for. Those that are left out are returned with the reason.
func (a *App) prepareInstances(ctx context.Context, set *settings.Settings,
	res *settings.Resolver) (*catalog.Change, map[*config.Instance]string, config.Diagnostics, error) {
	plan := set.Plan(ctx, a.catalog, res)
	if plan.Diags.HasErrors() {
		plan.Close()
		return nil, nil, plan.Diags, nil
	}
	change, err := a.catalog.Prepare(ctx, plan.Wanted, set.File.Dir)
	if err != nil {
		found, err := set.LocateFailure(err)
		return nil, nil, append(plan.Diags, found...), err
	}
	for ref, err := range change.Failed() {
		in := set.Instance(ref)
		found, err := set.LocateFailure(err)
		if err != nil {
			found = config.ErrorAt(in.Range, "Plugin failed", err.Error())
		}
		left, absence := settings.LeaveOut(in, found)
		plan.Diags = append(plan.Diags, left...)
		plan.Absent[in] = absence
	}
	return change, plan.Absent, plan.Diags, nil
}

// applySettings puts settings and the instances that belong to them into use. Everything that can fail comes first; after an error
// nothing has changed, unless an exclusive instance could not come back: that is looked after as one that was left out.
func (a *App) applySettings(ctx context.Context, set *settings.Settings, change *catalog.Change) error {
	commit, err := a.prepareServices(set, change)
	if err != nil {
		change.Abort()
		return err
	}
	handler, err := a.buildHandler(set)
	if err != nil {
		change.Abort()
		return err
	}
	retire, err := change.Commit(ctx)
	a.metrics.askHealthSoon()
	if err != nil {
		for _, in := range a.set.File.Instances {
			if h, missing := a.catalog.Handle(in.Ref()); missing == nil && h.Current() == nil {
				a.log.Error("instance replacement failed, and the old one did not come back", "instance", in.Ref(), "error",
					err)
				a.absent.add(in, err.Error())
			}
		}
		return err
	}
	a.warnOfRestartSettings(set)
	a.set = set
	commit()
	a.inUse.Store(set)
	a.http.Handle(handler)
	a.retiring.Go(retire)
	return nil
}

// warnOfRestartSettings warns of changes that wait for a restart.
func (a *App) warnOfRestartSettings(next *settings.Settings) {
	for _, c := range []struct {
		name    string
		changed bool
	}{
		{"core.http_addr", next.Core.HTTPAddr != a.set.Core.HTTPAddr},
		{"core.admin_addr", next.Core.AdminAddr != a.set.Core.AdminAddr},
		{"core.data_dir", next.DataDir != a.set.DataDir},
		{"core.secret_key", next.Core.SecretKey != a.set.Core.SecretKey},
		{"core.socket_dir", next.Core.SocketDir != a.set.Core.SocketDir},
		{"core.trusted_proxies", fmt.Sprint(next.Core.TrustedProxies) != fmt.Sprint(a.set.Core.TrustedProxies)},
		{"core.log_level", next.Core.LogLevel != a.set.Core.LogLevel || next.Core.LogFormat != a.set.Core.LogFormat},
		{"storage", next.Store != a.set.Store},
	} {
		if c.changed {
			a.log.Warn("setting changed, restart to apply it", "setting", c.name)
		}
	}
}
