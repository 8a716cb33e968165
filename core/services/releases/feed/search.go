package feed

import (
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/core/texts/words"
)

// Search chooses releases by their words. The zero value chooses all items of the feed.
type Search struct {
	terms []words.Term
	// before and after bound the time of a release; zero means no bound.
	before, after time.Time
}

// MaxSearch is the longest search, in bytes.
const MaxSearch = 500

// searchOperators are the names that may stand before a colon.
var searchOperators = []string{"repo", "title", "before", "after"}

// ParseSearch reads a search such as `repo:caddy "reverse proxy" tls* -beta after:2026-01-31`. A minus excludes what follows it.
func ParseSearch(text string) (q Search, err error) {
	if len(text) > MaxSearch {
		return q, badQuery("q", "A search can have at most %d bytes.", MaxSearch)
	}
	for rest := strings.TrimSpace(text); rest != ""; rest = strings.TrimSpace(rest) {
		var name, value string
		var quoted, not bool
		rest, not = words.CutMinus(rest)
		name, value, quoted, rest = words.CutTerm(rest, searchOperators)
		if not && (name == "before" || name == "after") {
			return Search{}, badQuery("q", "%s: cannot be excluded.", name)
		}
		switch name {
		case "before":
			q.before, err = parseDay(name, value)
		case "after":
			q.after, err = parseDay(name, value)
		case "repo":
			q.addWords(repo.ColumnRepo, value, quoted, not)
		case "title":
			q.addWords(repo.ColumnTitle, value, quoted, not)
		default:
			q.addWords("", value, quoted, not)
		}
		if err != nil {
			return Search{}, err
		}
	}
	if len(q.terms) > words.MaxTerms {
		return Search{}, badQuery("q", "A search can have at most %d words.", words.MaxTerms)
	}
	return q, nil
}

// addWords adds the words of a value that are looked for in a column, "" for all, or excludes them.
func (q *Search) addWords(column, value string, quoted, not bool) {
	if t, ok := words.NewTerm(column, value, quoted); ok {
		t.Excluded = not
		q.terms = append(q.terms, t)
	}
}

// parseDay reads a day, which begins at midnight UTC, or a time.
func parseDay(name, value string) (time.Time, error) {
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, value); err == nil {
			return t, nil
		}
	}
	return time.Time{}, badQuery("q", "%s: must be followed by a day such as 2026-01-31, or a time such as 2026-01-31T12:00:00Z.", name)
}

// isSet reports whether the search chooses at all.
func (q *Search) isSet() bool { return len(q.terms) > 0 || !q.before.IsZero() || !q.after.IsZero() }

// whereFound returns the condition that a search finds the release e.
func (s *Store) whereFound(q Search) (condition string, values []any) {
	condition, values = s.repos.WithWords(q.terms, "e.id")
	if !q.before.IsZero() {
		condition, values = condition+" AND e.ts < ?", append(values, store.Millis(q.before))
	}
	if !q.after.IsZero() {
		condition, values = condition+" AND e.ts >= ?", append(values, store.Millis(q.after))
	}
	return condition, values
}
