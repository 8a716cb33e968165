package change

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/containers/backup"
	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
	"github.com/patchbay-dev/patchbay/core/services/containers/host"
	"github.com/patchbay-dev/patchbay/core/services/containers/order"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// The steps of a change, in order. The journal has the one that is about to be done, so that after a crash it is known
// what may have happened and what has not.
const (
	StepPull         = "pull"
	StepBackup       = "backup"
	StepTag          = "tag"
	StepUp           = "up"
	StepHealth       = "healthcheck"
	StepSync         = "sync_configured_tag"
	StepExtraTags    = "pull_extra_tags"
	StepRollbackTag  = "rollback_tag"
	StepRollbackUp   = "rollback_up"
	StepRollbackWait = "rollback_healthcheck"
	stepDone         = "done"
	// stepPrecheck is where a change fails that the checks before it refuse. Nothing was changed then, and the journal has
	// another step.
	stepPrecheck = "precheck"
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

// PullWarning is a further tag that could not be pulled.
type PullWarning struct {
	ServiceID string `json:"serviceId"`
	TagRef    string `json:"tagRef"`
	Error     string `json:"error"`
}

// stepOrder is where a step stands; rollback steps come after all others.
func stepOrder(step string) int {
	for i, s := range []string{StepPull, StepBackup, StepTag, StepUp, StepHealth, StepSync, StepExtraTags, stepDone} {
		if s == step {
			return i
		}
	}
	return -1
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
func (c *change) wantedAfter(imageID, digest string) wantedContainers {
	return wantedContainers{imageID: imageID, digest: digest, replicas: c.rec.Replicas, runsOnce: c.rec.RunsOnce}
}

func (c *change) displayName() string { return c.stack.Project + " / " + c.svc.Name }

// runSteps updates the service to its target, beginning with the step in the journal. The outcome is stored in the record; an
// error is returned only if the whole job must end.
func (c *change) runSteps(ctx context.Context) error {
	unlock, err := c.imageLock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if stepOrder(c.rec.Step) < 0 {
		return c.rollbackSteps().rollBack(ctx, c.rec.Error)
	}
	steps := []struct {
		name string
		do   func(context.Context) error
	}{
		{StepPull, c.pullAllowed}, {StepBackup, c.backupMounts}, {StepTag, c.tagTarget}, {StepUp, c.composeUp}, {StepHealth, c.awaitHealth}, {StepSync, c.syncTag}, {StepExtraTags, c.pullSteps().extraTags},
	}
	for _, step := range steps[min(stepOrder(c.rec.Step), len(steps)):] {
		if err := c.journalStep(ctx, step.name); err != nil {
			return err
		}
		if err := c.runStep(ctx, step.do); err != nil {
			return c.handleFailure(ctx, step.name, err)
		}
	}
	return c.finishChange(ctx, record.ChangeSuccess, nil)
}

func (c *change) pullAllowed(ctx context.Context) error {
	if err := c.checkAllowed(ctx); err != nil {
		return err
	}
	if err := c.pullSteps().pullTarget(ctx); err != nil {
		return err
	}
	return c.dependentSteps().pullFollowers(ctx)
}

// composeUp recreates the service with compose, unless its files differ from what runs by more than was allowed.
func (c *change) composeUp(ctx context.Context) error {
	c.reportProgress(ctx, 0.65, "recreating "+c.svc.Name)
	if err := c.checkDrift(ctx); errors.Is(err, host.ErrFiles) {
		return precheckError{err}
	} else if err != nil {
		return err
	}
	if completed, err := c.hasCompleted(ctx); completed || err != nil {
		return err
	}
	return c.recreateWithDependents(ctx)
}

// hasNewImage reports whether a container of the service has the new image already, or that cannot be found out.
func (c *change) hasNewImage(ctx context.Context) bool {
	list, err := c.s.cfg.Host.ContainersOf(context.WithoutCancel(ctx), c.stack.Project, c.svc.Name)
	return err != nil || slices.ContainsFunc(list, func(ct engine.Container) bool { return ct.ImageID == c.rec.ToImage })
}

// tagTarget tags the new image with the name that the project uses, so that compose runs it.
func (c *change) tagTarget(ctx context.Context) error {
	c.reportProgress(ctx, 0.6, "naming the image "+c.svc.Image)
	return c.s.cfg.Host.RetryStep(ctx, func() error { return c.s.cfg.Host.Engine().Tag(ctx, c.rec.ToImage, c.svc.ImageRef().String()) })
}

// restoreTag tags the former image with the name that the project uses. It undoes tagTarget.
func (c *change) restoreTag(ctx context.Context) {
	c.nameFormer(ctx)
	if c.rec.FromImage != "" {
		c.startAgain(ctx)
	}
}

// nameFormer gives the name that the project uses back to the former image.
func (c *change) nameFormer(ctx context.Context) {
	if c.rec.FromImage == "" {
		return
	}
	ctx, cancel := work.OutlastJob(ctx, 5*time.Minute)
	defer cancel()
	if err := c.s.cfg.Host.ThroughOutage(ctx, func() error { return c.s.cfg.Host.Engine().Tag(ctx, c.rec.FromImage, c.svc.ImageRef().String()) }); err != nil {
		c.r.LogWarning(ctx, "%s: the name could not be given back to the former image: %s", c.displayName(), failure.Text(err))
	}
}

func (c *change) recreateWithDependents(ctx context.Context) error {
	// The files may have changed since the update was asked for: compose reads them now, and so do we.
	if err := c.s.cfg.Host.SameImage(ctx, &c.stack, &c.svc); err != nil {
		return err
	}
	if c.rec.Replicas == 0 {
		return fault.New(fault.Conflict, "%s has no container, and its files give it none.", c.svc.Name)
	}
	c.recreated = c.s.cfg.Host.OutageCount()
	call := c.composeCall(engine.ActionRecreate)
	call.NoStart = c.staysStopped()
	run := func(ctx context.Context, call host.ComposeCall) error {
		_, err := c.s.cfg.Host.RunCompose(ctx, c.r, &c.stack, call)
		return err
	}
	recreate := run
	if c.beside != nil && c.rec.RunsOnce == "" {
		// What runs to its end has a command of its own: one that is repeated for the sake of others would run it again.
		recreate = func(ctx context.Context, call host.ComposeCall) error {
			return c.beside.runCommand(ctx, c.place, call, run)
		}
	}
	if err := recreate(ctx, call); err != nil {
		return err
	}
	return c.dependentSteps().recreateDependents(ctx)
}

func (c *change) awaitHealth(ctx context.Context) error {
	if c.staysStopped() {
		return c.s.health.checkStopped(ctx, &c.stack, &c.svc, c.wantedAfter(c.rec.ToImage, c.rec.ToDigest))
	}
	if c.rec.RunsOnce != "" {
		c.reportProgress(ctx, 0.8, "waiting until it has run to its end")
		if completed, err := c.hasCompleted(ctx); completed || err != nil {
			return err
		}
	} else {
		c.reportProgress(ctx, 0.8, "waiting until it is healthy")
	}
	return c.awaitHealthy(ctx, c.wantedAfter(c.rec.ToImage, c.rec.ToDigest), c.recreateWithDependents)
}

// syncTag tags the image that runs with the name that the project uses, if another image has got it.
func (c *change) syncTag(ctx context.Context) error {
	c.reportProgress(ctx, 0.92, "checking the name of the image")
	return c.s.cfg.Host.RetryStep(ctx, func() error {
		found, err := c.s.cfg.Host.Engine().Images(ctx, []string{c.svc.ImageRef().String()})
		if err != nil {
			return err
		}
		if len(found) == 1 && found[0] != nil && found[0].ID == c.rec.ToImage {
			return nil
		}
		return c.s.cfg.Host.Engine().Tag(ctx, c.rec.ToImage, c.svc.ImageRef().String())
	})
}

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
