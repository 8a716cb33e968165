package rfc822

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// quoteCSSName returns a name with the escapes that it needs.
func quoteCSSName(name string) string {
	var out strings.Builder
	for i, r := range name {
		switch {
		case r >= utf8.RuneSelf, r == '_', r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r == '-' && name != "-",
			r >= '0' && r <= '9' && i > 0 && (i > 1 || name[0] != '-'):
			out.WriteRune(r)
		default:
			fmt.Fprintf(&out, `\%x `, r)
		}
	}
	return out.String()
}

// quoteCSSString returns a string in quotes. What could end it, or the element around it, is escaped.
func quoteCSSString(s string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, r := range s {
		if r < ' ' || strings.ContainsRune(`"\<>&`, r) || r == 0x7f {
			fmt.Fprintf(&out, `\%x `, r)
		} else {
			out.WriteRune(r)
		}
	}
	out.WriteByte('"')
	return out.String()
}

// writeTo appends the token as it is written.
func (t cssToken) writeTo(out *strings.Builder) {
	switch t.kind {
	case cssName:
		out.WriteString(quoteCSSName(t.text))
	case cssFunction:
		out.WriteString(quoteCSSName(t.text) + "(")
	case cssAt:
		out.WriteString("@" + quoteCSSName(t.text))
	case cssHash:
		out.WriteString("#" + quoteCSSHash(t.text))
	case cssString:
		out.WriteString(quoteCSSString(t.text))
	case cssMark:
		if t.text == "/" && !strings.HasSuffix(out.String(), " ") {
			// Behind a space it is not of the end of an element, and before one it begins no comment.
			out.WriteByte(' ')
		}
		out.WriteString(t.text)
		if t.text == "/" {
			out.WriteByte(' ')
		}
	case cssSpace:
		if !strings.HasSuffix(out.String(), " ") {
			out.WriteByte(' ')
		}
	case cssNumber:
		out.WriteString(t.text)
	case cssEnd, cssURL, cssBad:
	}
}

// quoteCSSHash is quoteCSSName for what stands behind #, which may begin with a digit.
func quoteCSSHash(name string) string {
	return strings.TrimPrefix(quoteCSSName("_"+name), "_")
}
