package rfc822

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// cssKind is the kind of a token of CSS.
type cssKind int

// The kinds of tokens. A cssMark is one character that stands for itself, such as a brace or a comma.
const (
	cssEnd cssKind = iota
	cssSpace
	cssName
	cssFunction
	cssAt
	cssHash
	cssString
	cssURL
	cssNumber
	cssMark
	// cssBad is what CSS calls a bad string or a bad URL.
	cssBad
)

// cssToken is a token. Its text is decoded: without escapes, quotes and signs such as @ and #.
type cssToken struct {
	kind cssKind
	text string
}

// isMark reports whether the token is one of some characters.
func (t cssToken) isMark(chars string) bool {
	return t.kind == cssMark && strings.Contains(chars, t.text)
}

// cssLexer splits a style sheet into tokens as the specification of the syntax of CSS says.
type cssLexer struct {
	s  string
	at int
}

var cssNewlines = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\f", "\n", "\x00", "\uFFFD")

// newCSSLexer returns a lexer of the first maxCSS bytes.
func newCSSLexer(source string) *cssLexer {
	return &cssLexer{s: cssNewlines.Replace(strings.ToValidUTF8(source[:min(len(source), maxCSS)], "\uFFFD"))}
}

// peekByte returns the byte that is n bytes ahead, or 0 after the end.
func (l *cssLexer) peekByte(n int) byte {
	if l.at+n < len(l.s) {
		return l.s[l.at+n]
	}
	return 0
}

// skipSpace skips spaces and comments, those of HTML too, and reports whether there were any.
func (l *cssLexer) skipSpace() bool {
	start := l.at
	for l.at < len(l.s) {
		rest := l.s[l.at:]
		switch {
		case isCSSSpace(rest[0]):
			l.at++
		case strings.HasPrefix(rest, "/*"):
			_, after, _ := strings.Cut(rest[2:], "*/")
			l.at = len(l.s) - len(after)
		case strings.HasPrefix(rest, "<!--"):
			l.at += 4
		case strings.HasPrefix(rest, "-->"):
			l.at += 3
		default:
			return l.at > start
		}
	}
	return l.at > start
}

// nextToken returns the next token. A comment is a space, so that what it separates stays apart.
func (l *cssLexer) nextToken() cssToken {
	if l.skipSpace() {
		return cssToken{cssSpace, " "}
	}
	if l.at >= len(l.s) {
		return cssToken{}
	}
	c := l.peekByte(0)
	switch {
	case c == '"' || c == '\'':
		return l.readString(c)
	case c == '#' && (isNameByte(l.peekByte(1)) || l.escapeAt(1)):
		l.at++
		return cssToken{cssHash, l.readName()}
	case c == '@' && l.nameAt(1):
		l.at++
		return cssToken{cssAt, l.readName()}
	case l.numberAt():
		return cssToken{cssNumber, l.readNumber()}
	case l.nameAt(0):
		return l.readWord()
	case c == '\\':
		l.at++
		return cssToken{kind: cssBad}
	}
	l.at++
	return cssToken{cssMark, string(rune(c))}
}

func isCSSSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' }

// isNameByte reports whether c may stand in a name without an escape.
func isNameByte(c byte) bool { return isNameStart(c) || c >= '0' && c <= '9' || c == '-' }

func isNameStart(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= utf8.RuneSelf
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// escapeAt reports whether an escape begins n bytes ahead.
func (l *cssLexer) escapeAt(n int) bool {
	return l.peekByte(n) == '\\' && l.peekByte(n+1) != '\n' && l.at+n+1 < len(l.s)
}

// nameAt reports whether a name begins n bytes ahead.
func (l *cssLexer) nameAt(n int) bool {
	if l.peekByte(n) == '-' {
		return isNameStart(l.peekByte(n+1)) || l.peekByte(n+1) == '-' || l.escapeAt(n+1)
	}
	return isNameStart(l.peekByte(n)) || l.escapeAt(n)
}

// numberAt reports whether a number begins here.
func (l *cssLexer) numberAt() bool {
	n := 0
	if c := l.peekByte(0); c == '+' || c == '-' {
		n = 1
	}
	return isDigit(l.peekByte(n)) || l.peekByte(n) == '.' && isDigit(l.peekByte(n+1))
}

// readEscape reads an escape.
func (l *cssLexer) readEscape() rune {
	l.at++
	end := l.at
	for end < len(l.s) && end < l.at+6 && isHexDigit(l.s[end]) {
		end++
	}
	if end == l.at {
		r, size := utf8.DecodeRuneInString(l.s[l.at:])
		l.at += size
		return r
	}
	code, _ := strconv.ParseUint(l.s[l.at:end], 16, 32)
	if l.at = end; isCSSSpace(l.peekByte(0)) {
		l.at++
	}
	if r := rune(code); r != 0 && utf8.ValidRune(r) {
		return r
	}
	return utf8.RuneError
}

func isHexDigit(c byte) bool {
	return isDigit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// readName reads a name without its escapes.
func (l *cssLexer) readName() string {
	var out strings.Builder
	for l.at < len(l.s) {
		switch c := l.peekByte(0); {
		case isNameByte(c):
			out.WriteByte(c)
			l.at++
		case l.escapeAt(0):
			out.WriteRune(l.readEscape())
		default:
			return out.String()
		}
	}
	return out.String()
}

// readNumber reads a number and its unit as they stand there.
func (l *cssLexer) readNumber() string {
	start := l.at
	if c := l.peekByte(0); c == '+' || c == '-' {
		l.at++
	}
	l.skipDigits()
	if l.peekByte(0) == '.' && isDigit(l.peekByte(1)) {
		l.at++
		l.skipDigits()
	}
	if c := l.peekByte(0); c == 'e' || c == 'E' {
		sign := 0
		if d := l.peekByte(1); d == '+' || d == '-' {
			sign = 1
		}
		if isDigit(l.peekByte(1 + sign)) {
			l.at += 1 + sign
			l.skipDigits()
		}
	}
	number := l.s[start:l.at]
	switch {
	case l.peekByte(0) == '%':
		l.at++
		return number + "%"
	case l.nameAt(0):
		return number + quoteCSSName(l.readName())
	}
	return number
}

func (l *cssLexer) skipDigits() {
	for isDigit(l.peekByte(0)) {
		l.at++
	}
}

// readString reads a string that ends with a quote.
func (l *cssLexer) readString(quote byte) cssToken {
	var out strings.Builder
	for l.at++; l.at < len(l.s); {
		switch c := l.s[l.at]; {
		case c == quote:
			l.at++
			return cssToken{cssString, out.String()}
		case c == '\n':
			return cssToken{kind: cssBad}
		case c == '\\' && l.peekByte(1) == '\n':
			l.at += 2
		case l.escapeAt(0):
			out.WriteRune(l.readEscape())
		case c == '\\':
			l.at++
		default:
			out.WriteByte(c)
			l.at++
		}
	}
	return cssToken{cssString, out.String()}
}

// readWord reads a name, a function or a URL without quotes.
func (l *cssLexer) readWord() cssToken {
	name := l.readName()
	if l.peekByte(0) != '(' {
		return cssToken{cssName, name}
	}
	l.at++
	if !strings.EqualFold(name, "url") {
		return cssToken{cssFunction, strings.ToLower(name)}
	}
	rest := strings.TrimLeft(l.s[l.at:], " \t\n")
	if strings.HasPrefix(rest, `"`) || strings.HasPrefix(rest, "'") {
		return cssToken{cssFunction, "url"}
	}
	l.at = len(l.s) - len(rest)
	return l.readURL()
}

// readURL reads a URL without quotes and the bracket after it.
func (l *cssLexer) readURL() cssToken {
	var out strings.Builder
	bad := false
	for l.at < len(l.s) {
		switch c := l.s[l.at]; {
		case c == ')':
			l.at++
			if bad {
				return cssToken{kind: cssBad}
			}
			return cssToken{cssURL, strings.TrimRight(out.String(), " ")}
		case isCSSSpace(c):
			for isCSSSpace(l.peekByte(0)) {
				l.at++
			}
			bad = bad || l.at < len(l.s) && l.peekByte(0) != ')'
		case l.escapeAt(0):
			out.WriteRune(l.readEscape())
		default:
			bad = bad || c == '"' || c == '\'' || c == '(' || c == '\\' || c < ' ' || c == 0x7f
			out.WriteByte(c)
			l.at++
		}
	}
	return cssToken{cssURL, out.String()}
}
