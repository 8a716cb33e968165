package supervisor

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// patientEngine is an engine whose calls wait while it is away, as in its restart. Info and Compose do not.
type patientEngine struct {
	Engine
	limit time.Duration
	// waited is how long calls have waited for the engine in all, in nanoseconds.
	waited atomic.Int64
}

// isEngineGone reports whether an error says nothing about the request: the engine or its plugin is not there.
func isEngineGone(err error) bool {
	return client.CauseOf(err) == client.CauseUnreachable || fault.CodeOf(err) == fault.PluginUnavailable
}

// callPatiently makes a call again while the engine is away, and once more when it is back. An upstream of the engine that is away, such as
// a registry, is not waited for.
func (e *patientEngine) callPatiently(ctx context.Context, do func() error) error {
	answered := false
	for began := time.Now(); ; {
		err := do()
		if err == nil || ctx.Err() != nil || !isEngineGone(err) || answered || time.Since(began) > e.limit {
			return err
		}
		if _, gone := e.Engine.Info(ctx, ""); gone == nil {
			answered = true
			continue
		}
		if err := event.Sleep(ctx, lookEvery); err != nil {
			return err
		}
		e.waited.Add(int64(lookEvery))
	}
}

// Containers implements Engine.
func (e *patientEngine) Containers(ctx context.Context, f engine.Filter) (out []engine.Container, err error) {
	err = e.callPatiently(ctx, func() (err error) { out, err = e.Engine.Containers(ctx, f); return err })
	return out, err
}

// Inspect implements Engine.
func (e *patientEngine) Inspect(ctx context.Context, id string) (out *engine.Detail, err error) {
	err = e.callPatiently(ctx, func() (err error) { out, err = e.Engine.Inspect(ctx, id); return err })
	return out, err
}

// Images implements Engine.
func (e *patientEngine) Images(ctx context.Context, refs []string) (out []*engine.Image, err error) {
	err = e.callPatiently(ctx, func() (err error) { out, err = e.Engine.Images(ctx, refs); return err })
	return out, err
}

// Pull implements Engine.
func (e *patientEngine) Pull(ctx context.Context, req engine.PullRequest,
	send func(engine.PullProgress) error) (out *engine.Image, err error) {
	err = e.callPatiently(ctx, func() (err error) { out, err = e.Engine.Pull(ctx, req, send); return err })
	return out, err
}

// Run implements Engine. A command that does not end within imageTimeout is an error.
func (e *patientEngine) Run(ctx context.Context, req engine.RunRequest) (out *engine.RunResult, err error) {
	err = e.callPatiently(ctx, func() (err error) {
		bounded, cancel := context.WithTimeout(ctx, imageTimeout)
		defer cancel()
		if out, err = e.Engine.Run(bounded, req); err != nil && bounded.Err() != nil && ctx.Err() == nil {
			return fault.New(fault.Conflict, "It did not end within %s.", imageTimeout)
		}
		return err
	})
	return out, err
}

// Tag implements Engine.
func (e *patientEngine) Tag(ctx context.Context, image, ref string) error {
	return e.callPatiently(ctx, func() error { return e.Engine.Tag(ctx, image, ref) })
}
