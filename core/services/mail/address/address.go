// Package address reads and normalises the addresses of mailboxes, and makes names for new ones.
package address

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/idna"

	"github.com/patchbay-dev/patchbay/core/fault"
)

// The limits of an address, in bytes.
const (
	MaxLocal = 64
	maxHost  = 253
	maxTotal = 254
)

// LocalPattern is the rule of the part before the @, as the API shows it. Two dots in a row are refused besides.
const LocalPattern = `^[a-z0-9](?:[a-z0-9._+-]{0,62}[a-z0-9])?$`

// HostPattern is the rule of one or several labels of a host name, as the API shows it.
const HostPattern = `^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$`

var (
	localRule = regexp.MustCompile(LocalPattern)
	hostRule  = regexp.MustCompile(HostPattern)
)

// Address is the address of a mailbox, normalised: lower case, the host in its ASCII form.
type Address struct{ Local, Host string }

// String returns local@host.
func (a Address) String() string { return a.Local + "@" + a.Host }

// Parse reads local@host. Its error is a fault.InvalidArgument.
func Parse(text string) (Address, error) {
	text = strings.TrimSpace(text)
	at := strings.LastIndexByte(text, '@')
	if at < 0 {
		return Address{}, invalid("address", "An address must have the form local@host.")
	}
	local, err := ParseLocal(text[:at])
	if err != nil {
		return Address{}, fault.As(err).With("field", "address")
	}
	host, err := ParseDomain(text[at+1:])
	if err != nil {
		return Address{}, fault.As(err).With("field", "address")
	}
	return Join(local, host)
}

// Join returns the address of two normalised parts. It fails if the whole is too long.
func Join(local, host string) (Address, error) {
	a := Address{Local: local, Host: host}
	if len(a.String()) > maxTotal {
		return Address{}, invalid("address", "An address can have at most 254 characters.")
	}
	return a, nil
}

// ParseLocal normalises the part before the @: 1 to 64 characters of a-z, 0-9, dot, underscore, plus and hyphen.
func ParseLocal(text string) (string, error) {
	local := strings.ToLower(strings.TrimSpace(text))
	if !localRule.MatchString(local) || strings.Contains(local, "..") {
		return "", invalid("localPart", "The part before the @ must have 1 to 64 of the characters a-z, 0-9, \".\", \"_\", \"+\" and \"-\", begin and end with a letter or digit, and have no two dots in a row.")
	}
	return local, nil
}

// ParseDomain normalises the name of a mail domain, which has at least two labels. Names in other scripts become their ASCII
// form.
func ParseDomain(text string) (string, error) {
	host, err := parseHost(text)
	if err != nil || !strings.Contains(host, ".") {
		return "", invalid("mailDomain", "A mail domain must be a host name of at least two labels and at most 253 characters, such as example.com.")
	}
	return host, nil
}

// ParseSubdomain normalises the labels before a mail domain. An empty text stands for the domain itself.
func ParseSubdomain(text string) (string, error) {
	if strings.TrimSpace(text) == "" {
		return "", nil
	}
	host, err := parseHost(text)
	if err != nil || len(host) > 190 {
		return "", invalid("subdomain", "The subdomain must be one or several labels of a host name, at most 190 characters, such as desk or ops.alpha.")
	}
	return host, nil
}

func parseHost(text string) (string, error) {
	text = strings.TrimSuffix(strings.TrimSpace(text), ".")
	host, err := idna.Lookup.ToASCII(text)
	if err != nil {
		return "", err
	}
	host = strings.ToLower(host)
	// What is not valid may have an ASCII form that is not valid either.
	if again, err := idna.Lookup.ToASCII(host); err != nil || again != host {
		return "", invalid("", "This is not a host name.")
	}
	if len(host) > maxHost || !hostRule.MatchString(host) {
		return "", invalid("", "This is not a host name.")
	}
	return host, nil
}

// IsReserved reports whether a local part is kept for administrators, since others expect to reach them there.
func IsReserved(local string) bool {
	return slices.Contains([]string{"postmaster", "abuse", "hostmaster", "webmaster", "mailer-daemon"}, local)
}

// SplitHost returns the longest of the domains that host is or lies below, and the labels before it. It reports false if there
// is none.
func SplitHost(host string, domains []string) (subdomain, domain string, found bool) {
	for _, d := range slices.SortedFunc(slices.Values(domains), func(a, b string) int { return cmp.Compare(len(b), len(a)) }) {
		if host == d {
			return "", d, true
		}
		if sub, ok := strings.CutSuffix(host, "."+d); ok {
			return sub, d, true
		}
	}
	return "", "", false
}

// Parents returns host and the names above it, the longest first, down to two labels.
func Parents(host string) (names []string) {
	for strings.Contains(host, ".") {
		names = append(names, host)
		_, host, _ = strings.Cut(host, ".")
	}
	return names
}

func invalid(field, message string) error {
	return fault.New(fault.InvalidArgument, "%s", message).With("field", field)
}
