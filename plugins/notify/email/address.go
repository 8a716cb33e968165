package email

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/patchbay-dev/patchbay/plugins/internal/texts"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// How smtp:// is encrypted.
const (
	tlsRequired      = "required"
	tlsOpportunistic = "opportunistic"
	tlsNone          = "none"
)

const maxRecipients = 50

// server is what an SMTP address says. It is not changed.
type server struct {
	host, port     string
	user, password string
	// implicit is TLS from the start; otherwise policy says what becomes of STARTTLS.
	implicit bool
	policy   string
	to       []*mail.Address
	from     *mail.Address
}

// parseServer reads an SMTP address. No error holds user or password.
func parseServer(raw schema.Secret) (*server, error) {
	if err := schema.CheckUserInfo(raw.Reveal()); err != nil {
		return nil, fmt.Errorf("the SMTP address %w", err)
	}
	u, err := url.Parse(strings.TrimSpace(raw.Reveal()))
	if err != nil {
		return nil, errors.New("the SMTP address cannot be parsed; user and password must be percent-encoded")
	}
	s := &server{host: u.Hostname(), port: u.Port(), policy: tlsOpportunistic}
	switch u.Scheme {
	case "smtp":
	case "smtps":
		s.implicit = true
	default:
		return nil, errors.New("the SMTP address must start with smtp:// or smtps://")
	}
	switch {
	case u.Opaque != "" || s.host == "":
		return nil, errors.New("the SMTP address has no host")
	case u.Path != "" && u.Path != "/":
		return nil, errors.New("the SMTP address must have no path")
	case u.Fragment != "":
		return nil, errors.New("the SMTP address must have no #; in a user or password it is written %23")
	}
	if s.port == "" {
		s.port = map[bool]string{false: "587", true: "465"}[s.implicit]
	}
	if n, err := strconv.ParseUint(s.port, 10, 16); err != nil || n == 0 {
		return nil, errors.New("the SMTP address has no valid port")
	}
	if u.User != nil {
		s.user = u.User.Username()
		s.password, _ = u.User.Password()
	}
	if s.user == "" && s.password != "" {
		return nil, errors.New("the SMTP address has a password and no user")
	}
	return s, s.readOptions(u.RawQuery)
}

// readOptions reads the query. A plus sign is no space: many mail addresses have one.
func (s *server) readOptions(query string) error {
	var to, from []string
	for _, pair := range strings.Split(query, "&") {
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		value, err := url.PathUnescape(value)
		if err != nil {
			return errors.New("the query of the SMTP address is not encoded as it should be")
		}
		switch name {
		case "to":
			to = append(to, value)
		case "from":
			from = append(from, value)
		case "tls":
			if err := s.setPolicy(value); err != nil {
				return err
			}
		default:
			return fmt.Errorf("the SMTP address has an unknown parameter %q; there are to, from and tls", texts.Truncate(oneLine(name), 40))
		}
	}
	return errors.Join(s.setTo(to), s.setFrom(from))
}

func (s *server) setPolicy(value string) error {
	switch {
	case !slices.Contains([]string{tlsRequired, tlsOpportunistic, tlsNone}, value):
		return errors.New("the parameter tls must be required, opportunistic or none")
	case s.implicit && value != tlsRequired:
		return errors.New("smtps:// is always encrypted: the parameter tls can only be required")
	}
	s.policy = value
	return nil
}

func (s *server) setTo(lists []string) error {
	for _, list := range lists {
		if strings.TrimSpace(list) == "" {
			continue
		}
		all, err := mail.ParseAddressList(list)
		if err != nil {
			return errors.New("the parameter to is no list of mail addresses")
		}
		for _, a := range all {
			if !isSafeAddress(a.Address) {
				return errors.New("the parameter to has an address that cannot be used")
			}
			a.Name = plusToSpace(a.Name)
			if !slices.ContainsFunc(s.to, func(b *mail.Address) bool { return strings.EqualFold(a.Address, b.Address) }) {
				s.to = append(s.to, a)
			}
		}
	}
	switch {
	case len(s.to) == 0:
		return errors.New("the SMTP address names no recipient: the parameter to is missing")
	case len(s.to) > maxRecipients:
		return fmt.Errorf("the SMTP address names more than %d recipients", maxRecipients)
	}
	return nil
}

func (s *server) setFrom(values []string) error {
	switch {
	case len(values) == 0 || len(values) == 1 && values[0] == "":
		s.from = &mail.Address{Name: "Patchbay", Address: "patchbay@" + s.mailDomain()}
		return nil
	case len(values) > 1:
		return errors.New("the parameter from stands more than once")
	}
	a, err := mail.ParseAddress(values[0])
	if err != nil || !isSafeAddress(a.Address) {
		return errors.New("the parameter from is no mail address")
	}
	a.Name = plusToSpace(a.Name)
	s.from = a
	return nil
}

// plusToSpace gives a name the spaces that forms write as plus signs.
func plusToSpace(name string) string { return strings.TrimSpace(strings.ReplaceAll(name, "+", " ")) }

// isSafeAddress reports whether an address can be written in a command and a header.
func isSafeAddress(address string) bool {
	at := strings.LastIndexByte(address, '@')
	return at > 0 && at < len(address)-1 && len(address) <= 254 && !strings.ContainsFunc(address, func(r rune) bool {
		return unicode.IsControl(r) || unicode.IsSpace(r) || r == '<' || r == '>'
	})
}

// mailDomain returns the server's name as the right side of a mail address.
func (s *server) mailDomain() string {
	addr, err := netip.ParseAddr(s.host)
	switch {
	case err != nil:
		return s.host
	case addr.Is4():
		return "[" + s.host + "]"
	}
	return "[IPv6:" + s.host + "]"
}

func (s *server) dialAddress() string { return net.JoinHostPort(s.host, s.port) }

// maxWords is how much of a server's own words goes into an error, in bytes.
const maxWords = 300

// cleanReply makes a server's words fit for an error: one line, bounded, without what it was told in confidence.
func (s *server) cleanReply(words string) string {
	if s.password != "" {
		for _, secret := range []string{
			base64.StdEncoding.EncodeToString([]byte("\x00" + s.user + "\x00" + s.password)),
			base64.StdEncoding.EncodeToString([]byte(s.password)), s.password,
		} {
			words = strings.ReplaceAll(words, secret, "(password)")
		}
	}
	return texts.Truncate(oneLine(words), maxWords)
}

// oneLine makes a text one line of printable characters.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r), r == '\u2028', r == '\u2029':
			return ' '
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
	return strings.Join(strings.Fields(s), " ")
}

func isPrintable(s string) bool { return !strings.ContainsFunc(s, unicode.IsControl) }
