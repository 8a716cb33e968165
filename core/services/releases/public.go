package releases

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
)

// PublicState is what administrators see of the public pages.
type PublicState struct {
	// Enabled says that the settings allow them.
	Enabled bool
	// Repos are the names of the published repositories.
	Repos []string
}

// PublicStateOf returns what administrators see of the public pages.
func (s *Service) PublicStateOf(ctx context.Context) (out PublicState, err error) {
	out.Enabled = s.state.Load().settings.PublicPages
	found, err := s.repos.ListPublished(ctx)
	for _, r := range found {
		out.Repos = append(out.Repos, r.FullName)
	}
	return out, err
}

// PublishRepo lets everybody read the releases of a repository that is known here and public at its code host.
func (s *Service) PublishRepo(ctx context.Context, text string) error {
	name, err := repo.ParseName(text)
	if err != nil {
		return fault.As(err).With("field", "name")
	}
	for _, h := range s.state.Load().hosts {
		r, err := s.repos.FindByName(ctx, h.Ref, name)
		if fault.CodeOf(err) == fault.NotFound {
			continue
		}
		if err != nil {
			return err
		}
		return s.publishRepo(ctx, r.ID)
	}
	return fault.New(fault.NotFound, "Nobody follows %s here: follow it first.", name).With("field", "name")
}

// publishRepo publishes a repository unless it is private.
func (s *Service) publishRepo(ctx context.Context, id int64) error {
	return s.cfg.Store.Tx(ctx, "publish repository", func(ctx context.Context) error {
		r, err := s.repos.Hold(ctx, id)
		if err != nil {
			return err
		}
		if r.Private {
			return fault.New(fault.BadRequest, "%s is private at its code host.", r.FullName).With("field", "name")
		}
		return s.repos.Publish(ctx, r.ID, readerOf(ctx), s.cfg.Now())
	})
}

// UnpublishRepo ends what PublishRepo began.
func (s *Service) UnpublishRepo(ctx context.Context, name string) error {
	r, err := s.repos.FindPublished(ctx, name)
	if err != nil {
		return err
	}
	return s.repos.Unpublish(ctx, r.ID)
}

// PublicRelease returns a release of a published repository, with its whole text and what there is of it in another language.
func (s *Service) PublicRelease(ctx context.Context, fullName, tag string) (out ReleaseDetail, err error) {
	p, err := s.findPublished(ctx, fullName)
	if err != nil {
		return out, err
	}
	r, owner, err := s.repos.FindByTag(ctx, p.FullName, tag)
	if err == nil && owner.ID != p.ID {
		err = repo.ErrNoRelease
	}
	if err != nil {
		return out, err
	}
	return s.releaseDetail(ctx, r, p, s.Languages()[0])
}
