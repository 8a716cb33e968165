package secret

import (
	"regexp"
	"strings"
)

// tokenMark and keyMark begin what this product hands out: access tokens and API keys.
const (
	tokenMark = "th-"
	keyMark   = "svc_ak_"
)

// ownCredentials matches access tokens and API keys as a whole.
var ownCredentials = regexp.MustCompile(`\b(?:` + tokenMark + `[A-Za-z0-9]{4}-[A-Za-z0-9]{24}|` + keyMark + `[A-Za-z0-9_-]{20,})`)

// minRandom is how many letters and digits in a row look like a credential when lower case, upper case and digits are
// mixed in them. Identifiers (UUID, ULID, hexadecimal) have letters of one case.
const minRandom = 20

// LooksLikeCredential reports whether s holds what may be a token or key: one of this product's, or a long run of mixed
// letters and digits as others hand them out.
func LooksLikeCredential(s string) bool {
	if strings.Contains(s, keyMark) || ownCredentials.MatchString(s) {
		return true
	}
	for run := range strings.FieldsFuncSeq(s, func(r rune) bool { return !strings.ContainsRune(Alphanumeric, r) }) {
		if len(run) >= minRandom && strings.ContainsAny(run, "0123456789") && strings.ToLower(run) != run && strings.ToUpper(run) != run {
			return true
		}
	}
	return false
}
