package httpd

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/patchbay-dev/patchbay/core/fault"
)

// legible refuses a query with a NUL or with bytes that are not UTF-8: no filter holds them, and not every database takes
// them as text.
func legible(u *url.URL) error {
	query := u.RawQuery
	if strings.Contains(query, "%") {
		// What cannot be decoded is left to the handler, which does not see it either.
		for pair := range strings.SplitSeq(query, "&") {
			if text, err := url.QueryUnescape(pair); err == nil && !isText(text) {
				return errIllegible()
			}
		}
	} else if !isText(query) {
		return errIllegible()
	}
	return nil
}

// exists refuses a path of that sort: what it names does not exist.
func exists(u *url.URL) error {
	if isText(u.Path) {
		return nil
	}
	return fault.New(fault.NotFound, "There is nothing at this address.")
}

func isText(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }

func errIllegible() error {
	return fault.New(fault.BadRequest, "The query holds a NUL character, or is not valid UTF-8.")
}
