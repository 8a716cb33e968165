package httpd

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/patchbay-dev/patchbay/core/fault"
)

// checkQueryText returns an error for a query with a NUL or with bytes that are not UTF-8. No filter matches them,
// and not every database accepts them as text.
func checkQueryText(u *url.URL) error {
	query := u.RawQuery
	if strings.Contains(query, "%") {
		// What cannot be decoded is left to the handler, which does not see it either.
		for pair := range strings.SplitSeq(query, "&") {
			if text, err := url.QueryUnescape(pair); err == nil && !isText(text) {
				return errInvalidText()
			}
		}
	} else if !isText(query) {
		return errInvalidText()
	}
	return nil
}

// checkPathText returns fault.NotFound for a path with a NUL or with bytes that are not UTF-8.
func checkPathText(u *url.URL) error {
	if isText(u.Path) {
		return nil
	}
	return fault.New(fault.NotFound, "There is nothing at this address.")
}

// isText reports whether s is valid UTF-8 without NUL.
func isText(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }

func errInvalidText() error {
	return fault.New(fault.BadRequest, "The query contains a NUL character or is not valid UTF-8.")
}
