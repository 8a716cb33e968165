package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/patchbay-dev/patchbay/config"
	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
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
	set, res, diags, err := load(ctx, a.cfg.Path, a.cfg.Env)
	if err != nil || diags.HasErrors() {
		return diags, err
	}
	a.learnSecrets(set, res)
	if err := a.switchable(set); err != nil {
		return diags, err
	}
	change, absent, found, err := a.prepare(ctx, set, res)
	diags = append(diags, found...)
	if err != nil || diags.HasErrors() {
		return diags, err
	}
	if err := a.apply(ctx, set, change); err != nil {
		found, err := set.locateFailure(err)
		return append(diags, found...), err
	}
	a.res = res
	a.absent.replace(absent)
	a.log.Info("the configuration was read again")
	return diags, nil
}

// prepare builds the instances that the settings ask for. Those that are left out are returned with the reason.
func (a *App) prepare(ctx context.Context, set *settings, res *resolver) (*catalog.Change, map[*config.Instance]string, config.Diagnostics, error) {
	plan := set.plan(ctx, a.catalog, res)
	if plan.diags.HasErrors() {
		plan.close()
		return nil, nil, plan.diags, nil
	}
	change, err := a.catalog.Prepare(ctx, plan.wanted, set.file.Dir)
	if err != nil {
		found, err := set.locateFailure(err)
		return nil, nil, append(plan.diags, found...), err
	}
	for ref, err := range change.Failed() {
		in := set.instance(ref)
		found, err := set.locateFailure(err)
		if err != nil {
			found = config.ErrorAt(in.Range, "Plugin failed", err.Error())
		}
		left := leaveOut(in, found)
		plan.diags = append(plan.diags, left.diags...)
		plan.absent[in] = left.absence
	}
	return change, plan.absent, plan.diags, nil
}

// instance returns the block of an instance, or nil.
func (s *settings) instance(ref string) *config.Instance {
	for _, in := range s.file.Instances {
		if in.Ref() == ref {
			return in
		}
	}
	return nil
}

// locateFailure finds the lines of what a plugin has refused. An error of another sort is returned as it is.
func (s *settings) locateFailure(err error) (config.Diagnostics, error) {
	var rejected *catalog.Rejection
	if errors.As(err, &rejected) {
		if in := s.instance(rejected.Ref); in != nil {
			return s.file.Locate(in, rejected.Diagnostics), nil
		}
	}
	return nil, err
}

// apply puts settings and the instances that belong to them into use. Everything that can fail comes first; after an error
// nothing has changed, unless an exclusive instance could not come back: that is looked after as one that was left out.
func (a *App) apply(ctx context.Context, set *settings, change *catalog.Change) error {
	commit, err := a.prepareServices(set, change)
	if err != nil {
		change.Abort()
		return err
	}
	handler, err := a.handler(set)
	if err != nil {
		change.Abort()
		return err
	}
	retire, err := change.Commit(ctx)
	if err != nil {
		for _, in := range a.set.file.Instances {
			if h, missing := a.catalog.Handle(in.Ref()); missing == nil && h.Current() == nil {
				a.log.Error("an instance could not be replaced, and its former configuration could not be opened again", "instance", in.Ref(), "error", err)
				a.absent.add(in, err.Error())
			}
		}
		return err
	}
	a.keepRestartSettings(set)
	a.set = set
	commit()
	a.http.Handle(handler)
	a.retiring.Go(retire)
	return nil
}

// prepareServices checks the settings of the services against the instances of a change, and returns what puts them into use.
func (a *App) prepareServices(set *settings, change *catalog.Change) (commit func(), err error) {
	var commits []func()
	if a.search != nil {
		use, backends, err := a.searchChain(*set.search, change)
		if err != nil {
			return nil, err
		}
		commit, err := a.search.Prepare(use, backends...)
		if err != nil {
			return nil, err
		}
		commits = append(commits, commit)
	}
	if a.containers != nil {
		p, err := a.containerProviders(*set.containers, change)
		if err != nil {
			return nil, err
		}
		commit, err := a.containers.Prepare(*set.containers, p)
		if err != nil {
			return nil, err
		}
		commits = append(commits, commit, func() { a.containers.SetAccess(set.containerAccess()) })
	}
	return func() {
		for _, commit := range commits {
			commit()
		}
	}, nil
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
