package pages

import (
	"net"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/notify/channels"
)

// The ways in which a connection to an SMTP server is encrypted, as the form has them.
const (
	smtpOpportunistic = "opportunistic"
	smtpStartTLS      = "required"
	smtpTLS           = "smtps"
	smtpPlain         = "none"
)

// maskedPart is how the settings write a password that they do not show.
const maskedPart = "******"

// smtpFields are the parts of an SMTP URL, as people fill them in.
type smtpFields struct {
	Host, Port, Security, User, Password, From, To string
}

// fieldMembers are the fields by their names in the form.
func (s *smtpFields) fieldMembers() map[string]*string {
	return map[string]*string{"host": &s.Host, "port": &s.Port, "security": &s.Security, "user": &s.User, "password": &s.Password,
		"from": &s.From, "to": &s.To}
}

// parseSMTP returns the parts of an SMTP URL with a masked password, which is left out. It reports whether there is one.
func parseSMTP(masked string) (s smtpFields, hasPassword bool) {
	s.Security = smtpOpportunistic
	u, err := url.Parse(masked)
	if err != nil || u.Host == "" {
		return s, false
	}
	s.Host, s.Port, s.User = u.Hostname(), u.Port(), u.User.Username()
	_, hasPassword = u.User.Password()
	if u.Scheme == "smtps" {
		s.Security = smtpTLS
	}
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		name, value, _ := strings.Cut(pair, "=")
		value, err := url.PathUnescape(value)
		switch {
		case err != nil:
		case name == "to":
			s.To = strings.TrimPrefix(s.To+", "+value, ", ")
		case name == "from":
			s.From = value
		case name == "tls" && u.Scheme == "smtp":
			s.Security = value
		}
	}
	return s, hasPassword
}

// composeSMTP returns the URL of the parts. An empty password of a user who has one stays as it is stored.
func (s *smtpFields) composeSMTP(stored string) (string, error) {
	port, err := strconv.ParseUint(s.Port, 10, 16)
	switch {
	case s.Host == "":
		return "", smtpError("host", "host_empty", "The name of the server is missing.")
	case strings.ContainsAny(s.Host, "/@?# \t[]"):
		return "", smtpError("host", "host_invalid", "The server is a name or an address alone, such as smtp.example.com.")
	case s.Port != "" && (err != nil || port == 0):
		return "", smtpError("port", "port_invalid", "The port must be a number from 1 to 65535.")
	case s.User == "" && s.Password != "":
		return "", smtpError("user", "user_empty", "A password needs a user.")
	case s.To == "":
		return "", smtpError("to", "to_empty", "At least one recipient is needed.")
	}
	u := url.URL{Scheme: "smtp", Host: s.Host, Path: "/"}
	if strings.Contains(s.Host, ":") {
		u.Host = "[" + s.Host + "]"
	}
	if s.Port != "" {
		u.Host = net.JoinHostPort(s.Host, s.Port)
	}
	query := "to=" + url.PathEscape(s.To)
	if s.From != "" {
		query += "&from=" + url.PathEscape(s.From)
	}
	switch s.Security {
	case smtpTLS:
		u.Scheme = "smtps"
	case smtpStartTLS, smtpPlain:
		query += "&tls=" + s.Security
	}
	u.RawQuery = strings.ReplaceAll(query, "+", "%2B")
	was, hadPassword := parseSMTP(stored)
	switch {
	case s.Password != "":
		u.User = url.UserPassword(s.User, s.Password)
	case s.User != "" && hadPassword && was.User == s.User:
		u.User = url.User(s.User)
		return strings.Replace(u.String(), "@", ":"+maskedPart+"@", 1), nil
	case s.User != "":
		u.User = url.User(s.User)
	}
	return u.String(), nil
}

// sentSMTP returns the SMTP URL of a form, or nil if it was left empty and nothing is stored.
func (p notifyPages) sentSMTP(c *gin.Context, field, hidden func(name string) *string) (*string, error) {
	n, err := p.settingsView(c.Request.Context())
	if err != nil {
		return nil, err
	}
	var s smtpFields
	empty := true
	for name, to := range s.fieldMembers() {
		read := field
		if name == "password" {
			read = hidden
		}
		if sent := read(name); sent != nil {
			*to = strings.TrimSpace(*sent)
		}
		if strings.ContainsFunc(*to, unicode.IsControl) {
			return nil, smtpError(name, "control", "The value has characters that are not allowed here.")
		}
		empty = empty && (*to == "" || name == "security")
	}
	if empty && !n.Settings.Email.SMTPURLConfigured {
		return nil, nil
	}
	address, err := s.composeSMTP(n.Settings.Email.SMTPURL)
	return &address, err
}

// smtpError is the refusal of one field of the form.
func smtpError(field, reason, text string) error {
	return fault.New(fault.InvalidArgument, "%s", text).With("field", channels.RoleEmail+"."+field).With("reason", "smtp_"+reason)
}

// smtpSettings are the fields of the form for a stored URL, which may be empty.
func smtpSettings(set channels.EmailSettings) []setting {
	s, hasPassword := parseSMTP(set.SMTPURL)
	return []setting{
		{Member: "host", Kind: "text", Value: s.Host}, {Member: "port", Kind: "number", Value: s.Port},
		{Member: "security", Value: s.Security, Options: []string{smtpOpportunistic, smtpStartTLS, smtpTLS, smtpPlain}},
		{Member: "user", Kind: "text", Value: s.User}, {Member: "password", Kind: "password", Secret: true, Set: hasPassword},
		{Member: "from", Kind: "text", Value: s.From}, {Member: "to", Kind: "text", Value: s.To},
	}
}
