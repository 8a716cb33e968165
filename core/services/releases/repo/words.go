package repo

import (
	"context"
	"slices"

	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/core/texts/words"
)

// The columns of the index of words that a search may name.
const (
	ColumnRepo  = "repo"
	ColumnTitle = "title"
)

// searchWeights are those of the columns in a tsvector.
var searchWeights = map[string]byte{ColumnRepo: 'A', ColumnTitle: 'B'}

// indexRelease puts the words of a release into the index, in the place of those that it had.
func (s *wordIndex) indexRelease(ctx context.Context, r *Release, fullName string) error {
	if err := s.dropWords(ctx, []int64{r.ID}); err != nil {
		return err
	}
	title := r.Title
	if r.Tag != r.Title {
		title += "\n" + r.Tag
	}
	sections := []words.Section{{Weight: 'A', Words: words.ListWords(fullName)}, {Weight: 'B', Words: words.ListWords(title)},
		{Weight: 'C', Words: words.ListWords(r.FullBody)}}
	w := s.store.Writer(ctx)
	if s.store.Dialect() == store.Postgres {
		return w.Exec("INSERT INTO release_search (docid, doc) VALUES (?, CAST(? AS tsvector))", r.ID, words.FormatVector(sections)).Error
	}
	columns := words.FormatColumns(sections)
	return w.Exec("INSERT INTO release_search (docid, repo, title, body) VALUES (?, ?, ?, ?)", r.ID, columns[0], columns[1], columns[2]).Error
}

// dropWords takes the words of releases out of the index.
func (s *wordIndex) dropWords(ctx context.Context, ids []int64) error {
	for _, id := range ids {
		if err := s.store.Writer(ctx).Exec("DELETE FROM release_search WHERE docid = ?", id).Error; err != nil {
			return err
		}
	}
	return nil
}

// IndexMissing indexes at most limit releases whose words are not in the index as they are now. It returns how many.
func (s *wordIndex) IndexMissing(ctx context.Context, limit int) (indexed int, err error) {
	err = s.store.Tx(ctx, "index releases", func(ctx context.Context) error {
		var rows []struct {
			Release
			FullName, WholeBody string
		}
		w := s.store.Writer(ctx)
		err := w.Table("release_entries AS e").Select("e.id, e.title, e.tag, e.body, p.full_name, COALESCE(b.body, '') AS whole_body").
			Joins("JOIN release_repos p ON p.id = e.repo_id").Joins("LEFT JOIN release_bodies b ON b.release_id = e.id").
			Where("NOT e.indexed").Order("e.id").Limit(limit).Find(&rows).Error
		if err != nil {
			return err
		}
		for i := range rows {
			r := &rows[i].Release
			if r.FullBody = rows[i].WholeBody; r.FullBody == "" {
				r.FullBody = r.Body
			}
			if err := s.indexRelease(ctx, r, rows[i].FullName); err != nil {
				return err
			}
			if err := w.Exec("UPDATE release_entries SET indexed = ? WHERE id = ?", true, r.ID).Error; err != nil {
				return err
			}
		}
		indexed = len(rows)
		return nil
	})
	return indexed, err
}

// matchWords returns the condition that a row of the index has terms, and its value.
func (s *wordIndex) matchWords(terms []words.Term) (condition string, value any) {
	if s.store.Dialect() == store.Postgres {
		return "doc @@ CAST(? AS tsquery)", words.FormatTSQuery(terms, searchWeights)
	}
	return "release_search MATCH ?", words.FormatMatch(terms)
}

// commonShare is the part of all releases from which on words are common: one in commonShare.
const commonShare = 8

// minCommon is how many releases there must be, so that it matters which words are common.
const minCommon = 5000

// AreCommon reports whether so many releases have all terms that one finds a page of them sooner by looking at each release than in the
// index.
func (s *wordIndex) AreCommon(ctx context.Context, terms []words.Term) (bool, error) {
	if !words.HasWanted(terms) {
		return false, nil
	}
	var total, found int
	// The highest id is about how many releases there are.
	if err := s.store.DB(ctx).Raw("SELECT COALESCE(MAX(id), 0) FROM release_entries").Scan(&total).Error; err != nil || total < minCommon {
		return false, err
	}
	condition, value := s.matchWords(terms)
	err := s.store.DB(ctx).Raw("SELECT COUNT(*) FROM (SELECT 1 FROM release_search WHERE "+condition+store.Limit(total/commonShare)+") c",
		value).Scan(&found).Error
	return found >= total/commonShare, err
}

// maxWordSpan is between how many ids HaveWords looks.
const maxWordSpan = 50_000

// HaveWords returns those of releases, in their order, that have all terms. It reports false if their ids are too far apart to be looked
// up together.
func (s *wordIndex) HaveWords(ctx context.Context, terms []words.Term, ids []int64) (have []int64, ok bool, err error) {
	if len(ids) == 0 {
		return nil, true, nil
	}
	first, last := slices.Min(ids), slices.Max(ids)
	if last-first > maxWordSpan {
		return nil, false, nil
	}
	condition, value := s.matchWords(terms)
	var found []int64
	err = s.store.DB(ctx).Raw("SELECT docid FROM release_search WHERE "+condition+" AND docid >= ? AND docid <= ?", value, first,
		last).Scan(&found).Error
	slices.Sort(found)
	return slices.DeleteFunc(slices.Clone(ids), func(id int64) bool {
		_, has := slices.BinarySearch(found, id)
		return !has
	}), true, err
}

// WithWords returns the condition that the release with the id in a column has all terms, and none of those that are excluded.
func (s *wordIndex) WithWords(terms []words.Term, column string) (condition string, values []any) {
	if len(terms) == 0 {
		return "", nil
	}
	in := " IN"
	match, value := s.matchWords(terms)
	if s.store.Dialect() != store.Postgres && !words.HasWanted(terms) {
		in, value = " NOT IN", words.FormatExcluded(terms)
	}
	return " AND " + column + in + " (SELECT docid FROM release_search WHERE " + match + ")", []any{value}
}
