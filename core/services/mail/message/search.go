package message

import (
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
)

// Query is a search, taken apart.
type Query struct {
	// terms must all be in the message.
	terms []term
	// Tags must all be on the mailbox.
	Tags          []string
	HasAttachment bool
	HasCode       bool
	// Unread, if set, chooses by whether the message was read.
	Unread *bool
	// Before and After bound the time of receipt; zero means no bound.
	Before, After time.Time
}

// part names a part of the index; "" stands for all.
type partName string

// The parts that a search may name.
const (
	partSubject   partName = "subject"
	partSender    partName = "sender"
	partRecipient partName = "recipient"
)

// term is a sequence of words.
type term struct {
	part  partName
	words []string
	// prefix says that the last word may go on.
	prefix bool
}

// The limits of a search.
const (
	maxQuery = 500
	maxTerms = 20
)

// ParseQuery reads a search such as `from:ada subject:order "verification code" has:attachment before:2026-01-02`. What is
// wrong with it is a fault.InvalidArgument with the member field = "q".
func ParseQuery(text string) (q Query, err error) {
	if len(text) > maxQuery {
		return q, invalidQuery("A search has at most %d bytes.", maxQuery)
	}
	for rest := strings.TrimSpace(text); rest != ""; rest = strings.TrimSpace(rest) {
		var name, value string
		var quoted bool
		name, value, quoted, rest = nextTerm(rest)
		if err := q.addTerm(name, value, quoted); err != nil {
			return Query{}, err
		}
	}
	if len(q.terms) > maxTerms {
		return Query{}, invalidQuery("A search has at most %d words.", maxTerms)
	}
	return q, nil
}

func invalidQuery(format string, args ...any) error {
	return fault.New(fault.InvalidArgument, format, args...).With("field", "q")
}

// operators are the names that may stand before a colon.
var operators = []string{"from", "to", "subject", "tag", "has", "is", "before", "after"}

// nextTerm takes the first term off a search: its operator, "" for none, and its value.
func nextTerm(s string) (name, value string, quoted bool, rest string) {
	for _, op := range operators {
		if len(s) > len(op) && s[len(op)] == ':' && strings.EqualFold(s[:len(op)], op) {
			name, s = op, s[len(op)+1:]
			break
		}
	}
	if strings.HasPrefix(s, `"`) {
		value, rest, _ = strings.Cut(s[1:], `"`)
		return name, value, true, rest
	}
	end := strings.IndexAny(s, " \t\r\n　")
	if end < 0 {
		end = len(s)
	}
	return name, s[:end], false, strings.TrimLeft(s[end:], " \t\r\n　")
}

// addTerm adds a term.
func (q *Query) addTerm(name, value string, quoted bool) (err error) {
	switch name {
	case "from":
		q.addWords(partSender, value, quoted)
	case "to":
		q.addWords(partRecipient, value, quoted)
	case "subject":
		q.addWords(partSubject, value, quoted)
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

// addWords adds the words of a value. Without quotes, those that punctuation joins belong together all the same.
func (q *Query) addWords(part partName, value string, quoted bool) {
	t := term{part: part, prefix: !quoted && strings.HasSuffix(value, "*")}
	ending := ""
	splitWords(value, func(word string, last bool) bool {
		if ending != "" {
			t.words, ending = append(t.words, ending), ""
		}
		// The last character of a run is part of the pair before it, and a word of its own only where the run ends.
		if last && len(t.words) > 0 && strings.HasSuffix(t.words[len(t.words)-1], word) {
			ending = word
			return true
		}
		t.words = append(t.words, word)
		// A single character is found as the beginning of a pair.
		t.prefix = t.prefix || last
		return len(t.words) < maxTerms
	})
	if len(t.words) > 0 {
		q.terms = append(q.terms, t)
	}
}

// hasWords reports whether the search needs the index.
func (q *Query) hasWords() bool { return len(q.terms) > 0 }

// sqliteMatch returns the search in the language of FTS4. Words hold letters and digits alone. In one part of a message, the
// words of a phrase need not be neighbours.
func (q *Query) sqliteMatch() string {
	var all []string
	for _, t := range q.terms {
		words := make([]string, len(t.words))
		copy(words, t.words)
		if t.prefix {
			words[len(words)-1] += "*"
		}
		switch {
		case t.part != "":
			for _, w := range words {
				all = append(all, string(t.part)+":"+w)
			}
		case len(words) == 1:
			all = append(all, words[0])
		default:
			all = append(all, `"`+strings.Join(words, " ")+`"`)
		}
	}
	return strings.Join(all, " AND ")
}

// weights are the parts as PostgreSQL's tsvector has them.
var weights = map[partName]string{partSubject: "A", partSender: "B", partRecipient: "C"}

// postgresMatch returns the search as the text of a tsquery.
func (q *Query) postgresMatch() string {
	var all []string
	for _, t := range q.terms {
		words := make([]string, len(t.words))
		for i, w := range t.words {
			flags := weights[t.part]
			if t.prefix && i == len(t.words)-1 {
				flags += "*"
			}
			words[i] = "'" + w + "'"
			if flags != "" {
				words[i] += ":" + flags
			}
		}
		operator := " <-> "
		if t.part != "" {
			operator = " & "
		}
		all = append(all, "("+strings.Join(words, operator)+")")
	}
	return strings.Join(all, " & ")
}
