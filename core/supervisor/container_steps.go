package supervisor

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

const (
	// composeRuns is how often a compose command is tried that an engine has cut off.
	composeRuns = 3
	// settleTime is how long a container without a health check must run without a restart.
	settleTime = 3 * time.Second
)

// awaitDriver waits until the engine answers and its compose command can be used.
func (d *container) awaitDriver(ctx context.Context) error {
	for began := time.Now(); ; {
		info, err := d.engine.Info(ctx, d.cfg.ComposeBin)
		switch {
		case err == nil && info.Compose != nil:
			return nil
		case err == nil:
			return fault.New(fault.InvalidArgument, "The compose command %q cannot be used: %s", d.cfg.ComposeBin, info.ComposeError).With("reason",
				"compose_unusable")
		case !isEngineGone(err) || time.Since(began) > d.cfg.EngineTimeout:
			return err
		}
		if err := event.Sleep(ctx, lookEvery); err != nil {
			return err
		}
	}
}

// lookAtCore implements deployment: it finds the core's container, and notes its place, its image and its version.
func (d *container) lookAtCore(ctx context.Context, r *run) error {
	c, err := d.findCore(ctx)
	if err != nil {
		return err
	}
	if r.op.Place, err = d.findPlace(c); err != nil {
		return err
	}
	if r.op.Previous, err = d.findImage(ctx, c); err != nil {
		return err
	}
	version, err := probeVersion(ctx, d.listURLs(c))
	switch {
	case err == nil:
		r.op.Previous.Version = version
	case c.State == "running" && c.Health != "unhealthy":
		return fault.New(fault.InvalidArgument,
			"The core is running but unreachable from here, so a new one could not be checked: set core_url "+
				"(SVC_SUPERVISOR_CORE_URL). %v", err).With("reason", "core_unreachable")
	default:
		r.op.Previous.Version = ""
	}
	return r.recordLine("info", fmt.Sprintf("The container %s runs %s", c.Name, describeImage(r.op.Previous)))
}

// fetchTarget implements deployment. Another image that its reference named keeps the name until the target is put into use.
func (d *container) fetchTarget(ctx context.Context, r *run) error {
	if err := r.enterStep(StepPull, "Pulling "+r.op.Target.Ref); err != nil {
		return err
	}
	before, err := d.engine.Images(ctx, []string{r.op.Target.Ref})
	if err != nil {
		return err
	}
	if before[0] != nil {
		r.op.Place.TagBefore = before[0].ID
	}
	if err := r.s.journal.Put(*r.op); err != nil {
		return err
	}
	img, err := d.engine.Pull(ctx, engine.PullRequest{Ref: d.findSource(r.op.Request.Target), DockerConfig: d.cfg.DockerConfig},
		func(engine.PullProgress) error { return ctx.Err() })
	if err != nil {
		return err
	}
	d.discardTarget(ctx, r)
	r.op.Target.ID, r.op.Target.Version = img.ID, img.Labels[labelVersion]
	// An image may have several digests: that of its manifest, and those of indexes that list it.
	if digest := d.findDigest(img); digest != "" && r.op.Request.Target.Digest == "" {
		r.op.Target.Digest = digest
	}
	return r.recordLine("info", "Pulled "+describeImage(r.op.Target))
}

// discardTarget gives the target's reference back to the image that had it before.
func (d *container) discardTarget(ctx context.Context, r *run) {
	if r.op.Request.Target.Tag == "" || r.op.Place.TagBefore == "" {
		return
	}
	if err := d.engine.Tag(ctx, r.op.Place.TagBefore, r.op.Target.Ref); err != nil {
		r.noteLine("warn", "The name "+r.op.Target.Ref+" could not be given back: "+client.FailureText(err))
	}
}

// overrideFor returns the text of the override that a container of an image needs: none if the project's files name it.
func (d *container) overrideFor(o *Operation, i Image) string {
	if i.Ref == o.Place.Image {
		return ""
	}
	return overrideText(o.Place.Service, i.Ref)
}

// installTarget implements deployment.
func (d *container) installTarget(ctx context.Context, r *run) error {
	return d.recreateCore(ctx, r, r.op.Target, d.overrideFor(r.op, r.op.Target))
}

// restoreFormer brings the former image back, and the name and the override that it had.
func (d *container) restoreFormer(ctx context.Context, r *run) error {
	d.discardTarget(ctx, r)
	return d.recreateCore(ctx, r, r.op.Previous, r.op.Place.Override)
}

// recreateCore has compose make the core's container of an image, and no other container.
func (d *container) recreateCore(ctx context.Context, r *run, i Image, override string) error {
	if err := d.fetchMissing(ctx, r, i); err != nil {
		return err
	}
	if err := d.nameImage(ctx, r, i, override); err != nil {
		return err
	}
	files, path := slices.Clone(r.op.Place.Files), d.overridePath()
	if override == "" {
		if err := removeFile(path); err != nil {
			return fmt.Errorf("remove the override: %w", err)
		}
	} else {
		if err := replaceFile(path, []byte(override)); err != nil {
			return fmt.Errorf("write the override: %w", err)
		}
		files = append(files, path)
	}
	p := r.op.Place
	req := engine.ComposeRequest{
		Bin: d.cfg.ComposeBin, Action: engine.ActionRecreate, Project: p.Project, WorkingDir: p.WorkingDir, Files: files, EnvFiles: p.EnvFiles,
		Services: []string{p.Service}, DockerConfig: d.cfg.DockerConfig, Scale: map[string]int{p.Service: 1},
	}
	var err error
	for range composeRuns {
		if err = d.runCompose(ctx, r, req); err == nil || ctx.Err() != nil {
			return err
		}
		r.noteLine("warn", client.FailureText(err))
		// A command that fails because the engine went away says nothing about the image.
		if wait := d.awaitDriver(ctx); wait != nil {
			return wait
		}
		if err := event.Sleep(ctx, lookEvery); err != nil {
			return err
		}
	}
	return err
}

// fetchMissing pulls an image that the engine no longer has.
func (d *container) fetchMissing(ctx context.Context, r *run, i Image) error {
	found, err := d.engine.Images(ctx, []string{i.ID})
	if err != nil || found[0] != nil {
		return err
	}
	if i.Digest == "" {
		return fault.New(fault.Conflict, "The engine has lost the image %s, and no registry has it.", describeImage(i))
	}
	_, err = d.engine.Pull(ctx, engine.PullRequest{Ref: d.cfg.ImageRepo + "@" + i.Digest, DockerConfig: d.cfg.DockerConfig},
		func(engine.PullProgress) error { return ctx.Err() })
	return err
}

// nameImage gives an image the name by which compose asks for it, unless that is its digest.
func (d *container) nameImage(ctx context.Context, r *run, i Image, override string) error {
	ref := i.Ref
	if override == "" {
		ref = r.op.Place.Image
	}
	if cutTag(ref) == "" {
		return nil
	}
	return d.engine.Tag(ctx, i.ID, ref)
}

func (d *container) runCompose(ctx context.Context, r *run, req engine.ComposeRequest) error {
	res, err := d.engine.Compose(ctx, req, func(l engine.Line) error {
		r.s.log.Debug("compose", "line", l.Text)
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	if res.ExitCode != 0 {
		return fault.New(fault.Conflict, "Compose ended with the exit code %d: %s", res.ExitCode, lastLines(res.Tail))
	}
	return nil
}

// describePlan implements deployment.
func (d *container) describePlan(o *Operation) string {
	text := fmt.Sprintf("Would replace %s by %s in the service %s of the project %s", describeImage(o.Previous), describeImage(o.Target),
		o.Place.Service, o.Place.Project)
	if d.overrideFor(o, o.Target) != "" {
		text += ", by an override of its image"
	}
	return text
}
