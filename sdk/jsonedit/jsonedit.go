// Package jsonedit reads and changes the top-level members of a JSON object by position. Bytes that an edit does not
// concern stay as they are: nothing is decoded and encoded again, so numbers, spacing, order and duplicate members
// survive.
//
// Every function that takes a body validates all of it by RFC 8259 first. None but RemoveInPlace changes its argument.
package jsonedit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// MaxDepth is the deepest nesting of arrays and objects that is accepted; the outermost object has depth 1.
const MaxDepth = 64

var (
	// ErrDepth: the body is nested deeper than MaxDepth.
	ErrDepth = errors.New("JSON is nested too deeply")
	// ErrNotObject: the body is JSON, or starts like it, but not with an object.
	ErrNotObject = errors.New("JSON is not an object")
)

// SyntaxError tells where a body stops being JSON.
type SyntaxError struct {
	// Offset counts bytes from the start of the body.
	Offset int
	// Msg says what was expected. It quotes nothing of the body.
	Msg string
}

// Error implements error.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("invalid JSON at byte %d: %s", e.Offset, e.Msg)
}

// Member is one member of the outermost object. Offsets are bytes from the start of the body.
type Member struct {
	// Key is the member's name without quotes and escapes.
	Key string
	// KeyStart is the opening quote of the name, KeyEnd the byte after the closing one.
	KeyStart, KeyEnd int
	// ValueStart is the first byte of the value, ValueEnd the one after its last; no white space is in between.
	ValueStart, ValueEnd int
}

// Value returns the member's raw JSON, a part of body.
func (m Member) Value(body []byte) []byte { return body[m.ValueStart:m.ValueEnd:m.ValueEnd] }

// Members validates body and returns its members in order; a name that occurs twice is returned twice. The error is
// ErrNotObject, ErrDepth or a *SyntaxError.
func Members(body []byte) ([]Member, error) {
	var out []Member
	err := Walk(body, func(key []byte, m Member) {
		if out == nil {
			out = make([]Member, 0, 8)
		}
		m.Key = string(key)
		out = append(out, m)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Walk is Members without allocations: it calls visit for each member with the unescaped name, which is valid during
// the call only, and with an empty Member.Key. It calls visit also for the members in front of an error.
func Walk(body []byte, visit func(key []byte, m Member)) error {
	i := skipSpace(body, 0)
	if i == len(body) {
		return &SyntaxError{Offset: i, Msg: "unexpected end"}
	}
	if body[i] != '{' {
		return notObject(body, i)
	}
	s := scanner{body: body}
	i = s.readMembers(i, visit)
	if i < 0 {
		return s.err
	}
	return s.readEnd(i)
}

func notObject(body []byte, i int) error {
	s := scanner{body: body}
	if i = s.readValue(i, 1); i < 0 {
		return s.err
	}
	if err := s.readEnd(i); err != nil {
		return err
	}
	return ErrNotObject
}

// Find returns the last member of that name, which is the one that most decoders take. The error is that of Members.
func Find(body []byte, key string) (Member, bool, error) {
	var found Member
	var ok bool
	err := Walk(body, func(k []byte, m Member) {
		if string(k) == key {
			found, ok = m, true
		}
	})
	if err != nil {
		return Member{}, false, err
	}
	if ok {
		found.Key = key
	}
	return found, ok, nil
}

// Remove cuts out every member whose name match accepts, each with one comma. It returns body itself if none is. The
// error is that of Members.
func Remove(body []byte, match func(key string) bool) ([]byte, error) {
	return RemoveFunc(body, func(key []byte, _ Member) bool { return match(string(key)) })
}

// RemoveFunc is Remove for a match that needs no string or looks at the member's position too; the key is valid during
// the call only.
func RemoveFunc(body []byte, match func(key []byte, m Member) bool) ([]byte, error) {
	cuts, err := findCuts(body, match)
	if err != nil {
		return nil, err
	}
	if len(cuts) == 0 {
		return body, nil
	}
	return applyCuts(make([]byte, 0, len(body)), body, cuts), nil
}

// RemoveInPlace is RemoveFunc for a caller that owns body: the result lies in body's memory, and body must not be used
// any more. On an error body is unchanged.
func RemoveInPlace(body []byte, match func(key []byte, m Member) bool) ([]byte, error) {
	cuts, err := findCuts(body, match)
	if err != nil || len(cuts) == 0 {
		return body, err
	}
	return applyCuts(body[:0], body, cuts), nil
}

// span is a range of bytes, the end not included.
type span struct{ from, to int }

// findCuts lists what has to go in order. A member goes from the end of the kept one before it, or, if none was kept
// yet, up to the start of the one after it, so that one comma goes along.
func findCuts(body []byte, match func(key []byte, m Member) bool) ([]span, error) {
	var cuts []span
	kept, lastEnd := false, 0
	err := Walk(body, func(key []byte, m Member) {
		if !kept && len(cuts) > 0 {
			cuts[len(cuts)-1].to = m.KeyStart
		}
		switch drop := match(key, m); {
		case !drop:
			kept = true
		case kept:
			cuts = append(cuts, span{lastEnd, m.ValueEnd})
		default:
			cuts = append(cuts, span{m.KeyStart, m.ValueEnd})
		}
		lastEnd = m.ValueEnd
	})
	if err != nil {
		return nil, err
	}
	return cuts, nil
}

// applyCuts appends what remains of body to out, which may be body's own beginning.
func applyCuts(out, body []byte, cuts []span) []byte {
	at := 0
	for _, c := range cuts {
		out = append(out, body[at:c.from]...)
		at = c.to
	}
	return append(out, body[at:]...)
}

// Set replaces the value of every member of that name, or appends the member if there is none. rawValue must be one
// JSON value; it may not nest deeper than MaxDepth-1. The error is that of Members, or a *SyntaxError that concerns
// rawValue.
func Set(body []byte, key string, rawValue []byte) ([]byte, error) {
	if err := checkValue(rawValue); err != nil {
		return nil, fmt.Errorf("check new value: %w", err)
	}
	var out []byte
	copied, count := 0, 0
	err := Walk(body, func(k []byte, m Member) {
		count++
		if string(k) != key {
			return
		}
		if out == nil {
			out = make([]byte, 0, len(body)+len(rawValue))
		}
		out = append(append(out, body[copied:m.ValueStart]...), rawValue...)
		copied = m.ValueEnd
	})
	if err != nil {
		return nil, err
	}
	if out != nil {
		return append(out, body[copied:]...), nil
	}
	return appendMember(body, key, rawValue, count == 0)
}

func checkValue(raw []byte) error {
	s := scanner{body: raw}
	i := s.readValue(skipSpace(raw, 0), 2)
	if i < 0 {
		return s.err
	}
	return s.readEnd(i)
}

func appendMember(body []byte, key string, rawValue []byte, first bool) ([]byte, error) {
	if !utf8.ValidString(key) {
		return nil, errors.New("append member: name is not UTF-8")
	}
	name, err := json.Marshal(key)
	if err != nil {
		return nil, fmt.Errorf("append member: %w", err)
	}
	brace := bytes.LastIndexByte(body, '}')
	last := brace
	for last > 0 && isSpace(body[last-1]) {
		last--
	}
	out := make([]byte, 0, len(body)+len(name)+len(rawValue)+2)
	out = append(out, body[:last]...)
	if !first {
		out = append(out, ',')
	}
	out = append(append(append(out, name...), ':'), rawValue...)
	return append(out, body[last:]...), nil
}

// ContainsString reports whether needle is a part of any name or string value of body, at any depth, also where body
// writes it with escapes. Of a body that is not JSON it tells whether the raw bytes hold needle. An empty needle is
// in nothing.
func ContainsString(body []byte, needle string) bool {
	if needle == "" {
		return false
	}
	raw := bytes.Contains(body, []byte(needle))
	if !raw && bytes.IndexByte(body, '\\') < 0 {
		return false
	}
	s := scanner{body: body, needle: []byte(needle)}
	i := s.readValue(skipSpace(body, 0), 1)
	if i < 0 || s.readEnd(i) != nil {
		return raw || s.found
	}
	return s.found
}
