package repo

import (
	"context"
	"strings"

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
func (s *Store) indexRelease(ctx context.Context, r *Release, fullName string) error {
	if err := s.dropWords(ctx, []int64{r.ID}); err != nil {
		return err
	}
	title := r.Title
	if r.Tag != r.Title {
		title += "\n" + r.Tag
	}
	sections := []words.Section{{Weight: 'A', Words: words.ListWords(fullName)}, {Weight: 'B', Words: words.ListWords(title)}, {Weight: 'C', Words: words.ListWords(r.FullBody)}}
	w := s.store.Writer(ctx)
	if s.store.Dialect() == store.Postgres {
		return w.Exec("INSERT INTO release_search (docid, doc) VALUES (?, CAST(? AS tsvector))", r.ID, words.FormatVector(sections)).Error
	}
	columns := words.FormatColumns(sections)
	return w.Exec("INSERT INTO release_search (docid, repo, title, body) VALUES (?, ?, ?, ?)", r.ID, columns[0], columns[1], columns[2]).Error
}

// dropWords takes the words of releases out of the index.
func (s *Store) dropWords(ctx context.Context, ids []int64) error {
	for _, id := range ids {
		if err := s.store.Writer(ctx).Exec("DELETE FROM release_search WHERE docid = ?", id).Error; err != nil {
			return err
		}
	}
	return nil
}

// IndexMissing indexes at most limit releases whose words are not in the index as they are now. It returns how many.
func (s *Store) IndexMissing(ctx context.Context, limit int) (indexed int, err error) {
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

// WithWords returns the condition that the release with the id in a column has all terms, and none of those that are excluded.
func (s *Store) WithWords(terms []words.Term, column string) (condition string, values []any) {
	if len(terms) == 0 {
		return "", nil
	}
	var b strings.Builder
	b.WriteString(" AND " + column + " IN (SELECT docid FROM release_search WHERE ")
	if s.store.Dialect() == store.Postgres {
		b.WriteString("doc @@ CAST(? AS tsquery))")
		return b.String(), []any{words.FormatTSQuery(terms, searchWeights)}
	}
	b.WriteString("release_search MATCH ?)")
	if !words.HasWanted(terms) {
		return strings.Replace(b.String(), " IN ", " NOT IN ", 1), []any{words.FormatExcluded(terms)}
	}
	return b.String(), []any{words.FormatMatch(terms)}
}
