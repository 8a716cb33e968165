package change

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// pullTarget pulls the target image by its digest, unless the engine has it.
func (c pullSteps) pullTarget(ctx context.Context) error {
	id, err := c.fetchImage(ctx, c.svc.ImageRef().WithDigest(c.target.TargetDigest))
	if err == nil {
		c.rec.ToImage = id
	}
	return err
}

// fetchImage pulls an image unless the engine has it, and returns its id.
func (c pullSteps) fetchImage(ctx context.Context, ref string) (id string, err error) {
	if there, err := c.s.cfg.Host.Engine().Images(ctx, []string{ref}); err == nil && len(there) == 1 && there[0] != nil {
		// Another service of the same image, or an earlier attempt, has pulled it.
		c.r.LogInfo(ctx, "%s: %s is there already, image %s", c.displayName(), ref, record.ShortDigest(there[0].ID))
		return there[0].ID, nil
	}
	c.r.LogInfo(ctx, "%s: pulling %s", c.displayName(), ref)
	var img *engine.Image
	err = c.s.cfg.Host.RetryStep(ctx, func() (err error) {
		img, err = c.s.cfg.Host.Engine().Pull(ctx, engine.PullRequest{Ref: ref, DockerConfig: c.s.cfg.Settings().DockerConfig}, func(p engine.PullProgress) error {
			c.reportPull(ctx, ref, p)
			return ctx.Err()
		})
		return err
	})
	if err != nil {
		return "", err
	}
	c.r.LogInfo(ctx, "%s: pulled %s, image %s", c.displayName(), ref, record.ShortDigest(img.ID))
	return img.ID, nil
}

// reportPull reports how far a pull is.
func (c pullSteps) reportPull(ctx context.Context, ref string, pull engine.PullProgress) {
	if pull.TotalBytes > 0 {
		c.r.NoteShare(c.svc.ID, c.share*(0.05+0.45*float64(pull.CurrentBytes)/float64(pull.TotalBytes)))
	}
	c.r.UpdateOften(ctx, func(p *work.ProgressState) {
		p.Phase, p.Message, p.CurrentTarget, p.Download = c.rec.Step, "pulling "+ref, c.displayName(), downloadProgress(pull)
	})
}

func downloadProgress(p engine.PullProgress) *work.DownloadProgress {
	d := &work.DownloadProgress{
		CurrentBytes: p.CurrentBytes, TotalBytes: p.TotalBytes, CompletedLayers: p.CompletedLayers, TotalLayers: p.TotalLayers,
		Status: p.Status, ActiveLayers: []work.LayerProgress{},
	}
	for _, l := range p.Active {
		d.ActiveLayers = append(d.ActiveLayers, work.LayerProgress{ID: l.ID, Status: l.Status, CurrentBytes: l.CurrentBytes, TotalBytes: l.TotalBytes})
	}
	return d
}

// extraTags pulls further tags. They are a convenience: what fails is a warning.
func (c pullSteps) extraTags(ctx context.Context) error {
	for _, tag := range c.target.PullTags {
		ref := c.svc.ImageRef().WithTag(tag)
		c.reportProgress(ctx, 0.97, "pulling "+ref)
		err := c.s.cfg.Host.RetryStep(ctx, func() error {
			_, err := c.s.cfg.Host.Engine().Pull(ctx, engine.PullRequest{Ref: ref, DockerConfig: c.s.cfg.Settings().DockerConfig}, func(engine.PullProgress) error { return ctx.Err() })
			return err
		})
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			c.outcome.Warnings = append(c.outcome.Warnings, PullWarning{ServiceID: c.svc.ID, TagRef: ref, Error: failure.Text(err)})
			c.r.LogWarning(ctx, "%s: %s could not be pulled: %s", c.displayName(), ref, failure.Text(err))
		default:
			c.outcome.TagsPulled = append(c.outcome.TagsPulled, tag)
		}
	}
	return nil
}

// pullSteps are the steps of a change that pull images.
type pullSteps struct{ *change }

func (c *change) pullSteps() pullSteps { return pullSteps{c} }
