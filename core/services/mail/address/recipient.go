package address

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/patchbay-dev/patchbay/core/fault"
)

// Postmaster is the one address without a domain that there is.
const Postmaster = "postmaster"

// special are the ASCII characters besides letters, digits and dots that a local part may have without quotes.
const special = "!#$%&'*+-/=?^_`{|}~"

// ParseRecipient reads an address to which mail comes, as RFC 5321 and RFC 6531 allow it: more than Parse, which bounds the names that
// people choose. A local part has quotes in the result only where it needs them. Its error is a fault.InvalidArgument.
func ParseRecipient(text string) (Address, error) {
	text = strings.TrimSpace(text)
	at := strings.LastIndexByte(text, '@')
	if at < 0 {
		return Address{}, invalid("address", "An address must have the form local@host.")
	}
	local, ok := parseAnyLocal(text[:at])
	if !ok {
		return Address{}, invalid("address", "The part before the @ is not valid.")
	}
	host, err := ParseDomain(text[at+1:])
	if err != nil {
		return Address{}, fault.As(err).With("field", "address")
	}
	return Join(local, host)
}

// Normalise returns an address as it is stored. One to which no mail comes is in lower case.
func Normalise(text string) string {
	if a, err := ParseRecipient(text); err == nil {
		return a.String()
	}
	return strings.ToLower(strings.TrimSpace(text))
}

// parseAnyLocal normalises a local part: lower case, composed, with quotes if it needs them.
func parseAnyLocal(text string) (string, bool) {
	quoted := strings.HasPrefix(text, `"`)
	if quoted {
		var ok bool
		if text, ok = unquoteLocal(text); !ok {
			return "", false
		}
	}
	local := lowerLocal(text)
	if !isPrintable(text) || lowerLocal(local) != local || !isPrintable(local) || len(local) > MaxLocal {
		return "", false
	}
	if isDotString(local) {
		return local, true
	}
	return QuoteLocal(local), quoted
}

// lowerLocal returns a text composed and in lower case.
func lowerLocal(text string) string { return norm.NFC.String(strings.ToLower(norm.NFC.String(text))) }

// unquoteLocal returns what stands between quotes.
func unquoteLocal(text string) (string, bool) {
	var out strings.Builder
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '"':
			return out.String(), i == len(text)-1
		case '\\':
			if i++; i == len(text) {
				return "", false
			}
		}
		out.WriteByte(text[i])
	}
	return "", false
}

// QuoteLocal returns a local part in quotes.
func QuoteLocal(local string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(local) + `"`
}

// isPrintable reports whether a text is UTF-8 without control characters, and not more than spaces.
func isPrintable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsRune(text, utf8.RuneError) && strings.TrimSpace(text) != "" &&
		strings.IndexFunc(text, func(r rune) bool { return r != ' ' && !unicode.IsGraphic(r) }) < 0
}

// isDotString reports whether a local part needs no quotes.
func isDotString(local string) bool {
	for word := range strings.SplitSeq(local, ".") {
		if word == "" || strings.IndexFunc(word, func(r rune) bool {
			if r >= utf8.RuneSelf {
				return unicode.IsSpace(r)
			}
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(special, r)
		}) >= 0 {
			return false
		}
	}
	return true
}

// WithoutTag returns name@host for name+tag@host. It reports false for an address without a tag.
func (a Address) WithoutTag() (Address, bool) {
	name, _, tagged := strings.Cut(a.Local, "+")
	return Address{name, a.Host}, tagged && name != "" && !strings.HasPrefix(name, `"`)
}
