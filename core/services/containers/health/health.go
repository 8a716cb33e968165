// Package health waits until services consist of the wanted containers and these are healthy.
package health

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
	"github.com/patchbay-dev/patchbay/core/services/containers/host"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// Checker finds out whether services consist of the wanted containers, and whether these are healthy.
type Checker struct {
	host     *host.Host
	settings func() Settings
}

// Settings say how long things may take.
type Settings struct {
	// Timeout is how long a new container may take to become healthy, SettleTime how long one without a health check must run.
	Timeout, SettleTime time.Duration
}

// New returns a checker. settings returns those in use.
func New(h *host.Host, settings func() Settings) *Checker { return &Checker{h, settings} }

// healthPause is the pause between two looks at a new container.
const healthPause = 500 * time.Millisecond

// containerWatch holds what was seen of a container so far.
type containerWatch struct {
	restarts int
	started  int64
	since    time.Time
}

// WaitHealthy waits until the service has exactly the wanted containers and they are healthy: by their health check, or,
// without one, by running for the settling time without a restart. The containers are looked up each time: compose may
// replace them.
func (h *Checker) WaitHealthy(ctx context.Context, r *work.Reporter, st *record.Stack, svc *record.Service, want Wanted) error {
	limit := h.settings().Timeout
	if svc.HealthTimeout > 0 {
		limit = time.Duration(svc.HealthTimeout) * time.Second
	}
	limit = want.runTimeLimit(svc, limit)
	begin, grace, outages := time.Now(), time.Duration(0), h.host.OutageCount()
	seen := map[string]*containerWatch{}
	for {
		state, wait, err := h.inspectContainers(ctx, st, svc, want, seen)
		if ctx.Err() == nil && failure.IsEngineGone(err) {
			// An engine that is restarted says nothing about the service: it is asked again while there is time.
			state, err = stateAway, nil
			_ = h.host.AskEngine(ctx)
		}
		if err != nil {
			return err
		}
		if err := h.checkInterrupted(state, outages); err != nil {
			return err
		}
		if state == "" {
			return h.host.RetryStep(ctx, func() error { return h.checkDigest(ctx, svc, want) })
		}
		grace = max(grace, wait)
		if time.Since(begin) > limit+grace && want.RunsOnce == RunsAsBefore && state == stateRunning {
			r.LogWarning(ctx, "%s / %s still runs after %s, and is not waited for any longer", st.Project, svc.Name, limit)
			return h.host.RetryStep(ctx, func() error { return h.checkDigest(ctx, svc, want) })
		}
		if time.Since(begin) > limit+grace && want.RunsOnce != "" {
			return fault.New(fault.Conflict, "%s did not end within %s: %s", svc.Name, limit, state)
		}
		if time.Since(begin) > limit+grace {
			return fault.New(fault.Conflict, "%s did not become healthy within %s: %s", svc.Name, (limit + grace).Round(time.Second), state)
		}
		r.UpdateOften(ctx, func(p *work.ProgressState) { p.Message, p.CurrentTarget = state, st.Project+" / "+svc.Name })
		if err := event.Sleep(ctx, healthPause); err != nil {
			return err
		}
	}
}

// checkInterrupted returns an error if a state cannot get better by itself because the engine was away since the given number of outages:
// nobody starts a container any more that was only created.
func (h *Checker) checkInterrupted(state string, outages int64) error {
	if state == stateCreated && h.host.OutageCount() != outages {
		return fault.Wrap(ErrNotRunning, fault.Conflict, "The engine became unreachable before it started a container.")
	}
	return nil
}

// inspectContainers inspects the containers once. The state is empty if all are healthy, else it says what is awaited. The
// grace is their longest start period.
func (h *Checker) inspectContainers(ctx context.Context, st *record.Stack, svc *record.Service, want Wanted, seen map[string]*containerWatch) (state string, grace time.Duration, err error) {
	list, err := h.host.AllContainersOf(ctx, st.Project, svc.Name)
	if err != nil {
		return "", 0, err
	}
	if missing, err := want.checkReplicas(list); missing != "" || err != nil {
		return missing, 0, err
	}
	for _, c := range list {
		d, err := h.host.Engine().Inspect(ctx, c.ID)
		if fault.CodeOf(err) == fault.NotFound {
			return "a container was replaced", 0, nil
		}
		if err != nil {
			return "", 0, fmt.Errorf("inspect %s: %w", c.Name, err)
		}
		if d.ImageID != want.ImageID {
			return "", 0, fault.New(fault.Conflict, "The container %s runs image %s instead of %s.", d.Name, record.ShortDigest(d.ImageID), record.ShortDigest(want.ImageID))
		}
		grace = max(grace, time.Duration(d.StartPeriodMS)*time.Millisecond)
		var waits string
		if want.RunsOnce != "" {
			waits, err = checkEnded(d)
		} else {
			waits, err = h.checkHealth(d, seen)
		}
		if err != nil {
			return "", grace, err
		}
		if waits != "" {
			state = waits
		}
	}
	return state, grace, nil
}

// checkHealth returns what a container is waiting for, "" if it is healthy, or an error if it will not become healthy.
func (h *Checker) checkHealth(d *engine.Detail, seen map[string]*containerWatch) (waits string, err error) {
	w := seen[d.ID]
	if w == nil {
		w = &containerWatch{restarts: d.RestartCount, started: d.StartedAt, since: time.Now()}
		seen[d.ID] = w
	}
	switch {
	case d.State == "exited" || d.State == "dead" || d.Error != "":
		return "", fault.Wrap(ErrNotRunning, fault.Conflict, "The container %s ended with exit code %d%s.", d.Name, d.ExitCode, describeState(d))
	case d.State == "restarting" || d.RestartCount > w.restarts || d.RestartCount > 0 && d.StartedAt != w.started:
		code := ""
		if d.State == "restarting" {
			// A container that runs again has no exit code: the engine says 0 then.
			code = fmt.Sprintf(", exit code %d", d.ExitCode)
		}
		return "", fault.New(fault.Conflict, "The container %s keeps restarting%s%s.", d.Name, code, describeState(d))
	case d.State != "running":
		return "the container is " + d.State, nil
	case d.Health == "unhealthy":
		return "", fault.New(fault.Conflict, "The container %s is unhealthy%s.", d.Name, describeState(d))
	case d.Health == "starting":
		return "its health check has not passed yet", nil
	case d.Health == "healthy":
		return "", nil
	}
	settle := h.settings().SettleTime
	if w.started != d.StartedAt {
		w.started, w.since = d.StartedAt, time.Now()
	}
	if ran := time.Since(w.since); ran < settle {
		return fmt.Sprintf("running without a health check: %s of %s", ran.Round(time.Second), settle), nil
	}
	return "", nil
}

// checkDigest makes sure that the image is the one that was asked for.
func (h *Checker) checkDigest(ctx context.Context, svc *record.Service, want Wanted) error {
	if want.Digest == "" {
		return nil
	}
	found, err := h.host.Engine().Images(ctx, []string{want.ImageID})
	if err != nil {
		return err
	}
	if len(found) == 1 && found[0] != nil && slices.Contains(record.DigestsInRepo(svc.Repo, found[0].RepoDigests), want.Digest) {
		return nil
	}
	return fault.New(fault.Conflict, "The running image does not have the digest %s.", want.Digest)
}

// CheckStopped makes sure that a service that does not run consists of the wanted containers.
func (h *Checker) CheckStopped(ctx context.Context, st *record.Stack, svc *record.Service, want Wanted) error {
	list, err := h.host.AllContainersOf(ctx, st.Project, svc.Name)
	if err != nil {
		return err
	}
	if err := want.RequireReplicas(svc.Name, list); err != nil {
		return err
	}
	for _, c := range list {
		if c.ImageID != want.ImageID {
			return fault.New(fault.Conflict, "The container %s has image %s instead of %s.", c.Name, record.ShortDigest(c.ImageID), record.ShortDigest(want.ImageID))
		}
	}
	return nil
}
