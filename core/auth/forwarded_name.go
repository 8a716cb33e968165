package auth

import (
	"encoding/hex"
	"net/mail"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/texts"
)

const (
	// reservedDomain is the domain of the addresses that are made for people whom a proxy has signed in. No mail goes there.
	reservedDomain = "forwarded.invalid"
	// forwardedDomain makes an address of such a person's name.
	forwardedDomain = "@" + reservedDomain
	// maxLabel is how much of a name stands in an address that a hash makes unique.
	maxLabel = 40
)

// forwardedName is a name under which a proxy has signed a person in, and what belongs to it.
type forwardedName struct {
	// key tells the names of different people apart. It is the hash of the name as it is spelled; that of an email address does
	// not depend on case.
	key string
	// former is the email address that the account of the name had in earlier versions, which gave one account to several names.
	former string
	// address is the email address that an account of the name gets unless another account has it; "" if there is none that is valid.
	address string
	// ownAddress is one that no other name has.
	ownAddress string
}

func newForwardedName(name string) forwardedName {
	lower, spelled := strings.ToLower(name), name
	address, isEmail := lower, isEmailAddress(lower)
	if !isEmail {
		address += forwardedDomain
	}
	n := forwardedName{former: texts.Limit(address, maxEmail)}
	if len(address) <= maxEmail && isEmailAddress(address) && !foldsToASCII(name) {
		n.address = address
		if isEmail {
			spelled = lower
		}
	}
	n.key = hex.EncodeToString(secret.HashToken(spelled))
	n.ownAddress = newLabel(lower) + "@" + n.key[:32] + "." + reservedDomain
	return n
}

// namesAccount reports whether a user's account is that of the name: the name has claimed it, or it is of an earlier version and
// no name has claimed it yet.
func (n forwardedName) namesAccount(u User) bool {
	if u.ForwardedAs != "" {
		return u.ForwardedAs == n.key
	}
	return u.Email == n.former && (u.Forwarded || u.Email == n.address)
}

func isEmailAddress(s string) bool {
	a, err := mail.ParseAddress(s)
	return err == nil && a.Address == s && utf8.ValidString(s)
}

// foldsToASCII reports whether a name has a letter outside of ASCII that is one of ASCII in lower case, such as the Kelvin sign: in lower
// case it would be the name of another person.
func foldsToASCII(name string) bool {
	return strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII && unicode.ToLower(r) <= unicode.MaxASCII })
}

// isReserved reports whether a name is an email address that only accounts made here have.
func isReserved(name string) bool {
	at := strings.LastIndexByte(name, '@')
	domain := strings.ToLower(name[at+1:])
	return at >= 0 && (domain == reservedDomain || strings.HasSuffix(domain, "."+reservedDomain) || "@"+domain == linkedDomain)
}

// newLabel returns the letters and digits of a name with single dots between them, which is the local part of an address.
func newLabel(name string) string {
	parts := strings.FieldsFunc(name[:min(len(name), maxLabel)], func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	if len(parts) == 0 {
		return "name"
	}
	return strings.Join(parts, ".")
}
