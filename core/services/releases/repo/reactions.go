package repo

import (
	"context"
	"slices"

	"github.com/patchbay-dev/patchbay/core/store"
)

// Reactable is a release to which people react at its code host.
type Reactable struct {
	ID int64
	// NodeID is what the host knows it by, "" if the host has no reactions or has not told.
	NodeID string
	// Host is the reference of the code host's instance.
	Host   string
	RepoID int64
}

// ListReactable returns those of the releases with the given ids whose repositories a user sees, in the order of the ids.
func (s *Store) ListReactable(ctx context.Context, userID string, ids []int64) (found []Reactable, err error) {
	q := s.store.DB(ctx).Table("release_entries AS e").Select("e.id, e.node_id, e.repo_id, p.host").Joins("JOIN release_repos p ON p.id = e.repo_id").
		Where("EXISTS (SELECT 1 FROM release_links l WHERE l.user_id IN (?, '') AND l.repo_id = e.repo_id AND l.visible)", userID)
	err = store.WhereInNumbers(q, "e.id", ids).Find(&found).Error
	slices.SortFunc(found, func(a, b Reactable) int { return slices.Index(ids, a.ID) - slices.Index(ids, b.ID) })
	return found, err
}

// SetReactions keeps how often each reaction was left to releases, by their ids.
func (s *Store) SetReactions(ctx context.Context, counts map[int64]map[string]int64) error {
	return s.store.Tx(ctx, "keep reactions", func(ctx context.Context) error {
		for id, of := range counts {
			if err := s.setReactions(ctx, id, encodeReactions(of)); err != nil {
				return err
			}
		}
		return nil
	})
}

// setReactions keeps the counts of a release, in the running transaction. They are no content: that they change is not told.
func (s *Store) setReactions(ctx context.Context, id int64, counts string) error {
	return s.store.Writer(ctx).Exec("UPDATE release_entries SET reactions = ? WHERE id = ? AND reactions <> ?", counts, id, counts).Error
}
