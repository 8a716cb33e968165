package app

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/patchbay-dev/patchbay/config"
	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/console"
	"github.com/patchbay-dev/patchbay/core/operator"
	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
	"github.com/patchbay-dev/patchbay/core/plugin/host"
)

const (
	// restartWait is how long a restart of a plugin is waited for, restartPoll how often it is looked at meanwhile.
	restartWait = 30 * time.Second
	restartPoll = 50 * time.Millisecond
)

// startOperator serves the socket for commands of the operator. A core without a safe place for it runs all the same.
func (a *App) startOperator() {
	served, err := operator.Serve(operator.Config{
		Paths: operator.SocketPaths(a.set.DataDir, a.set.Core.SocketDir), Core: operatorCore{a}, Plugins: operatorPlugins{a}, Jobs: a.queue,
		Audit: a.users.Journal, Logger: a.log.ResetNamed("operator"),
	})
	if err != nil {
		a.log.Warn("command socket off: reload and status do not work; set socket_dir in core to a short path that only you can write to", "reason", err)
		return
	}
	a.log.Debug("commands of the operator are served", "socket", served.Path())
	a.closers = append(a.closers, served.Close)
}

// operatorCore implements operator.Core.
type operatorCore struct{ app *App }

// Status implements operator.Core.
func (o operatorCore) Status(ctx context.Context) (operator.Status, error) {
	a := o.app
	running, queued, err := a.queue.CountOpen(ctx)
	if err != nil {
		return operator.Status{}, err
	}
	found := a.checkReadiness(ctx)
	checks := found.states()
	out := operator.Status{
		Version: a.cfg.Version, StartedAt: operator.FormatTime(a.began), Uptime: int64(time.Since(a.began).Seconds()), Ready: found.Ready,
		Database: newStatus("database", "", checks), Services: []operator.ServiceStatus{}, Plugins: operatorPlugins{a}.List(),
		LastReload: a.outcome.describeLast(), Jobs: operator.JobCounts{Running: running, Queued: queued},
	}
	set := a.inUse.Load()
	for _, s := range a.services {
		if _, asked := checks[s.name]; !asked {
			checks[s.name] = stateOK
		}
		out.Services = append(out.Services, newStatus(s.name, set.Service(s.name).BaseURL, checks))
	}
	return out, nil
}

// newStatus returns what a check of the readiness says.
func newStatus(name, baseURL string, checks map[string]string) operator.ServiceStatus {
	out := operator.ServiceStatus{Name: name, BaseURL: baseURL, Ready: checks[name] == stateOK}
	if !out.Ready {
		out.Message = checks[name]
	}
	return out
}

// Reload implements operator.Core.
func (o operatorCore) Reload(ctx context.Context) operator.Reload {
	diags, err := o.app.Reload(ctx)
	diags.Sort()
	out := operator.Reload{Accepted: err == nil && !diags.HasErrors(), Diagnostics: make([]operator.Diagnostic, len(diags))}
	for i, d := range diags {
		var text bytes.Buffer
		_ = config.Diagnostics{d}.WriteText(&text, false)
		out.Diagnostics[i] = operator.Diagnostic{Severity: "error", Summary: d.Summary, Detail: d.Detail, File: d.File, Line: d.Line,
			Text: text.String()}
		if d.Severity == config.Warning {
			out.Diagnostics[i].Severity = "warning"
		}
	}
	if err != nil {
		out.Error = err.Error()
	} else {
		err = diags.Err()
	}
	if err != nil {
		o.app.log.Error("reload failed, keeping the running configuration", "error", err)
	}
	return out
}

const (
	// upgradeTurn is the turn of the core that is being upgraded, upgradeTime how long it has the turn if nobody ends it.
	upgradeTurn = "upgrade"
	upgradeTime = 15 * time.Minute
)

// BeginUpgrade implements operator.Core. A core alone goes on with its work.
func (o operatorCore) BeginUpgrade(ctx context.Context) (out operator.Upgrade, err error) {
	st, id := o.app.store, o.app.cluster.ID()
	if !st.Shared() {
		return out, nil
	}
	out.WaitsFor, err = cluster.TakeTurn(ctx, st, upgradeTurn, id, upgradeTime)
	if err != nil || out.WaitsFor != "" {
		return out, err
	}
	return out, cluster.SetDrain(ctx, st, id, true)
}

// EndUpgrade implements operator.Core.
func (o operatorCore) EndUpgrade(ctx context.Context) error {
	st, id := o.app.store, o.app.cluster.ID()
	if !st.Shared() {
		return nil
	}
	return errors.Join(cluster.SetDrain(ctx, st, id, false), cluster.EndTurn(ctx, st, upgradeTurn, id))
}

// operatorPlugins implements operator.Plugins.
type operatorPlugins struct{ app *App }

// providers returns the plugins as plugin.hcl has them that is in use.
func (o operatorPlugins) providers() *providers {
	return newProviders(o.app, o.app.inUse.Load().File)
}

// List implements operator.Plugins.
func (o operatorPlugins) List() []operator.Plugin {
	found := o.providers().Instances()
	out := make([]operator.Plugin, len(found))
	for i := range found {
		out[i] = describePlugin(&found[i])
	}
	return out
}

// describePlugin returns an instance as the API shows it.
func describePlugin(in *console.Instance) operator.Plugin {
	return operator.Plugin{
		Ref: in.Ref, Kind: in.Kind, Plugin: in.Plugin, Version: in.Version, State: in.State, Message: in.Message,
		Since: operator.FormatTime(in.Since),
		PID:   in.PID, Restarts: in.Restarts,
	}
}

// find returns an instance of plugin.hcl. The error for an unknown one names those that there are.
func (o operatorPlugins) find(ref string) (operator.Plugin, error) {
	all := o.List()
	names := make([]string, len(all))
	for i, p := range all {
		if p.Ref == ref {
			return p, nil
		}
		names[i] = p.Ref
	}
	return operator.Plugin{}, operator.UnknownInstance(ref, names)
}

// Restart implements operator.Plugins.
func (o operatorPlugins) Restart(ctx context.Context, ref string) (operator.Plugin, error) {
	before, err := o.find(ref)
	if err != nil {
		return before, err
	}
	if err := o.providers().Restart(ref); err != nil {
		return before, err
	}
	if before.State == stateOff { // nothing runs: that it is opened anew is not waited for
		return o.find(ref)
	}
	ctx, cancel := context.WithTimeout(ctx, restartWait)
	defer cancel()
	tick := time.NewTicker(restartPoll)
	defer tick.Stop()
	for {
		now, err := o.find(ref)
		if err != nil || hasRestarted(before, now) {
			return now, err
		}
		select {
		case <-ctx.Done():
			return now, nil
		case <-tick.C:
		}
	}
}

// hasRestarted reports whether the restart of an instance has ended: it serves again, or cannot.
func hasRestarted(before, now operator.Plugin) bool {
	switch host.State(now.State) {
	case host.Ready, host.Degraded, catalog.Unhealthy:
		return now.PID != before.PID
	case host.Backoff, host.Failed:
		return now.Restarts > before.Restarts || now.Since > before.Since
	}
	return false
}

// LogsAfter implements operator.Plugins.
func (o operatorPlugins) LogsAfter(ref string, process any, n int64) (operator.Lines, error) {
	if _, err := o.find(ref); err != nil {
		return operator.Lines{}, err
	}
	in, err := o.providers().runningInstance(ref)
	if err != nil {
		return operator.Lines{}, err
	}
	if p, ok := process.(*host.Process); !ok || p != in.Process() {
		n = 0
	}
	lines, written, more := in.Process().LogsAfter(n)
	return operator.Lines{Lines: lines, Process: in.Process(), Written: written, More: more}, nil
}
