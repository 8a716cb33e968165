package message

import (
	"context"
	"time"

	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/core/texts/words"
)

// wordUse is how a statement looks for words.
type wordUse int

const (
	// inOrder reads messages in their order until there are enough: SQLite those that the index of words returns, PostgreSQL all, whose words
	// it looks at.
	inOrder wordUse = iota
	// sorted, on PostgreSQL, finds all messages by the index of words and sorts them.
	sorted
	// oneByOne looks at the words of each message that the other conditions choose.
	oneByOne
)

// documentColumns are the columns of SQLite's index of words, by the names that a search has for them, "" for that of the body.
var documentColumns = []words.Column{{Name: columnSubject, SQL: "w.subject"}, {Name: columnSender, SQL: "w.sender"},
	{Name: columnRecipient, SQL: "w.recipient"}, {SQL: "w.body"}}

// whereWords adds the condition that a message has the words of a search. indexSeq is the column of the index of words that equals
// m.seq, "" if bounds on it spare the database nothing.
func (s *Store) whereWords(q *gorm.DB, search Query, use wordUse) (_ *gorm.DB, indexSeq string) {
	if len(search.terms) == 0 {
		return q, ""
	}
	if s.store.Dialect() == store.SQLite {
		if use == oneByOne {
			condition, values := words.FormatDocumentCondition(search.terms, documentColumns)
			return q.Table("mail_messages AS m CROSS JOIN mail_search AS w").Where("w.docid = m.seq AND "+condition, values...), ""
		}
		if !search.hasWords() {
			return q.Where("m.seq NOT IN (SELECT docid FROM mail_search WHERE mail_search MATCH ?)", words.FormatExcluded(search.terms)), ""
		}
		return q.Table("mail_search AS w CROSS JOIN mail_messages AS m").Where("m.seq = w.docid AND w.mail_search MATCH ?",
			words.FormatMatch(search.terms)), "w.docid"
	}
	condition := "(w.doc @@ CAST(? AS tsquery)) IS TRUE"
	if use == sorted {
		// In this form the condition is one that the index of words can answer.
		condition = "w.doc @@ CAST(? AS tsquery)"
	}
	return q.Table("mail_messages AS m JOIN mail_search AS w ON w.seq = m.seq").Where(condition, words.FormatTSQuery(search.terms, weights)),
		"w.seq"
}

const (
	// recentDocuments is how many of the newest documents are read before the index of words is asked. A long one takes some 20 µs.
	recentDocuments = 1000
	// fewMatches is how many documents are sorted at most, which takes some 10 µs for each. With more of them, enough are soon found in
	// their order.
	fewMatches = 4000
)

// readsRecentFirst reports whether the words of a search are looked for in the newest documents before the index is asked. PostgreSQL
// cannot know how many documents have a rare word: it expects many and reads the newest first, which may be all of them. SQLite gathers
// all documents with a short prefix, or with words that are excluded, before it returns one.
func (s *Store) readsRecentFirst(search Query) bool {
	if s.store.Dialect() == store.Postgres {
		return search.hasWords()
	}
	return len(search.terms) > 0 && (!search.hasWords() || words.HasShortPrefix(search.terms))
}

// searchRecentFirst is List for a search for which readsRecentFirst holds. Only a bounded number of documents is read at first, which is
// enough for frequent words; then the index is asked. On PostgreSQL the matches are counted before, and few of them are found by the
// index.
func (s *Store) searchRecentFirst(ctx context.Context, f Filter) ([]Summary, error) {
	last := f.BeforeSeq - 1
	if f.BeforeSeq <= 0 {
		var err error
		if last, err = s.LastSeq(ctx); err != nil {
			return nil, err
		}
	}
	recent := f
	recent.AfterSeq = max(f.AfterSeq, last-recentDocuments)
	found, err := findSummaries(s.chooseOrdered(ctx, recent, oneByOne))
	if err != nil || len(found) >= f.Limit || recent.AfterSeq <= f.AfterSeq {
		return found, err
	}
	use := inOrder
	if s.store.Dialect() == store.Postgres {
		few, err := s.hasFewMatches(ctx, f.Query)
		if err != nil {
			return nil, err
		}
		if few {
			use = sorted
		}
	}
	return findSummaries(s.chooseOrdered(ctx, f, use))
}

// hasFewMatches reports whether no more than fewMatches documents have the words of a search, in whatever part and order: PostgreSQL's
// index of words tells that by itself, while it would read the documents to see where the words stand.
func (s *Store) hasFewMatches(ctx context.Context, search Query) (bool, error) {
	var anywhere []words.Term
	for _, t := range search.terms {
		if !t.Excluded {
			t.Column = "any"
			anywhere = append(anywhere, t)
		}
	}
	matches := 0
	err := s.store.DB(ctx).Raw("WITH found AS MATERIALIZED (SELECT 1 FROM mail_search WHERE doc @@ CAST(? AS tsquery)) SELECT COUNT(*) FROM (SELECT 1 FROM found LIMIT ?) AS counted",
		words.FormatTSQuery(anywhere, nil), fewMatches+1).Scan(&matches).Error
	return matches <= fewMatches, err
}

// clockTolerance is how far the clock may have been set back without before: missing a message.
const clockTolerance = 10 * time.Minute

// boundByTime bounds Seq by the time before which the messages came, so that later ones need not be read.
func (s *Store) boundByTime(ctx context.Context, f *Filter) error {
	if f.Query.Before.IsZero() {
		return nil
	}
	var later []int64
	err := s.store.DB(ctx).Raw("SELECT seq FROM mail_messages WHERE received_at >= ? ORDER BY received_at, seq LIMIT 1",
		store.Millis(f.Query.Before.Add(clockTolerance))).Scan(&later).Error
	if err == nil && len(later) > 0 && (f.BeforeSeq <= 0 || later[0] < f.BeforeSeq) {
		f.BeforeSeq = later[0]
	}
	return err
}
