package follow

import (
	"context"
	"fmt"
	"strings"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/lists"
	"github.com/patchbay-dev/patchbay/core/services/releases/reader"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
)

// maxFollowed is how many repositories the list of those that a user sees has.
const maxFollowed = 5000

// FollowedRepo is a repository that the caller sees.
type FollowedRepo struct {
	FullName string     `json:"full_name" example:"golang/go"`
	Starred  bool       `json:"starred"`
	Owned    bool       `json:"owned"`
	Followed bool       `json:"followed" doc:"Without a star, by the caller's wish."`
	Shared   bool       `json:"shared" doc:"Shown to everybody by the configuration."`
	Filter   RepoFilter `json:"filter"`
	SyncedAt *api.Time  `json:"synced_at" nullable:"true" doc:"When its releases were last read."`
	Error    *string    `json:"error" doc:"Why they could not be read since."`
}

// RepoFilter says which releases of a repository are not shown.
type RepoFilter struct {
	Muted         bool   `json:"muted,omitempty" doc:"None is shown."`
	NoPrereleases bool   `json:"no_prereleases,omitempty"`
	MinLevel      string `json:"min_level,omitempty" enum:",patch,minor,major" doc:"The least part of the version that a release must raise. A tag that is no version is shown."`
	Keyword       string `json:"keyword,omitempty" maxLength:"100" doc:"What the name or the tag must have, in any case."`
}

var levelNames = []string{"", "patch", "minor", "major"}

// Followed returns the repositories that the caller sees.
func (fl *Following) Followed(ctx context.Context) ([]FollowedRepo, error) {
	found, err := fl.cfg.Repos.ListFollowed(ctx, reader.ID(ctx), maxFollowed)
	out := make([]FollowedRepo, len(found))
	for i, r := range found {
		out[i] = FollowedRepo{
			FullName: r.FullName, Starred: r.Starred, Owned: r.Owned, Followed: r.Followed, Shared: r.Shared,
			SyncedAt: api.OptionalTime(r.SyncedAt), Error: api.TextOrNull(r.Error),
			Filter: RepoFilter{r.Muted, r.NoPrereleases, levelNames[r.MinLevel], r.Keyword},
		}
	}
	return out, err
}

// FollowNamed has the caller see a repository of the main code host.
func (fl *Following) FollowNamed(ctx context.Context, owner, name string) error {
	userID, err := reader.OwnerID(ctx)
	if err != nil {
		return err
	}
	fullName, err := repo.ParseName(owner + "/" + name)
	if err != nil {
		return err
	}
	_, err = fl.followAfterCheck(ctx, userID, "", fullName)
	return err
}

// followAt has a user see a repository of a code host. private says that the code host has just called it that.
func (fl *Following) followAt(ctx context.Context, userID, host, name string, private bool) error {
	return fl.cfg.Store.Tx(ctx, "follow repository", func(ctx context.Context) error {
		r, err := fl.addRepo(ctx, host, name)
		if err != nil {
			return err
		}
		if r.Private || private {
			visible, err := fl.cfg.Repos.Sees(ctx, userID, r.ID)
			if err != nil {
				return err
			}
			if !visible && private {
				return fault.New(fault.NotFound, "The repository %s is private: star it at the code host, and only you will see it here.",
					name).With("field", "name").With("reason", "private_repository")
			}
			if !visible {
				return repo.ErrNoRepo
			}
		}
		return fl.cfg.Repos.SetFollowed(ctx, userID, r.ID, true)
	})
}

// findOwn returns the id of the caller, and a repository that the caller sees.
func (fl *Following) findOwn(ctx context.Context, owner, name string) (userID string, found repo.Repo, err error) {
	if userID, err = reader.OwnerID(ctx); err != nil {
		return "", found, err
	}
	fullName, err := repo.ParseName(owner + "/" + name)
	if err != nil {
		return "", found, err
	}
	found, err = fl.cfg.Repos.FindVisible(ctx, userID, fullName)
	return userID, found, err
}

// Unfollow ends that the caller follows a repository.
func (fl *Following) Unfollow(ctx context.Context, owner, name string) error {
	userID, r, err := fl.findOwn(ctx, owner, name)
	if err != nil {
		return err
	}
	return fl.cfg.Repos.SetFollowed(ctx, userID, r.ID, false)
}

// SetFilter chooses which releases of a repository the caller sees, and returns the filter as it is stored.
func (fl *Following) SetFilter(ctx context.Context, owner, name string, chosen RepoFilter) (RepoFilter, error) {
	if len([]rune(chosen.Keyword)) > 100 {
		return chosen, fault.New(fault.BadRequest, "The keyword can have at most 100 characters.").With("field", "keyword")
	}
	userID, r, err := fl.findOwn(ctx, owner, name)
	if err != nil {
		return chosen, err
	}
	f := repo.Filter{
		UserID: userID, RepoID: r.ID, Muted: chosen.Muted, NoPrereleases: chosen.NoPrereleases,
		Keyword: strings.ToLower(strings.TrimSpace(chosen.Keyword)),
	}
	for level, name := range levelNames {
		if chosen.MinLevel == name {
			f.MinLevel = repo.Level(level)
		}
	}
	if strings.ContainsRune(f.Keyword, 0) {
		return chosen, fault.New(fault.BadRequest, "keyword must be a string.").With("field", "keyword")
	}
	return RepoFilter{f.Muted, f.NoPrereleases, levelNames[f.MinLevel], f.Keyword}, fl.cfg.Repos.SetFilter(ctx, f)
}

// FollowConfigured has everybody see repositories, and no others that only former settings had.
func (fl *Following) FollowConfigured(ctx context.Context, repos []*repo.Repo) error {
	err := fl.cfg.Store.Tx(ctx, "follow configured repositories", func(ctx context.Context) error {
		if err := fl.cfg.Repos.SaveAll(ctx, repos, fl.cfg.Now()); err != nil {
			return err
		}
		ids := lists.ConvertAll(repos, func(r *repo.Repo) int64 { return r.ID })
		return fl.cfg.Repos.ReplaceFollowed(ctx, repo.Everybody, ids)
	})
	if err != nil {
		return fmt.Errorf("follow the repositories of the settings: %w", err)
	}
	return nil
}

// addRepo returns the repository of a host with a name, held for the running transaction. One that is not known is added, and read at the
// next chance.
func (fl *Following) addRepo(ctx context.Context, host, name string) (repo.Repo, error) {
	r := repo.Repo{Host: host, FullName: name}
	if err := fl.cfg.Repos.Save(ctx, &r, fl.cfg.Now()); err != nil {
		return r, err
	}
	return fl.cfg.Repos.Hold(ctx, r.ID)
}
