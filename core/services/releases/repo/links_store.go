package repo

import (
	"context"

	"gorm.io/gorm/clause"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/store"
)

// SetFollowed says whether a user follows a repository without a star. Everybody may be the user.
func (s *links) SetFollowed(ctx context.Context, userID string, repoID int64, followed bool) error {
	return s.store.Tx(ctx, "follow repository", func(ctx context.Context) error {
		if followed {
			if err := s.checkFollows(ctx, userID, repoID); err != nil {
				return err
			}
			return s.addLink(ctx, Link{UserID: userID, RepoID: repoID, Followed: true, Visible: true}, "followed", "visible")
		}
		if err := s.store.Writer(ctx).Model(&Link{}).Where("user_id = ? AND repo_id = ?", userID, repoID).Update("followed",
			false).Error; err != nil {
			return err
		}
		return s.settleLinks(ctx, userID)
	})
}

// MaxFollowed is how many repositories a user follows at most without a star.
const MaxFollowed = 1000

// checkFollows returns an error if a user may not follow one more repository. Everybody may.
func (s *links) checkFollows(ctx context.Context, userID string, repoID int64) error {
	if userID == Everybody {
		return nil
	}
	var n int64
	err := s.store.DB(ctx).Model(&Link{}).Where("user_id = ? AND followed AND repo_id <> ?", userID, repoID).Count(&n).Error
	if err == nil && n >= MaxFollowed {
		return fault.New(fault.Conflict, "You follow %d repositories, which is the limit: unfollow some first.", MaxFollowed).With("limit",
			MaxFollowed)
	}
	return err
}

// ReplaceFollowed sets which repositories a user follows without a star.
func (s *links) ReplaceFollowed(ctx context.Context, userID string, repoIDs []int64) error {
	return s.store.Tx(ctx, "replace followed repositories", func(ctx context.Context) error {
		if err := s.store.Writer(ctx).Model(&Link{}).Where("user_id = ? AND followed", userID).Update("followed", false).Error; err != nil {
			return err
		}
		for _, id := range repoIDs {
			if err := s.addLink(ctx, Link{UserID: userID, RepoID: id, Followed: true, Visible: true}, "followed", "visible"); err != nil {
				return err
			}
		}
		return s.settleLinks(ctx, userID)
	})
}

// addLink adds a link, or sets the columns of the one that there is.
func (s *links) addLink(ctx context.Context, l Link, columns ...string) error {
	return s.store.Writer(ctx).Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "user_id"}, {Name: "repo_id"}},
		DoUpdates: clause.AssignmentColumns(columns)}).Create(&l).Error
}

// settleLinks sets what a user sees by the links and the wish to see own repositories, and removes links without a reason.
func (s *links) settleLinks(ctx context.Context, userID string) error {
	w := s.store.Writer(ctx)
	if err := w.Where("user_id = ? AND NOT starred AND NOT owned AND NOT followed", userID).Delete(&Link{}).Error; err != nil {
		return err
	}
	return w.Exec("UPDATE release_links SET visible = (starred OR followed OR owned AND EXISTS (SELECT 1 FROM release_preferences WHERE user_id = ? AND include_own)) WHERE user_id = ?", userID, userID).Error
}

// SettleLinks sets anew which repositories a user sees, after the user's preferences have changed.
func (s *links) SettleLinks(ctx context.Context, userID string) error {
	return s.store.Tx(ctx, "settle links", func(ctx context.Context) error { return s.settleLinks(ctx, userID) })
}

// SetFilter sets what a user does not want to see of a repository.
func (s *links) SetFilter(ctx context.Context, f Filter) error {
	return s.store.Tx(ctx, "set filter", func(ctx context.Context) error {
		if f.IsEmpty() {
			return s.store.Writer(ctx).Where("user_id = ? AND repo_id = ?", f.UserID, f.RepoID).Delete(&Filter{}).Error
		}
		return s.store.Writer(ctx).Clauses(clause.OnConflict{UpdateAll: true}).Create(&f).Error
	})
}

var repoColumns = store.Columns(Repo{}, "p")

// StarredItem is a repository that a user has starred.
type StarredItem struct {
	Repo
	StarredAt int64
}

// ListStarred returns the repositories that a user has starred, the latest star first.
func (s *links) ListStarred(ctx context.Context, userID string, limit int) (found []StarredItem, err error) {
	err = s.store.DB(ctx).Table("release_links AS l").Select(repoColumns+", l.starred_at").Joins("JOIN release_repos p ON p.id = l.repo_id").
		Where("l.user_id = ? AND l.starred", userID).Order("l.starred_at DESC, p.name_key").Limit(limit).Find(&found).Error
	return found, err
}

// FollowedItem is a repository that a user sees, with why and with what is hidden of it.
type FollowedItem struct {
	Repo
	Starred, Owned, Followed bool
	// Shared says that the repository is shown to everybody.
	Shared               bool
	Muted, NoPrereleases bool
	MinLevel             Level
	Keyword              string
}

// ListFollowed returns the repositories that a user sees, by name.
func (s *links) ListFollowed(ctx context.Context, userID string, limit int) (found []FollowedItem, err error) {
	err = s.store.DB(ctx).Table("release_repos AS p").
		Select(repoColumns+", COALESCE(l.starred, ?) AS starred, COALESCE(l.owned, ?) AS owned, COALESCE(l.followed, ?) AS followed, (e.repo_id IS NOT NULL) AS shared, "+
			"COALESCE(f.muted, ?) AS muted, COALESCE(f.no_prereleases, ?) AS no_prereleases, COALESCE(f.min_level, 0) AS min_level, COALESCE(f.keyword, '') AS keyword", false, false, false, false, false).
		Joins("LEFT JOIN release_links l ON l.repo_id = p.id AND l.user_id = ? AND l.visible AND l.user_id <> ''", userID).
		Joins("LEFT JOIN release_links e ON e.repo_id = p.id AND e.user_id = '' AND e.visible").
		Joins("LEFT JOIN release_filters f ON f.repo_id = p.id AND f.user_id = ?", userID).
		Where("p.id IN (SELECT repo_id FROM release_links WHERE user_id IN (?, '') AND visible)",
			userID).Order("p.name_key").Limit(limit).Find(&found).Error
	return found, err
}

// MoveLinks gives the links of a repository to another, and deletes it: both names are of one repository. It locks the repository that it
// deletes before the links, as whoever follows it does.
func (s *links) MoveLinks(ctx context.Context, from, to int64) error {
	return s.store.Tx(ctx, "move links", func(ctx context.Context) error {
		w := s.store.Writer(ctx)
		if err := w.Clauses(clause.Locking{Strength: "UPDATE"}).Where("id = ?", from).Find(&[]Repo{}).Error; err != nil {
			return err
		}
		for _, table := range []string{"release_links", "release_filters"} {
			move := "UPDATE " + table + " SET repo_id = ? WHERE repo_id = ? AND NOT EXISTS (SELECT 1 FROM " + table + " o WHERE o.user_id = " +
				table + ".user_id AND o.repo_id = ?)"
			if err := w.Exec(move, to, from, to).Error; err != nil {
				return err
			}
			if err := w.Exec("DELETE FROM "+table+" WHERE repo_id = ?", from).Error; err != nil {
				return err
			}
		}
		if err := s.moveAccountRepos(ctx, from, to); err != nil {
			return err
		}
		return w.Exec("DELETE FROM release_repos WHERE id = ?", from).Error
	})
}
