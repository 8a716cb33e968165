package repo

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Store holds the queries about repositories and their releases. Methods that change something do so in the transaction of
// their context, or in one of their own.
type Store struct {
	store *store.Store
	*wordIndex
	*links
	*publications
}

// wordIndex holds the queries about the words of releases.
type wordIndex struct{ store *store.Store }

// links holds the queries about which repositories users see.
type links struct{ store *store.Store }

// publications holds the queries about the repositories that everybody may read.
type publications struct{ store *store.Store }

// NewStore makes the store. The migrations of the service have run.
func NewStore(s *store.Store) *Store { return &Store{s, &wordIndex{s}, &links{s}, &publications{s}} }

// ErrNoRepo is for a repository that is not stored.
var ErrNoRepo = fault.New(fault.NotFound, "There is no such repository.")

// Save adds a repository, or updates what its host says of it, and sets r.ID. A repository that was renamed is found by the
// host's id. What the store knows of its releases stays.
func (s *Store) Save(ctx context.Context, r *Repo, now time.Time) error {
	return s.SaveAll(ctx, []*Repo{r}, now)
}

// SaveAll saves repositories as Save does, in one transaction. It locks those that are stored in the order of their ids, and then saves
// all in the order of their hosts and names: of two transactions that save the same repositories, also under different names, one waits
// for the other. Releases come after their repository, and links after all repositories. A new name locks more than that: renamed
// repositories and links that are made to them meanwhile may wait for each other, and are tried again.
func (s *Store) SaveAll(ctx context.Context, all []*Repo, now time.Time) error {
	return s.store.RetryTx(ctx, "save repositories", func(ctx context.Context) error {
		if err := s.lockSaved(ctx, all); err != nil {
			return err
		}
		var private []int64
		for _, r := range slices.SortedFunc(slices.Values(all), compareNames) {
			turned, err := s.saveRepo(ctx, r, now)
			if err != nil {
				return err
			}
			if turned {
				private = append(private, r.ID)
			}
		}
		// The updates have waited for transactions that hold the repositories: their links are there now.
		slices.Sort(private)
		for _, id := range private {
			if err := s.endFollowing(ctx, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// saveRepo saves a repository in the running transaction, but for the links to it. It reports whether it has turned private.
func (s *Store) saveRepo(ctx context.Context, r *Repo, now time.Time) (turnedPrivate bool, err error) {
	r.NameKey, r.OwnerKey = KeyOf(r.FullName), KeyOf(OwnerOf(r.FullName))
	w := s.store.Writer(ctx)
	var found []Repo
	if err := w.Where("host = ? AND (name_key = ? OR remote_id = ? AND remote_id <> '')", r.Host, r.NameKey,
		r.RemoteID).Find(&found).Error; err != nil {
		return false, err
	}
	old := pickSame(found, *r)
	if old == nil {
		r.ID, r.CreatedAt = 0, store.Millis(now)
		if err := s.freeName(ctx, found, *r); err != nil {
			return false, err
		}
		return false, w.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "host"}, {Name: "name_key"}},
			DoUpdates: clause.AssignmentColumns([]string{"full_name"})}).Create(r).Error
	}
	r.ID = old.ID
	if err := s.freeName(ctx, found, *r); err != nil || r.RemoteID == "" {
		// Without its id, only the name is known.
		return false, err
	}
	err = w.Model(&Repo{}).Where("id = ?", r.ID).Updates(map[string]any{
		"remote_id": r.RemoteID, "full_name": r.FullName, "name_key": r.NameKey, "owner_key": r.OwnerKey, "description": r.Description,
		"html_url": r.HTMLURL,
		"private":  r.Private, "avatar_url": r.AvatarURL, "image_url": r.ImageURL, "custom_image": r.CustomImage,
	}).Error
	if err == nil && r.FullName != old.FullName {
		// The index has the name.
		err = w.Model(&Release{}).Where("repo_id = ?", r.ID).Update("indexed", false).Error
	}
	return r.Private && !old.Private, err
}

// compareNames orders repositories by host and name.
func compareNames(a, b *Repo) int {
	return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(KeyOf(a.FullName), KeyOf(b.FullName)))
}

// endFollowing lets nobody see a repository without a star or as its owner, nor without an account: it has turned out to be private.
func (s *Store) endFollowing(ctx context.Context, id int64) error {
	w := s.store.Writer(ctx)
	if err := s.Unpublish(ctx, id); err != nil {
		return err
	}
	if err := w.Exec("DELETE FROM release_links WHERE repo_id = ? AND followed AND NOT starred AND NOT owned", id).Error; err != nil {
		return err
	}
	return w.Exec("UPDATE release_links SET followed = ?, visible = starred OR visible AND owned WHERE repo_id = ?", false, id).Error
}

// pickSame returns the stored row of a repository: that with its id at the host, or else that with its name.
func pickSame(found []Repo, r Repo) *Repo {
	var named *Repo
	for i := range found {
		f := &found[i]
		if r.RemoteID != "" && f.RemoteID == r.RemoteID {
			return f
		}
		// A row with another id is a repository whose name was given to a new one.
		if f.NameKey == r.NameKey && (f.RemoteID == "" || r.RemoteID == "") {
			named = f
		}
	}
	return named
}

// freeName takes the name of r from another row that has it: that repository was renamed or deleted at the host.
func (s *Store) freeName(ctx context.Context, found []Repo, r Repo) error {
	for _, f := range found {
		if f.ID != r.ID && f.NameKey == r.NameKey {
			return s.store.Writer(ctx).Model(&Repo{}).Where("id = ?", f.ID).Update("name_key", f.NameKey+"#"+f.RemoteID).Error
		}
	}
	return nil
}

// Find returns a repository by its id.
func (s *Store) Find(ctx context.Context, id int64) (Repo, error) {
	return takeRepo(s.store.DB(ctx), id)
}

// FindByName returns the repository of a host with a name, in any case.
func (s *Store) FindByName(ctx context.Context, host, fullName string) (r Repo, err error) {
	err = s.store.DB(ctx).Where("host = ? AND name_key = ?", host, KeyOf(fullName)).Take(&r).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		err = ErrNoRepo
	}
	return r, err
}

// Due returns repositories that somebody sees and whose releases are to be read, those that wait longest first.
func (s *Store) Due(ctx context.Context, now time.Time, limit int) (found []Repo, err error) {
	err = s.store.DB(ctx).Where("due_at <= ? AND EXISTS (SELECT 1 FROM release_links l WHERE l.repo_id = release_repos.id AND l.visible)",
		store.Millis(now)).
		Order("due_at, id").Limit(limit).Find(&found).Error
	return found, err
}

// VisibleTo returns the repositories that a user sees, by name.
func (s *Store) VisibleTo(ctx context.Context, userID string) (found []Repo, err error) {
	err = s.store.DB(ctx).Where("id IN (SELECT repo_id FROM release_links WHERE user_id IN (?, '') AND visible)",
		userID).Order("name_key").Find(&found).Error
	return found, err
}

// Sees reports whether a user sees a repository.
func (s *Store) Sees(ctx context.Context, userID string, repoID int64) (bool, error) {
	var n int64
	err := s.store.DB(ctx).Model(&Link{}).Where("user_id IN (?, '') AND repo_id = ? AND visible", userID, repoID).Count(&n).Error
	return n > 0, err
}

// SetSynced notes that the releases of a repository were read, or why not.
func (s *Store) SetSynced(ctx context.Context, r Repo) error {
	return s.store.Tx(ctx, "note repository sync", func(ctx context.Context) error {
		return s.store.Writer(ctx).Model(&Repo{}).Where("id = ?", r.ID).Updates(map[string]any{
			"synced_at": r.SyncedAt, "due_at": r.DueAt, "failures": r.Failures, "error_code": r.ErrorCode, "error": cutText(r.Error, maxTitle),
		}).Error
	})
}

// InScope adds the condition that a column with the id of a repository is one of those that a scope names.
func InScope(scope Scope, column string) (condition string, values []any) {
	named, keys := "owner_key", scope.OwnerKeys
	if scope.Names != nil {
		named, keys = "name_key", scope.Names
	} else if len(keys) == 0 {
		return "", nil
	}
	for _, key := range keys {
		values = append(values, KeyOf(key))
	}
	return " AND " + column + " IN (SELECT id FROM release_repos WHERE " + named + " IN (" +
		strings.TrimSuffix(strings.Repeat("?, ", len(values)), ", ") + "))", values
}

// Scope confines lists to repositories. The zero value is no scope.
type Scope struct {
	// Names are full names; an empty slice that is not nil chooses nothing. OwnerKeys are owners in lower case.
	Names     []string
	OwnerKeys []string
	// Nothing says that the scope has no repository at all.
	Nothing bool
}

// IsSet reports whether there is a scope.
func (s Scope) IsSet() bool { return s.Names != nil || len(s.OwnerKeys) > 0 || s.Nothing }

// IsEmpty reports whether the scope has no repository.
func (s Scope) IsEmpty() bool { return s.Nothing || s.Names != nil && len(s.Names) == 0 }

// SeesAny reports whether a user sees a repository at all.
func (s *Store) SeesAny(ctx context.Context, userID string) (bool, error) {
	// With both users in one condition, PostgreSQL looks through all links for a user who has none.
	for _, id := range []string{userID, ""} {
		var found []int64
		err := s.store.DB(ctx).Model(&Link{}).Where("user_id = ? AND visible", id).Order("repo_id").Limit(1).Pluck("repo_id", &found).Error
		if err != nil || len(found) > 0 {
			return err == nil, err
		}
	}
	return false, nil
}

// FindVisible returns the repository with a name that a user sees. The name is looked for at all hosts.
func (s *Store) FindVisible(ctx context.Context, userID, fullName string) (r Repo, err error) {
	err = s.store.DB(ctx).Where("name_key = ? AND EXISTS (SELECT 1 FROM release_links l WHERE l.user_id IN (?, '') AND l.repo_id = release_repos.id AND l.visible)", KeyOf(fullName), userID).
		Order("id").Take(&r).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		err = ErrNoRepo
	}
	return r, err
}

// Stats are numbers of the repositories that somebody sees.
type Stats struct {
	// Total are all, Due those whose time has come, Failing those that could not be read the last time.
	Total, Due, Failing int64
}

// CountAll counts the repositories that somebody sees.
func (s *Store) CountAll(ctx context.Context, now time.Time) (out Stats, err error) {
	err = s.store.DB(ctx).Raw("SELECT COUNT(*) AS total, COALESCE(SUM(CASE WHEN due_at <= ? THEN 1 ELSE 0 END), 0) AS due, COALESCE(SUM(CASE WHEN failures > 0 THEN 1 ELSE 0 END), 0) AS failing "+
		"FROM release_repos WHERE EXISTS (SELECT 1 FROM release_links l WHERE l.repo_id = release_repos.id AND l.visible)",
		store.Millis(now)).Scan(&out).Error
	return out, err
}

// ListFailing returns repositories that could not be read the last time, those that fail longest first.
func (s *Store) ListFailing(ctx context.Context, limit int) (found []Repo, err error) {
	err = s.store.DB(ctx).Where("failures > 0 AND EXISTS (SELECT 1 FROM release_links l WHERE l.repo_id = release_repos.id AND l.visible)").
		Order("failures DESC, name_key").Limit(limit).Find(&found).Error
	return found, err
}
