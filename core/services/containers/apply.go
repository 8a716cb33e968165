package containers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// The steps of a change, in order. The journal has the one that is about to be done, so that after a crash it is known
// what may have happened and what has not.
const (
	stepPull         = "pull"
	stepBackup       = "backup"
	stepTag          = "tag"
	stepUp           = "up"
	stepHealth       = "healthcheck"
	stepSync         = "sync_configured_tag"
	stepExtraTags    = "pull_extra_tags"
	stepRollbackTag  = "rollback_tag"
	stepRollbackUp   = "rollback_up"
	stepRollbackWait = "rollback_healthcheck"
	stepDone         = "done"
	// stepPrecheck is where a change fails that the checks before it refuse. Nothing was changed then, and the journal has
	// another step.
	stepPrecheck = "precheck"
)

// change is one service on its way to another image.
type change struct {
	s       *Service
	r       *report
	rec     *changeRecord
	svc     serviceRecord
	stack   stackRecord
	spec    jobSpec
	target  Target
	started time.Time
	// base and span place the change within the progress of the job, in percent.
	base, span float64
	outcome    changeOutcome
}

// changeOutcome is what the summary of a job tells about a service.
type changeOutcome struct {
	TagsPulled  []string
	Warnings    []PullWarning
	FailureStep string
	// Cut tells that further tags were not pulled, because the job was canceled.
	Cut     bool
	Trigger string
	Backups []BackupResult
}

// PullWarning is a further tag that could not be pulled.
type PullWarning struct {
	ServiceID string `json:"serviceId"`
	TagRef    string `json:"tagRef"`
	Error     string `json:"error"`
}

// stepOrder is where a step stands; rollback steps come after all others.
func stepOrder(step string) int {
	for i, s := range []string{stepPull, stepBackup, stepTag, stepUp, stepHealth, stepSync, stepExtraTags, stepDone} {
		if s == step {
			return i
		}
	}
	return -1
}

// enter writes the step into the journal before it is done.
func (c *change) enter(ctx context.Context, step string) error {
	c.rec.Step = step
	if err := c.s.repo.saveChange(detached(ctx), c.rec); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	return nil
}

// detached is ctx without its end, for what must be done all the same.
func detached(ctx context.Context) context.Context { return context.WithoutCancel(ctx) }

// goesOn tells that the core ends, or another worker has the job: nothing may be undone, the job goes on from its journal.
func goesOn(ctx context.Context) bool {
	cause := context.Cause(ctx)
	return errors.Is(cause, queue.ErrStopping) || errors.Is(cause, queue.ErrLost)
}

// at reports progress within the change: fraction is how much of it is done.
func (c *change) at(ctx context.Context, fraction float64, message string, more func(*ProgressState)) {
	c.r.progress(ctx, func(p *ProgressState) {
		p.Phase, p.Message, p.CurrentTarget = c.rec.Step, message, c.name()
		p.Percent = int(c.base + c.span*fraction)
		p.Download = nil
		if more != nil {
			more(p)
		}
	})
}

// composeCall is a compose command on the service that keeps the number of its containers.
func (c *change) composeCall(action string) composeCall {
	call := composeCall{action: action, services: []string{c.svc.Name}}
	if c.rec.Replicas > 0 {
		call.scale = map[string]int{c.svc.Name: c.rec.Replicas}
	}
	return call
}

// wanted is what must run at the end of the change.
func (c *change) wanted(imageID, digest string) wantedContainers {
	return wantedContainers{imageID: imageID, digest: digest, replicas: c.rec.Replicas}
}

func (c *change) name() string { return c.stack.Project + " / " + c.svc.Name }

// run brings the service to its target, from the step in the journal on. The error that it returns is only for what ends
// the whole job; what becomes of the service is in the record.
func (c *change) run(ctx context.Context) error {
	unlock, err := c.imageLock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if stepOrder(c.rec.Step) < 0 {
		return c.rollBack(ctx, c.rec.Error)
	}
	steps := []struct {
		name string
		do   func(context.Context) error
	}{
		{stepPull, c.pullAllowed}, {stepBackup, c.backup}, {stepTag, c.tag}, {stepUp, c.up}, {stepHealth, c.health}, {stepSync, c.sync}, {stepExtraTags, c.extraTags},
	}
	for _, step := range steps[min(stepOrder(c.rec.Step), len(steps)):] {
		if err := c.enter(ctx, step.name); err != nil {
			return err
		}
		if err := step.do(ctx); err != nil {
			return c.failed(ctx, step.name, err)
		}
	}
	return c.finish(ctx, changeSuccess, nil)
}

func (c *change) pullAllowed(ctx context.Context) error {
	if err := c.allowed(ctx); err != nil {
		return err
	}
	return c.pull(ctx)
}

// up has compose recreate the service, and only it, from files that differ from what runs no more than was allowed.
func (c *change) up(ctx context.Context) error {
	c.at(ctx, 0.65, "recreating "+c.svc.Name, nil)
	if err := c.checkDrift(ctx); errors.Is(err, errFiles) {
		return precheckError{err}
	} else if err != nil {
		return err
	}
	return c.recreate(ctx)
}

// replaced tells whether a container of the service has the new image already. If nobody can tell, it does.
func (c *change) replaced(ctx context.Context) bool {
	list, err := c.s.containersOf(detached(ctx), c.stack.Project, c.svc.Name)
	return err != nil || slices.ContainsFunc(list, func(ct engine.Container) bool { return ct.ImageID == c.rec.ToImage })
}

// pull fetches the target by its digest.
func (c *change) pull(ctx context.Context) error {
	ref := c.svc.ref().WithDigest(c.target.TargetDigest)
	c.r.info(ctx, "%s: pulling %s", c.name(), ref)
	var img *engine.Image
	err := c.s.again(ctx, func() (err error) {
		img, err = c.s.engine().Pull(ctx, engine.PullRequest{Ref: ref, DockerConfig: c.s.settings().DockerConfig}, func(p engine.PullProgress) error {
			done := 0.0
			if p.TotalBytes > 0 {
				done = float64(p.CurrentBytes) / float64(p.TotalBytes)
			}
			c.at(ctx, 0.05+0.45*done, "pulling "+ref, func(st *ProgressState) { st.Download = download(p) })
			return ctx.Err()
		})
		return err
	})
	if err != nil {
		return err
	}
	c.rec.ToImage = img.ID
	c.r.info(ctx, "%s: pulled %s, image %s", c.name(), ref, short(img.ID))
	return nil
}

func download(p engine.PullProgress) *DownloadProgress {
	d := &DownloadProgress{
		CurrentBytes: p.CurrentBytes, TotalBytes: p.TotalBytes, CompletedLayers: p.CompletedLayers, TotalLayers: p.TotalLayers,
		Status: p.Status, ActiveLayers: []LayerProgress{},
	}
	for _, l := range p.Active {
		d.ActiveLayers = append(d.ActiveLayers, LayerProgress{ID: l.ID, Status: l.Status, CurrentBytes: l.CurrentBytes, TotalBytes: l.TotalBytes})
	}
	return d
}

// tag moves the name in the project to the new image, so that compose, now or later, runs it.
func (c *change) tag(ctx context.Context) error {
	c.at(ctx, 0.6, "naming the image "+c.svc.Image, nil)
	return c.s.again(ctx, func() error { return c.s.engine().Tag(ctx, c.rec.ToImage, c.svc.ref().String()) })
}

// retag gives the name back to the former image, after nothing else was done.
func (c *change) retag(ctx context.Context) {
	if c.rec.FromImage == "" {
		return
	}
	ctx, cancel := context.WithTimeout(detached(ctx), time.Minute)
	defer cancel()
	if err := c.s.engine().Tag(ctx, c.rec.FromImage, c.svc.ref().String()); err != nil {
		c.r.warn(ctx, "%s: the name could not be given back to the former image: %s", c.name(), reason(err))
	}
	c.startAgain(ctx)
}

func (c *change) recreate(ctx context.Context) error {
	// The files may have changed since the update was asked for: compose reads them now, and so do we.
	if err := c.s.sameImage(ctx, &c.stack, &c.svc); err != nil {
		return err
	}
	if c.rec.Replicas == 0 {
		return fault.New(fault.Conflict, "%s has no container, and its files give it none.", c.svc.Name)
	}
	if _, err := c.s.compose(ctx, c.r, &c.stack, c.composeCall(engine.ActionRecreate)); err != nil {
		return err
	}
	return c.recreateDependents(ctx)
}

func (c *change) health(ctx context.Context) error {
	c.at(ctx, 0.8, "waiting until it is healthy", nil)
	return c.awaitHealthy(ctx, c.wanted(c.rec.ToImage, c.rec.ToDigest), c.recreate)
}

// sync makes sure that the name in the project still stands for what runs.
func (c *change) sync(ctx context.Context) error {
	c.at(ctx, 0.92, "checking the name of the image", nil)
	return c.s.again(ctx, func() error {
		found, err := c.s.engine().Images(ctx, []string{c.svc.ref().String()})
		if err != nil {
			return err
		}
		if len(found) == 1 && found[0] != nil && found[0].ID == c.rec.ToImage {
			return nil
		}
		return c.s.engine().Tag(ctx, c.rec.ToImage, c.svc.ref().String())
	})
}

// extraTags pulls further tags. They are a convenience: what fails is a warning.
func (c *change) extraTags(ctx context.Context) error {
	for _, tag := range c.target.PullTags {
		ref := c.svc.ref().WithTag(tag)
		c.at(ctx, 0.97, "pulling "+ref, nil)
		err := c.s.again(ctx, func() error {
			_, err := c.s.engine().Pull(ctx, engine.PullRequest{Ref: ref, DockerConfig: c.s.settings().DockerConfig}, func(engine.PullProgress) error { return ctx.Err() })
			return err
		})
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			c.outcome.Warnings = append(c.outcome.Warnings, PullWarning{ServiceID: c.svc.ID, TagRef: ref, Error: reason(err)})
			c.r.warn(ctx, "%s: %s could not be pulled: %s", c.name(), ref, reason(err))
		default:
			c.outcome.TagsPulled = append(c.outcome.TagsPulled, tag)
		}
	}
	return nil
}

// finish writes how the change ended, and what the service runs now.
func (c *change) finish(ctx context.Context, status string, cause error) error {
	ctx = detached(ctx)
	c.rec.Status, c.rec.FinishedAt = status, c.s.now()
	if status == changeSuccess {
		c.rec.Step = stepDone
	}
	if cause != nil {
		c.rec.Error, c.rec.Reason = reason(cause), failureCode(cause)
	}
	if err := c.s.repo.finishChange(ctx, c.rec, c.svc.ID, c.s.now()); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	changed := []string{c.svc.ID}
	for _, d := range c.rec.Dependents {
		changed = append(changed, d.ServiceID)
	}
	c.s.refreshServices(ctx, changed)
	if status == changeSuccess {
		c.r.info(ctx, "%s: runs %s", c.name(), short(c.rec.ToDigest))
	}
	return nil
}

// short is the beginning of a digest or id, for people.
func short(digest string) string {
	digest = strings.TrimPrefix(digest, "sha256:")
	return digest[:min(12, len(digest))]
}
