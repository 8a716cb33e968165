package containers

import (
	"context"

	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// pullTarget pulls the target image by its digest, unless the engine has it.
func (c *change) pullTarget(ctx context.Context) error {
	ref := c.svc.imageRef().WithDigest(c.target.TargetDigest)
	if there, err := c.s.engine().Images(ctx, []string{ref}); err == nil && len(there) == 1 && there[0] != nil {
		// Another service of the same image, or an earlier attempt, has pulled it.
		c.rec.ToImage = there[0].ID
		c.r.info(ctx, "%s: %s is there already, image %s", c.displayName(), ref, shortDigest(there[0].ID))
		return nil
	}
	c.r.info(ctx, "%s: pulling %s", c.displayName(), ref)
	var img *engine.Image
	err := c.s.retryStep(ctx, func() (err error) {
		img, err = c.s.engine().Pull(ctx, engine.PullRequest{Ref: ref, DockerConfig: c.s.settings().DockerConfig}, func(p engine.PullProgress) error {
			done := 0.0
			if p.TotalBytes > 0 {
				done = float64(p.CurrentBytes) / float64(p.TotalBytes)
			}
			c.reportProgress(ctx, 0.05+0.45*done, "pulling "+ref, func(st *ProgressState) { st.Download = downloadProgress(p) })
			return ctx.Err()
		})
		return err
	})
	if err != nil {
		return err
	}
	c.rec.ToImage = img.ID
	c.r.info(ctx, "%s: pulled %s, image %s", c.displayName(), ref, shortDigest(img.ID))
	return nil
}

func downloadProgress(p engine.PullProgress) *DownloadProgress {
	d := &DownloadProgress{
		CurrentBytes: p.CurrentBytes, TotalBytes: p.TotalBytes, CompletedLayers: p.CompletedLayers, TotalLayers: p.TotalLayers,
		Status: p.Status, ActiveLayers: []LayerProgress{},
	}
	for _, l := range p.Active {
		d.ActiveLayers = append(d.ActiveLayers, LayerProgress{ID: l.ID, Status: l.Status, CurrentBytes: l.CurrentBytes, TotalBytes: l.TotalBytes})
	}
	return d
}

// extraTags pulls further tags. They are a convenience: what fails is a warning.
func (c *change) extraTags(ctx context.Context) error {
	for _, tag := range c.target.PullTags {
		ref := c.svc.imageRef().WithTag(tag)
		c.reportProgress(ctx, 0.97, "pulling "+ref, nil)
		err := c.s.retryStep(ctx, func() error {
			_, err := c.s.engine().Pull(ctx, engine.PullRequest{Ref: ref, DockerConfig: c.s.settings().DockerConfig}, func(engine.PullProgress) error { return ctx.Err() })
			return err
		})
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			c.outcome.Warnings = append(c.outcome.Warnings, PullWarning{ServiceID: c.svc.ID, TagRef: ref, Error: failureReason(err)})
			c.r.warn(ctx, "%s: %s could not be pulled: %s", c.displayName(), ref, failureReason(err))
		default:
			c.outcome.TagsPulled = append(c.outcome.TagsPulled, tag)
		}
	}
	return nil
}
