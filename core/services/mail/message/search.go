package message

import (
	"slices"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/texts/words"
)

// Query is a search, taken apart.
type Query struct {
	// terms must all be in the message, or must not where they are excluded.
	terms []words.Term
	// Tags must all be on the mailbox, and none of NotTags.
	Tags, NotTags []string
	// HasAttachment, HasCode and Unread, if set, choose by whether the message has one, or was not read.
	HasAttachment, HasCode, Unread *bool
	// Before and After bound the time of receipt; zero means no bound.
	Before, After time.Time
}

// The columns of the index that a search may name.
const (
	columnSubject   = "subject"
	columnSender    = "sender"
	columnRecipient = "recipient"
)

// weights are those of the columns in a tsvector.
var weights = map[string]byte{columnSubject: 'A', columnSender: 'B', columnRecipient: 'C'}

// maxQuery is the longest search, in bytes.
const maxQuery = 500

// ParseQuery reads a search such as `from:ada subject:order -"verification code" has:attachment before:2026-01-02`. A minus excludes
// what follows it. What is wrong with it is a fault.InvalidArgument with the member field = "q".
func ParseQuery(text string) (q Query, err error) {
	if len(text) > maxQuery {
		return q, invalidQuery("A search can have at most %d bytes.", maxQuery)
	}
	for rest := strings.TrimSpace(text); rest != ""; rest = strings.TrimSpace(rest) {
		var name, value string
		var quoted, not bool
		rest, not = words.CutMinus(rest)
		name, value, quoted, rest = words.CutTerm(rest, operators)
		if err := q.addTerm(name, value, quoted, not); err != nil {
			return Query{}, err
		}
	}
	if len(q.terms) > words.MaxTerms {
		return Query{}, invalidQuery("A search can have at most %d words.", words.MaxTerms)
	}
	return q, nil
}

func invalidQuery(format string, args ...any) error {
	return fault.New(fault.InvalidArgument, format, args...).With("field", "q")
}

// operators are the names that may stand before a colon.
var operators = []string{"from", "to", "subject", "tag", "has", "is", "before", "after"}

// addTerm adds a term, or excludes it.
func (q *Query) addTerm(name, value string, quoted, not bool) error {
	switch name {
	case "from":
		q.addWords(columnSender, value, quoted, not)
	case "to":
		q.addWords(columnRecipient, value, quoted, not)
	case "subject":
		q.addWords(columnSubject, value, quoted, not)
	case "tag":
		if not {
			q.NotTags = append(q.NotTags, value)
		} else {
			q.Tags = append(q.Tags, value)
		}
	case "has":
		return q.addHas(value, !not)
	case "is":
		return q.addIs(value, !not)
	case "before", "after":
		return q.addTime(name, value, not)
	default:
		q.addWords("", value, quoted, not)
	}
	return nil
}

// addTime bounds the time of receipt.
func (q *Query) addTime(name, value string, not bool) (err error) {
	switch {
	case not:
		return invalidQuery("%s: cannot be excluded.", name)
	case name == "before":
		q.Before, err = parseDay(name, value)
	default:
		q.After, err = parseDay(name, value)
	}
	return err
}

func (q *Query) addHas(value string, wanted bool) error {
	switch strings.ToLower(value) {
	case "attachment":
		q.HasAttachment = &wanted
	case "code":
		q.HasCode = &wanted
	default:
		return invalidQuery("has: must be followed by attachment or code.")
	}
	return nil
}

func (q *Query) addIs(value string, wanted bool) error {
	unread := strings.EqualFold(value, "unread")
	if !unread && !strings.EqualFold(value, "read") {
		return invalidQuery("is: must be followed by read or unread.")
	}
	unread = unread == wanted
	q.Unread = &unread
	return nil
}

// parseDay reads a day, which begins at midnight UTC, or a time.
func parseDay(name, value string) (time.Time, error) {
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, value); err == nil {
			return t, nil
		}
	}
	return time.Time{}, invalidQuery("%s: must be followed by a day such as 2026-01-31, or a time such as 2026-01-31T12:00:00Z.", name)
}

// addWords adds the words of a value that are looked for in a column, "" for all, or excludes them.
func (q *Query) addWords(column, value string, quoted, not bool) {
	if t, ok := words.NewTerm(column, value, quoted); ok {
		t.Excluded = not
		q.terms = append(q.terms, t)
	}
}

// useMarkers turns what the search asks of codes and attachments into terms, if it looks for words, or excludes some and has to find such
// messages in all mailboxes: the index then spares the database messages that have the words and not the rest.
func (q *Query) useMarkers(all bool) {
	if len(q.terms) == 0 || !q.hasWords() && (!all || !isWanted(q.HasCode) && !isWanted(q.HasAttachment)) {
		return
	}
	q.terms = slices.Clip(q.terms)
	for name, has := range map[string]**bool{markerCode: &q.HasCode, markerAttachment: &q.HasAttachment} {
		if *has != nil {
			q.terms, *has = append(q.terms, words.NewMarkerTerm(name, !**has)), nil
		}
	}
}

// isWanted reports whether the search asks for messages with something.
func isWanted(b *bool) bool { return b != nil && *b }

// hasWords reports whether the search looks for words.
func (q *Query) hasWords() bool { return words.HasWanted(q.terms) }
