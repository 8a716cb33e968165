package repo

import (
	"context"
	"errors"
	"slices"
	"time"

	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/lists"
	"github.com/patchbay-dev/patchbay/core/store"
)

// ErrNoRelease is for a release that does not exist, or that the caller does not see.
var ErrNoRelease = fault.New(fault.NotFound, "There is no such release.")

// Changes are what AddReleases has done.
type Changes struct {
	// New are the releases that were not known, Updated is how many others have changed.
	New     []Release
	Updated int
}

// AddReleases stores releases of a repository, of which the latest comes first, and returns what was new. Drafts are the caller's to
// leave out. One that was deleted at its host and made anew, with the same tag and another id, stays the same release. listed reports
// whether the host still has a release with an id that is not among all; nil is for a list that is whole.
func (s *Store) AddReleases(ctx context.Context, repoID int64, all []Release, now time.Time,
	listed func(remoteID string) bool) (out Changes, err error) {
	if len(all) == 0 {
		return out, nil
	}
	err = s.store.Tx(ctx, "add releases", func(ctx context.Context) error {
		out = Changes{}
		known, of, err := s.holdKnown(ctx, repoID, all, listed)
		if err != nil {
			return err
		}
		// The oldest is stored first: of releases of the same time the latest has the highest id.
		for _, r := range slices.Backward(all) {
			r.RepoID, r.UpdatedAt, r.Indexed = repoID, store.Millis(now), true
			old, ok := known[r.RemoteID]
			switch {
			case !ok:
				r.CreatedAt = r.UpdatedAt
				if err := s.insertRelease(ctx, &r, of.FullName); err != nil {
					return err
				}
				known[r.RemoteID] = r
				out.New = append(out.New, r)
			case old.Hash != r.Hash || old.RemoteID != r.RemoteID:
				r.ID, r.CreatedAt = old.ID, old.CreatedAt
				if r.PublishedAt == 0 || r.PublishedAt > r.TS {
					// It stands where it was found, without a date or with one in the future.
					r.TS = old.TS
				}
				r.EntryURL = old.EntryURL
				if old.Hash == "" || old.Hash == r.Hash {
					r.UpdatedAt = old.UpdatedAt // its content is the same, or not known to have changed
				} else {
					out.Updated++
				}
				if err := s.updateRelease(ctx, &r, of.FullName); err != nil {
					return err
				}
			case old.Reactions != r.Reactions:
				if err := s.setReactions(ctx, old.ID, r.Reactions); err != nil {
					return err
				}
			}
		}
		if len(out.New) == 0 {
			return nil
		}
		return s.store.Writer(ctx).Exec("UPDATE release_repos SET release_count = release_count + ? WHERE id = ?", len(out.New), repoID).Error
	})
	return out, err
}

// holdKnown returns what is stored of releases, by their ids at the host, and their repository. If some are new, it locks the repository
// first, so that nobody else adds them.
func (s *Store) holdKnown(ctx context.Context, repoID int64, all []Release,
	listed func(remoteID string) bool) (known map[string]Release, of Repo, err error) {
	if known, err = s.knownReleases(ctx, repoID, all); err != nil {
		return nil, of, err
	}
	if !slices.ContainsFunc(all, func(r Release) bool { _, ok := known[r.RemoteID]; return !ok }) {
		of, err = s.Find(ctx, repoID)
		return known, of, err
	}
	if of, err = s.lockRepo(ctx, repoID); err != nil {
		return nil, of, err
	}
	if known, err = s.knownReleases(ctx, repoID, all); err != nil {
		return nil, of, err
	}
	return known, of, s.addRecreated(ctx, repoID, all, known, listed)
}

// addRecreated adds to known what is stored of releases that have got another id at their host: those with the tag of one that the host
// has no more.
func (s *Store) addRecreated(ctx context.Context, repoID int64, all []Release, known map[string]Release,
	listed func(remoteID string) bool) error {
	here, tags := map[string]bool{}, []string{}
	for _, r := range all {
		here[r.RemoteID] = true
		if _, ok := known[r.RemoteID]; !ok && r.Tag != "" {
			tags = append(tags, r.Tag)
		}
	}
	if len(tags) == 0 {
		return nil
	}
	var rows []Release
	err := store.WhereIn(s.store.DB(ctx).Select(knownColumns).Where("repo_id = ?", repoID), "tag", tags).Order("id").Find(&rows).Error
	if err != nil {
		return err
	}
	former := map[string]Release{}
	for _, row := range rows {
		if !here[row.RemoteID] && (listed == nil || !listed(row.RemoteID)) {
			former[row.Tag] = row
		}
	}
	for _, r := range slices.Backward(all) {
		if old, ok := former[r.Tag]; ok {
			if _, ok := known[r.RemoteID]; !ok {
				known[r.RemoteID] = old
				delete(former, r.Tag)
			}
		}
	}
	return nil
}

// knownColumns are what is compared with what a host has.
const knownColumns = "id, remote_id, tag, hash, ts, created_at, updated_at, entry_url, reactions"

// knownReleases returns what is stored of releases, by their ids at the host.
func (s *Store) knownReleases(ctx context.Context, repoID int64, all []Release) (map[string]Release, error) {
	ids := lists.ConvertAll(all, func(r Release) string { return r.RemoteID })
	var rows []Release
	err := store.WhereIn(s.store.DB(ctx).Select(knownColumns).Where("repo_id = ?", repoID), "remote_id", ids).Find(&rows).Error
	known := make(map[string]Release, len(rows))
	for _, r := range rows {
		known[r.RemoteID] = r
	}
	return known, err
}

func (s *Store) insertRelease(ctx context.Context, r *Release, fullName string) error {
	if err := s.store.Writer(ctx).Create(r).Error; err != nil {
		return err
	}
	return s.saveTexts(ctx, r, fullName)
}

func (s *Store) updateRelease(ctx context.Context, r *Release, fullName string) error {
	w := s.store.Writer(ctx)
	if err := w.Save(r).Error; err != nil {
		return err
	}
	if err := w.Exec("DELETE FROM release_bodies WHERE release_id = ?", r.ID).Error; err != nil {
		return err
	}
	return s.saveTexts(ctx, r, fullName)
}

// saveTexts stores the words of a release, and its whole text if that is cut in lists.
func (s *Store) saveTexts(ctx context.Context, r *Release, fullName string) error {
	if err := s.indexRelease(ctx, r, fullName); err != nil || !r.BodyTruncated {
		return err
	}
	return s.store.Writer(ctx).Exec("INSERT INTO release_bodies (release_id, body) VALUES (?, ?)", r.ID, r.FullBody).Error
}

// ListOthers returns the ids at the host of the releases of a repository that are not among given ones, sorted.
func (s *Store) ListOthers(ctx context.Context, repoID int64, have map[string]bool) (others []string, err error) {
	var all []string
	if err := s.store.DB(ctx).Model(&Release{}).Where("repo_id = ?", repoID).Order("remote_id").Pluck("remote_id", &all).Error; err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(id string) bool { return have[id] }), nil
}

// DeleteReleases deletes releases of a repository by their ids at its host.
func (s *Store) DeleteReleases(ctx context.Context, repoID int64, remoteIDs []string) error {
	if len(remoteIDs) == 0 {
		return nil
	}
	return s.store.Tx(ctx, "delete releases", func(ctx context.Context) error {
		if _, err := s.lockRepo(ctx, repoID); err != nil {
			return err
		}
		gone := func() *gorm.DB {
			return store.WhereIn(s.store.Writer(ctx).Where("repo_id = ?", repoID), "remote_id", remoteIDs)
		}
		var ids []int64
		if err := gone().Model(&Release{}).Pluck("id", &ids).Error; err != nil || len(ids) == 0 {
			return err
		}
		if err := s.dropWords(ctx, ids); err != nil {
			return err
		}
		if err := gone().Delete(&Release{}).Error; err != nil {
			return err
		}
		return s.store.Writer(ctx).Exec("UPDATE release_repos SET release_count = release_count - ? WHERE id = ?", len(ids), repoID).Error
	})
}

// CountChanged returns how many releases of a repository were added or changed since a time.
func (s *Store) CountChanged(ctx context.Context, repoID int64, since time.Time) (int, error) {
	var n int64
	err := s.store.DB(ctx).Model(&Release{}).Where("repo_id = ? AND updated_at >= ?", repoID, store.Millis(since)).Count(&n).Error
	return int(n), err
}

// FindRelease returns a release with its whole text and its repository.
func (s *Store) FindRelease(ctx context.Context, id int64) (r Release, p Repo, err error) {
	return s.takeRelease(ctx, s.store.DB(ctx).Where("id = ?", id))
}

// FindByTag returns the release of a repository with a tag, with its whole text. The name is looked for at all hosts.
func (s *Store) FindByTag(ctx context.Context, fullName, tag string) (r Release, p Repo, err error) {
	return s.takeRelease(ctx, s.store.DB(ctx).Where("tag = ? AND repo_id IN (SELECT id FROM release_repos WHERE name_key = ?)", tag,
		KeyOf(fullName)).Order("ts DESC, id DESC"))
}

// FindPage returns the page at its host of the latest release of a repository with a text as its tag or title, "" if there is none. The
// name is looked for at all hosts.
func (s *Store) FindPage(ctx context.Context, fullName, text string) (address string, err error) {
	var found []string
	err = s.store.DB(ctx).Model(&Release{}).Where("(tag = ? OR title = ?) AND repo_id IN (SELECT id FROM release_repos WHERE name_key = ?)",
		text, text, KeyOf(fullName)).
		Order("ts DESC, id DESC").Limit(1).Pluck("html_url", &found).Error
	if len(found) > 0 {
		address = found[0]
	}
	return address, err
}

func (s *Store) takeRelease(ctx context.Context, q *gorm.DB) (r Release, p Repo, err error) {
	if err = q.Take(&r).Error; err != nil {
		if errors.Is(err, gorm.ErrRecordNotFound) {
			err = ErrNoRelease
		}
		return r, p, err
	}
	r.FullBody = r.Body
	if r.BodyTruncated {
		if err = s.store.DB(ctx).Raw("SELECT body FROM release_bodies WHERE release_id = ?", r.ID).Scan(&r.FullBody).Error; err != nil {
			return r, p, err
		}
	}
	p, err = s.Find(ctx, r.RepoID)
	return r, p, err
}

// PreviousTag returns the tag of the release before one in the same repository, "" if there is none.
func (s *Store) PreviousTag(ctx context.Context, r Release) (tag string, err error) {
	var tags []string
	err = s.store.DB(ctx).Model(&Release{}).Where("repo_id = ? AND (ts, id) < (?, ?)", r.RepoID, r.TS,
		r.ID).Order("ts DESC, id DESC").Limit(1).Pluck("tag", &tags).Error
	if len(tags) > 0 {
		tag = tags[0]
	}
	return tag, err
}
