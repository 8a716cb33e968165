package message

import (
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/texts/words"
)

// Query is a search, taken apart.
type Query struct {
	// terms must all be in the message.
	terms []words.Term
	// Tags must all be on the mailbox.
	Tags          []string
	HasAttachment bool
	HasCode       bool
	// Unread, if set, chooses by whether the message was read.
	Unread *bool
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

// ParseQuery reads a search such as `from:ada subject:order "verification code" has:attachment before:2026-01-02`. What is
// wrong with it is a fault.InvalidArgument with the member field = "q".
func ParseQuery(text string) (q Query, err error) {
	if len(text) > maxQuery {
		return q, invalidQuery("A search has at most %d bytes.", maxQuery)
	}
	for rest := strings.TrimSpace(text); rest != ""; rest = strings.TrimSpace(rest) {
		var name, value string
		var quoted bool
		name, value, quoted, rest = words.CutTerm(rest, operators)
		if err := q.addTerm(name, value, quoted); err != nil {
			return Query{}, err
		}
	}
	if len(q.terms) > words.MaxTerms {
		return Query{}, invalidQuery("A search has at most %d words.", words.MaxTerms)
	}
	return q, nil
}

func invalidQuery(format string, args ...any) error {
	return fault.New(fault.InvalidArgument, format, args...).With("field", "q")
}

// operators are the names that may stand before a colon.
var operators = []string{"from", "to", "subject", "tag", "has", "is", "before", "after"}

// addTerm adds a term.
func (q *Query) addTerm(name, value string, quoted bool) (err error) {
	switch name {
	case "from":
		q.addWords(columnSender, value, quoted)
	case "to":
		q.addWords(columnRecipient, value, quoted)
	case "subject":
		q.addWords(columnSubject, value, quoted)
	case "tag":
		q.Tags = append(q.Tags, value)
	case "has":
		return q.addHas(value)
	case "is":
		return q.addIs(value)
	case "before":
		q.Before, err = parseDay(name, value)
	case "after":
		q.After, err = parseDay(name, value)
	default:
		q.addWords("", value, quoted)
	}
	return err
}

func (q *Query) addHas(value string) error {
	switch strings.ToLower(value) {
	case "attachment":
		q.HasAttachment = true
	case "code":
		q.HasCode = true
	default:
		return invalidQuery("has: is followed by attachment or code.")
	}
	return nil
}

func (q *Query) addIs(value string) error {
	unread := strings.EqualFold(value, "unread")
	if !unread && !strings.EqualFold(value, "read") {
		return invalidQuery("is: is followed by read or unread.")
	}
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
	return time.Time{}, invalidQuery("%s: is followed by a day such as 2026-01-31, or a time such as 2026-01-31T12:00:00Z.", name)
}

// addWords adds the words of a value that are looked for in a column, "" for all.
func (q *Query) addWords(column, value string, quoted bool) {
	if t, ok := words.NewTerm(column, value, quoted); ok {
		q.terms = append(q.terms, t)
	}
}

// hasWords reports whether the search needs the index.
func (q *Query) hasWords() bool { return len(q.terms) > 0 }
