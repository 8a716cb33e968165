package supervisor

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// Pauses between two looks, and how often a compose command is tried that an engine has cut off.
const (
	lookEvery   = 500 * time.Millisecond
	composeRuns = 3
	// settleTime is how long a container without a health check must run without a restart.
	settleTime = 3 * time.Second
)

func hclogLevel(level string) hclog.Level { return hclog.LevelFromString(level) }

// sleep waits, or returns the error of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// awaitEngine waits until the engine answers and its compose command can be used.
func (s *Supervisor) awaitEngine(ctx context.Context) error {
	for began := time.Now(); ; {
		info, err := s.engine.Info(ctx, s.cfg.ComposeBin)
		switch {
		case err == nil && info.Compose != nil:
			return nil
		case err == nil:
			return fault.New(fault.InvalidArgument, "The compose command %q cannot be used: %s", s.cfg.ComposeBin, info.ComposeError).With("reason", "compose_unusable")
		case !isEngineGone(err) || time.Since(began) > s.cfg.EngineTimeout:
			return err
		}
		if err := sleep(ctx, lookEvery); err != nil {
			return err
		}
	}
}

// lookAtCore finds the core's container, and notes its place, its image and its version.
func (r *run) lookAtCore(ctx context.Context) error {
	c, err := r.s.findCore(ctx)
	if err != nil {
		return err
	}
	if r.op.Place, err = r.s.placeOf(c); err != nil {
		return err
	}
	if r.op.Previous, err = r.s.imageOf(ctx, c); err != nil {
		return err
	}
	version, err := probeVersion(ctx, r.s.urlsOf(c))
	switch {
	case err == nil:
		r.op.Previous.Version = version
	case c.State == "running" && c.Health != "unhealthy":
		return fault.New(fault.InvalidArgument, "The core runs but is not reached from here, so that nobody could tell whether a new one answers: set core_url (SVC_SUPERVISOR_CORE_URL). %v", err).With("reason", "core_unreachable")
	default:
		r.op.Previous.Version = ""
	}
	return r.recordLine("info", fmt.Sprintf("The container %s runs %s", c.Name, describeImage(r.op.Previous)))
}

// pullTarget fetches the target. Another image that its reference named keeps the name until the target is put into use.
func (r *run) pullTarget(ctx context.Context) error {
	ref := r.s.sourceOf(r.op.Request.Target)
	before, err := r.s.engine.Images(ctx, []string{r.op.Target.Ref})
	if err != nil {
		return err
	}
	if before[0] != nil {
		r.op.Place.TagBefore = before[0].ID
	}
	if err := r.s.journal.Put(*r.op); err != nil {
		return err
	}
	img, err := r.s.engine.Pull(ctx, engine.PullRequest{Ref: ref, DockerConfig: r.s.cfg.DockerConfig}, func(engine.PullProgress) error { return ctx.Err() })
	if err != nil {
		return err
	}
	r.restoreName(ctx)
	r.op.Target.ID, r.op.Target.Version = img.ID, img.Labels[labelVersion]
	if digest := r.s.digestOf(img); digest != "" {
		r.op.Target.Digest = digest
	}
	return r.recordLine("info", "Pulled "+describeImage(r.op.Target))
}

// restoreName gives the target's reference back to the image that had it before.
func (r *run) restoreName(ctx context.Context) {
	if r.op.Request.Target.Tag == "" || r.op.Place.TagBefore == "" {
		return
	}
	if err := r.s.engine.Tag(ctx, r.op.Place.TagBefore, r.op.Target.Ref); err != nil {
		r.noteLine("warn", "The name "+r.op.Target.Ref+" could not be given back: "+client.FailureText(err))
	}
}

// overrideFor returns the text of the override that a container of an image needs: none if the project's files name it.
func (r *run) overrideFor(i Image) string {
	if i.Ref == r.op.Place.Image {
		return ""
	}
	return overrideText(r.op.Place.Service, i.Ref)
}

// recreateCore has compose make the core's container of an image, and no other container.
func (r *run) recreateCore(ctx context.Context, i Image, override string) error {
	if err := r.fetchMissing(ctx, i); err != nil {
		return err
	}
	if err := r.nameImage(ctx, i, override); err != nil {
		return err
	}
	files, path := slices.Clone(r.op.Place.Files), r.s.overridePath()
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
		Bin: r.s.cfg.ComposeBin, Action: engine.ActionRecreate, Project: p.Project, WorkingDir: p.WorkingDir, Files: files, EnvFiles: p.EnvFiles,
		Services: []string{p.Service}, DockerConfig: r.s.cfg.DockerConfig, Scale: map[string]int{p.Service: 1},
	}
	var err error
	for range composeRuns {
		if err = r.runCompose(ctx, req); err == nil || ctx.Err() != nil {
			return err
		}
		r.noteLine("warn", client.FailureText(err))
		// A command that fails because the engine went away says nothing about the image.
		if wait := r.s.awaitEngine(ctx); wait != nil {
			return wait
		}
		if err := sleep(ctx, lookEvery); err != nil {
			return err
		}
	}
	return err
}

// fetchMissing pulls an image that the engine no longer has.
func (r *run) fetchMissing(ctx context.Context, i Image) error {
	found, err := r.s.engine.Images(ctx, []string{i.ID})
	if err != nil || found[0] != nil {
		return err
	}
	if i.Digest == "" {
		return fault.New(fault.Conflict, "The engine no longer has the image %s, and no registry does.", describeImage(i))
	}
	_, err = r.s.engine.Pull(ctx, engine.PullRequest{Ref: r.s.cfg.ImageRepo + "@" + i.Digest, DockerConfig: r.s.cfg.DockerConfig}, func(engine.PullProgress) error { return ctx.Err() })
	return err
}

// nameImage gives an image the name by which compose asks for it, unless that is its digest.
func (r *run) nameImage(ctx context.Context, i Image, override string) error {
	ref := i.Ref
	if override == "" {
		ref = r.op.Place.Image
	}
	if tagOf(ref) == "" {
		return nil
	}
	return r.s.engine.Tag(ctx, i.ID, ref)
}

func (r *run) runCompose(ctx context.Context, req engine.ComposeRequest) error {
	res, err := r.s.engine.Compose(ctx, req, func(l engine.Line) error {
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
