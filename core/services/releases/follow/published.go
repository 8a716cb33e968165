package follow

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/releases/reader"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
)

// PublicState is what administrators see of the public pages.
type PublicState struct {
	// Enabled says that the settings allow them.
	Enabled bool
	// Repos are the names of the published repositories.
	Repos []string
}

// PublicState returns what administrators see of the public pages.
func (fl *Following) PublicState(ctx context.Context) (out PublicState, err error) {
	out.Enabled = fl.cfg.PublicPages()
	found, err := fl.cfg.Repos.ListPublished(ctx)
	for _, r := range found {
		out.Repos = append(out.Repos, r.FullName)
	}
	return out, err
}

// PublishRepo lets everybody read the releases of a repository that is known here and public at its code host.
func (fl *Following) PublishRepo(ctx context.Context, text string) error {
	name, err := repo.ParseName(text)
	if err != nil {
		return fault.As(err).With("field", "name")
	}
	for _, h := range fl.cfg.Hosts() {
		r, err := fl.cfg.Repos.FindByName(ctx, h.Ref, name)
		if fault.CodeOf(err) == fault.NotFound {
			continue
		}
		if err != nil {
			return err
		}
		return fl.publishRepo(ctx, r.ID)
	}
	return fault.New(fault.NotFound, "Nobody follows %s here: follow it first.", name).With("field", "name")
}

// publishRepo publishes a repository unless it is private.
func (fl *Following) publishRepo(ctx context.Context, id int64) error {
	return fl.cfg.Store.Tx(ctx, "publish repository", func(ctx context.Context) error {
		r, err := fl.cfg.Repos.Hold(ctx, id)
		if err != nil {
			return err
		}
		if r.Private {
			return fault.New(fault.BadRequest, "%s is private at its code host.", r.FullName).With("field", "name")
		}
		return fl.cfg.Repos.Publish(ctx, r.ID, reader.ID(ctx), fl.cfg.Now())
	})
}

// UnpublishRepo ends what PublishRepo began.
func (fl *Following) UnpublishRepo(ctx context.Context, name string) error {
	r, err := fl.cfg.Repos.FindPublished(ctx, name)
	if err != nil {
		return err
	}
	return fl.cfg.Repos.Unpublish(ctx, r.ID)
}
