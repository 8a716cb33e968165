package secret

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"strings"
)

// Alphanumeric is the alphabet of access tokens.
const Alphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// Mask shows the first 12 and the last 4 characters of a secret of at least 24, and nothing of a shorter one. The empty
// string stays empty.
func Mask(s string) string {
	r := []rune(s)
	switch {
	case len(r) == 0:
		return ""
	case len(r) < 24:
		return "…"
	}
	return string(r[:12]) + "…" + string(r[len(r)-4:])
}

// HashToken is the SHA-256 under which a token of high entropy is stored and looked up.
func HashToken(s string) []byte {
	sum := sha256.Sum256([]byte(s))
	return sum[:]
}

// Equal compares in a time that depends on neither content.
func Equal(a, b string) bool {
	return subtle.ConstantTimeCompare(HashToken(a), HashToken(b)) == 1
}

// RandomString returns n characters of an ASCII alphabet of 1 to 256, each equally likely; "" for any other alphabet or
// n < 1.
func RandomString(n int, alphabet string) string {
	if n < 1 || len(alphabet) == 0 || len(alphabet) > 256 {
		return ""
	}
	limit := 256 - 256%len(alphabet)
	var out strings.Builder
	buf := make([]byte, n+n/2+8)
	for out.Len() < n {
		_, _ = rand.Read(buf) // never fails
		for _, b := range buf {
			if int(b) < limit && out.Len() < n {
				out.WriteByte(alphabet[int(b)%len(alphabet)])
			}
		}
	}
	return out.String()
}
