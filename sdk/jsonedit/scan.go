package jsonedit

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"
)

// scanner validates JSON in one pass. Its methods take the offset where something starts and return the one after
// its end, or -1 with err set.
type scanner struct {
	body []byte
	err  error
	// needle, if not empty, is looked for in every string.
	needle []byte
	found  bool
	buf    []byte
}

func (s *scanner) failAt(offset int, msg string) int {
	if offset >= len(s.body) {
		offset, msg = len(s.body), "unexpected end"
	}
	s.err = &SyntaxError{Offset: offset, Msg: msg}
	return -1
}

// readEnd checks that only white space follows.
func (s *scanner) readEnd(i int) error {
	if i = skipSpace(s.body, i); i < len(s.body) {
		s.failAt(i, "data after the value")
		return s.err
	}
	return nil
}

// readValue reads the value at i; an array or object there has the given depth.
func (s *scanner) readValue(i, depth int) int {
	if i >= len(s.body) {
		return s.failAt(i, "")
	}
	switch c := s.body[i]; c {
	case '"':
		return s.readString(i)
	case '{':
		return s.readObject(i, depth)
	case '[':
		return s.readArray(i, depth)
	case 't':
		return s.readWord(i, "true")
	case 'f':
		return s.readWord(i, "false")
	case 'n':
		return s.readWord(i, "null")
	default:
		return s.readNumber(i)
	}
}

func (s *scanner) readWord(i int, word string) int {
	for k := range len(word) {
		if i+k >= len(s.body) || s.body[i+k] != word[k] {
			return s.failAt(i+k, "expected "+word)
		}
	}
	return i + len(word)
}

func (s *scanner) readArray(i, depth int) int {
	if depth > MaxDepth {
		s.err = ErrDepth
		return -1
	}
	i = skipSpace(s.body, i+1)
	if i < len(s.body) && s.body[i] == ']' {
		return i + 1
	}
	for {
		if i = s.readValue(i, depth+1); i < 0 {
			return -1
		}
		i = skipSpace(s.body, i)
		if i >= len(s.body) || s.body[i] != ',' {
			break
		}
		i = skipSpace(s.body, i+1)
	}
	if i >= len(s.body) || s.body[i] != ']' {
		return s.failAt(i, "expected a comma or the end of the array")
	}
	return i + 1
}

func (s *scanner) readObject(i, depth int) int {
	if depth > MaxDepth {
		s.err = ErrDepth
		return -1
	}
	i = skipSpace(s.body, i+1)
	if i < len(s.body) && s.body[i] == '}' {
		return i + 1
	}
	for {
		if i = s.readName(i); i < 0 {
			return -1
		}
		if i = s.readColon(i); i < 0 {
			return -1
		}
		if i = s.readValue(i, depth+1); i < 0 {
			return -1
		}
		next, more := s.readComma(i)
		if !more {
			return next
		}
		i = next
	}
}

// readMembers is object for the outermost one.
func (s *scanner) readMembers(i int, visit func(key []byte, m Member)) int {
	i = skipSpace(s.body, i+1)
	if i < len(s.body) && s.body[i] == '}' {
		return i + 1
	}
	var m Member
	for {
		m.KeyStart = i
		if m.KeyEnd = s.readName(i); m.KeyEnd < 0 {
			return -1
		}
		key := s.unquoteString(m.KeyStart, m.KeyEnd)
		if !utf8.Valid(key) {
			return s.failAt(m.KeyStart, "name is not UTF-8")
		}
		if m.ValueStart = s.readColon(m.KeyEnd); m.ValueStart < 0 {
			return -1
		}
		if m.ValueEnd = s.readValue(m.ValueStart, 2); m.ValueEnd < 0 {
			return -1
		}
		visit(key, m)
		next, more := s.readComma(m.ValueEnd)
		if !more {
			return next
		}
		i = next
	}
}

func (s *scanner) readName(i int) int {
	if i >= len(s.body) || s.body[i] != '"' {
		return s.failAt(i, "expected a name in quotes")
	}
	return s.readString(i)
}

func (s *scanner) readColon(i int) int {
	i = skipSpace(s.body, i)
	if i >= len(s.body) || s.body[i] != ':' {
		return s.failAt(i, "expected a colon")
	}
	return skipSpace(s.body, i+1)
}

// readComma reads what follows a member: a comma and the start of the next one (more), or the end of the object.
func (s *scanner) readComma(i int) (next int, more bool) {
	i = skipSpace(s.body, i)
	switch {
	case i >= len(s.body):
		return s.failAt(i, ""), false
	case s.body[i] == ',':
		return skipSpace(s.body, i+1), true
	case s.body[i] == '}':
		return i + 1, false
	}
	return s.failAt(i, "expected a comma or the end of the object"), false
}

const (
	lows  = 0x0101010101010101
	highs = 0x8080808080808080
)

// readString reads the string whose opening quote is at i. Eight bytes at a time are skipped as long as none is a quote, a
// backslash or a control character.
func (s *scanner) readString(i int) int {
	b, start := s.body, i
	for i++; ; i++ {
		for i+8 <= len(b) && isPlain(binary.LittleEndian.Uint64(b[i:])) {
			i += 8
		}
		for i < len(b) && b[i] >= 0x20 && b[i] != '"' && b[i] != '\\' {
			i++
		}
		if i >= len(b) {
			return s.failAt(i, "")
		}
		if b[i] == '"' {
			if s.needle != nil {
				s.findNeedle(start, i+1)
			}
			return i + 1
		}
		if b[i] < 0x20 {
			return s.failAt(i, "control character in a string")
		}
		if i = s.readEscape(i); i < 0 {
			return -1
		}
	}
}

// isPlain tells that none of the eight bytes ends a plain run. It may say false for a run that is plain.
func isPlain(w uint64) bool {
	control := w - lows*0x20
	quote := (w ^ lows*'"') - lows
	slash := (w ^ lows*'\\') - lows
	// A byte with its high bit set is never below 0x20, a quote or a backslash.
	return (control|quote|slash)&^w&highs == 0
}

// readEscape reads the escape at i and returns its last byte.
func (s *scanner) readEscape(i int) int {
	if i+1 >= len(s.body) {
		return s.failAt(i+1, "")
	}
	switch s.body[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 1
	case 'u':
		for k := i + 2; k < i+6; k++ {
			if k >= len(s.body) || hexDigit(s.body[k]) < 0 {
				return s.failAt(k, "expected four hexadecimal digits")
			}
		}
		return i + 5
	}
	return s.failAt(i+1, "unknown escape")
}

func (s *scanner) readNumber(i int) int {
	b, start := s.body, i
	if b[i] == '-' {
		i++
	}
	switch {
	case i < len(b) && b[i] == '0':
		i++
	case i < len(b) && b[i] >= '1' && b[i] <= '9':
		i = skipDigits(b, i)
	case i > start:
		return s.failAt(i, "expected a digit")
	default:
		return s.failAt(i, "expected a value")
	}
	if i < len(b) && b[i] == '.' {
		end := skipDigits(b, i+1)
		if end == i+1 {
			return s.failAt(end, "expected a digit")
		}
		i = end
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		end := skipDigits(b, i)
		if end == i {
			return s.failAt(end, "expected a digit")
		}
		i = end
	}
	return i
}

func skipDigits(b []byte, i int) int {
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	return i
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

func skipSpace(b []byte, i int) int {
	for i < len(b) && isSpace(b[i]) {
		i++
	}
	return i
}

// findNeedle looks for the needle in the string from start to end, quotes included.
func (s *scanner) findNeedle(start, end int) {
	if !s.found {
		s.found = bytes.Contains(s.unquoteString(start, end), s.needle)
	}
}
