package repo

import (
	"context"
	"errors"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/patchbay-dev/patchbay/core/lists"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Hold returns a repository by its id, and keeps it from being changed until the running transaction ends. A transaction that does
// something because a repository is not private holds it first, and changes its links after. One that holds several calls HoldNamed before.
func (s *Store) Hold(ctx context.Context, id int64) (Repo, error) {
	return takeRepo(s.store.Writer(ctx).Clauses(clause.Locking{Strength: "SHARE"}), id)
}

// lockRepo is Hold for a transaction that changes the repository. It comes before the releases, which refer to it.
func (s *Store) lockRepo(ctx context.Context, id int64) (Repo, error) {
	return takeRepo(s.store.Writer(ctx).Clauses(clause.Locking{Strength: "NO KEY UPDATE"}), id)
}

// HoldNamed holds those repositories of a host with some names that are stored, in the order of SaveAll.
func (s *Store) HoldNamed(ctx context.Context, host string, fullNames []string) error {
	keys := lists.ConvertAll(fullNames, KeyOf)
	return s.lockRepos(ctx, "SHARE", []string{host}, keys, nil)
}

// lockSaved locks what saveRepo is going to change of the repositories that are stored. It changes none if their ids at the hosts are not
// given.
func (s *Store) lockSaved(ctx context.Context, all []*Repo) error {
	var hosts, keys, remoteIDs []string
	for _, r := range all {
		if r.RemoteID != "" {
			hosts, keys, remoteIDs = append(hosts, r.Host), append(keys, KeyOf(r.FullName)), append(remoteIDs, r.RemoteID)
		}
	}
	slices.Sort(hosts)
	return s.lockRepos(ctx, "NO KEY UPDATE", slices.Compact(hosts), keys, remoteIDs)
}

// lockRepos locks the repositories of some hosts that have one of the names or ids at their hosts, in the order of their ids, which stay
// when a repository is renamed. SQLite runs one transaction after the other anyway.
func (s *Store) lockRepos(ctx context.Context, strength string, hosts, keys, remoteIDs []string) error {
	if s.store.Dialect() != store.Postgres || len(hosts) == 0 {
		return nil
	}
	var ids []int64
	w := s.store.Writer(ctx)
	for column, values := range map[string][]string{"name_key": keys, "remote_id": remoteIDs} {
		var found []int64
		if err := store.WhereIn(w.Model(&Repo{}).Where("host IN ?", hosts), column, values).Pluck("id", &found).Error; err != nil {
			return err
		}
		ids = append(ids, found...)
	}
	return store.WhereInNumbers(w.Model(&Repo{}).Clauses(clause.Locking{Strength: strength}).Order("id"), "id", ids).Pluck("id", &ids).Error
}

func takeRepo(db *gorm.DB, id int64) (r Repo, err error) {
	err = db.Where("id = ?", id).Take(&r).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		err = ErrNoRepo
	}
	return r, err
}
