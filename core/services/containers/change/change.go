package change

import (
	"context"
	"fmt"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/containers/backup"
	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
	"github.com/patchbay-dev/patchbay/core/services/containers/health"
	"github.com/patchbay-dev/patchbay/core/services/containers/host"
	"github.com/patchbay-dev/patchbay/core/services/containers/image"
	"github.com/patchbay-dev/patchbay/core/services/containers/order"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

// change is one service on its way to another image.
type change struct {
	s       *Changes
	r       *work.Reporter
	rec     *record.Change
	svc     record.Service
	stack   record.Stack
	spec    changeOptions
	target  project.Target
	started time.Time
	// share is the part of the change in the progress of its job, in percent.
	share float64
	// place is the one that the change has among those that are worked on at the same time; nil where it is alone.
	place *order.Place
	// beside has the commands of those that are worked on at the same time; nil where it is alone.
	beside  *gathering
	outcome changeOutcome
	// recreated is the number of outages of the engine before the service was recreated last; -1 if this attempt has not recreated it.
	recreated int64
}

// changeOutcome is what the summary of a job tells about a service.
type changeOutcome struct {
	TagsPulled  []string
	Warnings    []PullWarning
	FailureStep string
	// Cut tells that further tags were not pulled, because the job was canceled.
	Cut     bool
	Trigger string
	Backups []backup.BackupResult
}

// journalStep stores the step in the journal. It is called before the step is carried out.
func (c *change) journalStep(ctx context.Context, step string) error {
	c.rec.Step = step
	if err := c.s.store.saveChange(context.WithoutCancel(ctx), c.rec); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	return nil
}

// reportProgress reports the progress of the change. The fraction is from 0 to 1.
func (c *change) reportProgress(ctx context.Context, fraction float64, message string) {
	c.r.NoteShare(c.svc.ID, c.share*fraction)
	c.r.UpdateProgress(ctx, func(p *work.ProgressState) {
		p.Phase, p.Message, p.CurrentTarget, p.Download = c.rec.Step, message, c.displayName(), nil
	})
}

// composeCall is a compose command on the service that keeps the number of its containers.
func (c *change) composeCall(action string) host.ComposeCall {
	call := host.ComposeCall{Action: action, Services: []string{c.svc.Name}}
	if c.rec.Replicas > 0 {
		call.Scale = map[string]int{c.svc.Name: c.rec.Replicas}
	}
	return call
}

// wantedAfter returns the containers that must be there at the end of the change.
func (c *change) wantedAfter(imageID, digest string) health.Wanted {
	return health.Wanted{ImageID: imageID, Digest: digest, Replicas: c.rec.Replicas, RunsOnce: c.rec.RunsOnce}
}

func (c *change) displayName() string { return c.stack.Project + " / " + c.svc.Name }

// finishChange stores the outcome of the change, and what the service runs now.
func (c *change) finishChange(ctx context.Context, status string, cause error) error {
	ctx = context.WithoutCancel(ctx)
	c.rec.Status, c.rec.FinishedAt = status, c.s.now()
	if status == record.ChangeSuccess {
		c.rec.Step = stepDone
	}
	if cause != nil {
		c.rec.Error, c.rec.Reason = failure.Text(cause), failure.Code(cause)
	}
	if err := c.s.store.finishChange(ctx, c.rec, c.svc.ID, c.s.now()); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	changed := []string{c.svc.ID}
	for _, d := range c.rec.Dependents {
		changed = append(changed, d.ServiceID)
	}
	c.s.cfg.Projects.RefreshServices(ctx, changed)
	if status == record.ChangeSuccess {
		c.reportSuccess(ctx)
	}
	return nil
}

// staysStopped reports whether the service did not run when the change began and is not to run after it.
func (c *change) staysStopped() bool {
	return c.rec.FromState == record.StateStopped && c.rec.FromImage != "" && c.rec.RunsOnce == ""
}

// reportSuccess says what there is of the service after its change.
func (c *change) reportSuccess(ctx context.Context) {
	digest := record.ShortDigest(c.rec.ToDigest)
	switch {
	case c.rec.RunsOnce != "":
		c.r.LogInfo(ctx, "%s: was run with %s", c.displayName(), digest)
	case c.staysStopped():
		c.r.LogInfo(ctx, "%s: has %s, and stays stopped", c.displayName(), digest)
	default:
		c.r.LogInfo(ctx, "%s: runs %s", c.displayName(), digest)
	}
}

// newChange takes a record up. The service goes by the name of the image that it had when the change began: the project's
// files may say something else by now.
func (x *Changes) newChange(r *work.Reporter, rec *record.Change, svc record.Service, st record.Stack, spec changeOptions, t project.Target) *change {
	if ref, err := image.Parse(rec.Image); err == nil {
		svc.Image, svc.Repo, svc.Tag, svc.Pinned = rec.Image, ref.Repo(), ref.Tag, ref.Digest
	}
	return &change{s: x, r: r, rec: rec, svc: svc, stack: st, spec: spec, target: t, started: x.cfg.Now(), recreated: -1}
}

// runStep does a step of the change, again where the engine was away meanwhile.
func (c *change) runStep(ctx context.Context, do func(context.Context) error) error {
	return c.s.cfg.Host.RepeatAfterOutage(ctx, c.r, c.displayName(), do)
}

// awaitNextJob leaves the change open at its step, because the engine did not come back within the time that a job waits. Once it answers
// another job goes on from there. The error is that of this job.
func (c *change) awaitNextJob(ctx context.Context, cause error) error {
	ctx = context.WithoutCancel(ctx)
	c.rec.WaitsSince = c.s.now()
	if err := c.s.store.saveChange(ctx, c.rec); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	c.s.waiting.Store(true)
	c.r.LogError(ctx, "%s: the engine did not come back at the step %s (%s); another job goes on when it does", c.displayName(), c.rec.Step, failure.Text(cause))
	return fault.Wrap(failure.ErrEngineAway, fault.Conflict,
		"%s: The engine did not come back within %s. When it does, another job continues at the step %s.",
		c.displayName(), c.s.cfg.Host.OutageWait(), c.rec.Step).
		With("reason", failure.EngineAway)
}

// rollbackTime bounds an automatic rollback, which goes on when its job is cancelled.
const rollbackTime = 15 * time.Minute
