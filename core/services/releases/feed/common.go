package feed

import (
	"context"
	"strconv"
	"strings"
)

// lookedAt is among how many releases for each of the page words are looked for that many releases have.
const lookedAt = 12

// listCommon looks for words that many releases have among the latest ones: to list all that have them takes longer the more there are.
// It finds nothing for other words, and may find fewer than there are.
func (s *Store) listCommon(ctx context.Context, q Query, after *place) ([]Item, error) {
	if common, err := s.repos.AreCommon(ctx, q.Search.terms); err != nil || !common {
		return nil, err
	}
	latest := q
	latest.Search.terms, latest.Limit = nil, lookedAt*(q.Limit+1)
	chosen, values, err := s.chooseReleases(ctx, latest, after)
	if err != nil {
		return nil, err
	}
	var ids []int64
	if err := s.store.DB(ctx).Raw("SELECT e.id"+chosen, values...).Scan(&ids).Error; err != nil {
		return nil, err
	}
	found, ok, err := s.repos.HaveWords(ctx, q.Search.terms, ids)
	if err != nil || !ok || len(found) <= q.Limit {
		return nil, err
	}
	list := make([]string, q.Limit+1)
	for i := range list {
		list[i] = strconv.FormatInt(found[i], 10)
	}
	return s.queryReleases(ctx, q, " FROM release_entries e WHERE e.id IN ("+strings.Join(list, ", ")+")", nil)
}
