package schema

import (
	"errors"
	"strings"
)

// errUserInfo says what is wrong without any of the text.
var errUserInfo = errors.New("holds a user or password with characters that an address cannot have: percent-encode the password, such as %40 for @, %2F for /, %3A for : and %23 for #")

// CheckUserInfo returns an error if a text has the shape of an address, such as postgres://user:password@host/name, whose password is not
// percent-encoded. Parsers and dialers would take a part of such a password for a host, a port or a path, and say it in their errors. The
// error holds nothing of the text. Any other text is right.
func CheckUserInfo(text string) error {
	scheme, rest, ok := strings.Cut(strings.TrimSpace(text), "://")
	if !ok || !isScheme(scheme) || !strings.Contains(rest, "@") {
		return nil
	}
	authority, after := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority, after = rest[:i], rest[i:]
	}
	if at := strings.LastIndex(authority, "@"); at >= 0 {
		user, password, _ := strings.Cut(authority[:at], ":")
		if !isEncoded(user) || !isEncoded(password) {
			return errUserInfo
		}
		return nil
	}
	// There is an @ behind the authority. What looks like a host and a port may be a user and the beginning of a password.
	host, port, ok := cutPort(authority)
	if !ok {
		return nil
	}
	if !isDigits(port) {
		return errUserInfo
	}
	path, _, _ := strings.Cut(strings.TrimPrefix(after, "/"), "?")
	path, _, _ = strings.Cut(path, "#")
	web := strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")
	if !web && strings.HasPrefix(after, "/") && host != "" && strings.Index(path, "@") > 0 {
		return errUserInfo
	}
	return nil
}

// cutPort splits an authority without a user at the colon before its port. ok is false if it has none.
func cutPort(authority string) (host, port string, ok bool) {
	end := strings.LastIndex(authority, "]")
	i := strings.Index(authority[end+1:], ":")
	if i < 0 {
		return authority, "", false
	}
	return authority[:end+1+i], authority[end+1+i+1:], true
}

func isScheme(text string) bool {
	for i, r := range text {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || (r < '0' || r > '9') && r != '+' && r != '-' && r != '.') {
			return false
		}
	}
	return text != ""
}

func isDigits(text string) bool {
	return strings.Trim(text, "0123456789") == ""
}

// isEncoded reports whether a text may stand in the user of an address (RFC 3986, 3.2.1).
func isEncoded(text string) bool {
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '%':
			if i+2 >= len(text) || !isHex(text[i+1]) || !isHex(text[i+2]) {
				return false
			}
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~!$&'()*+,;=:", c) >= 0:
		default:
			return false
		}
	}
	return true
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}
