// Package authresult checks who has sent a message: SPF, DKIM and DMARC.
package authresult

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"blitiri.com.ar/go/spf"
	"github.com/emersion/go-msgauth/dkim"

	"github.com/patchbay-dev/patchbay/core/texts"
)

// Value is the outcome of one check, in the words of RFC 8601.
type Value string

// The values.
const (
	None      Value = "none"
	Neutral   Value = "neutral"
	Pass      Value = "pass"
	Fail      Value = "fail"
	SoftFail  Value = "softfail"
	TempError Value = "temperror"
	PermError Value = "permerror"
)

// Check is the outcome of one check.
type Check struct {
	Result Value `json:"result" enum:"none,neutral,pass,fail,softfail,temperror,permerror" example:"pass"`
	// Domain is the domain that was checked: of the envelope or HELO for SPF, of the signature for DKIM, of the From field for
	// DMARC.
	Domain string `json:"domain" example:"example.com"`
	// Reason explains a result that is not pass.
	Reason string `json:"reason" example:""`
}

// Result is the outcome of all checks.
type Result struct {
	SPF  Check   `json:"spf"`
	DKIM []Check `json:"dkim"`
	// DMARC passes if SPF or a signature passes for a domain that belongs with that of the From field.
	DMARC Check `json:"dmarc"`
	// Policy is what the domain of the From field asks for where DMARC fails; "" if it has none.
	Policy string `json:"policy" example:"reject"`
}

// Message is what is checked.
type Message struct {
	// Client is the address of the sending host; nil if it is not known.
	Client net.IP
	// Helo is the name that it gave, EnvelopeFrom the address in MAIL FROM, empty for a bounce.
	Helo, EnvelopeFrom string
	// From is the address in the From field.
	From string
	// Unsigned says that the message is known to have no signature.
	Unsigned bool
	// Open opens the raw bytes, unless Unsigned is true.
	Open func() (io.ReadCloser, error)
}

// Resolver asks the DNS. A *net.Resolver is one.
type Resolver interface {
	LookupTXT(ctx context.Context, name string) ([]string, error)
	LookupMX(ctx context.Context, name string) ([]*net.MX, error)
	LookupIPAddr(ctx context.Context, host string) ([]net.IPAddr, error)
	LookupAddr(ctx context.Context, addr string) (names []string, err error)
}

// NewResolver returns a resolver that asks the DNS server at an address such as 127.0.0.1:53, or those of this machine for "".
func NewResolver(address string) *net.Resolver {
	if address == "" {
		return net.DefaultResolver
	}
	var dialer net.Dialer
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, network, address)
	}}
}

// Checker checks messages. It may be used by several goroutines.
type Checker struct {
	resolver Resolver
	timeout  time.Duration
}

// New returns a checker that takes no longer than timeout for a message. What is not known by then is a TempError.
func New(r Resolver, timeout time.Duration) *Checker { return &Checker{r, timeout} }

// maxSignatures is how many signatures of a message are looked at.
const maxSignatures = 5

// Check checks a message.
func (c *Checker) Check(ctx context.Context, m Message) Result {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	r := Result{SPF: c.checkSPF(ctx, m), DKIM: c.checkDKIM(ctx, m)}
	r.DMARC, r.Policy = c.checkDMARC(ctx, m, r)
	return r
}

// checkSPF checks whether the host may send for the domain of the envelope, or for its own name where the envelope has none.
func (c *Checker) checkSPF(ctx context.Context, m Message) Check {
	sender := m.EnvelopeFrom
	if sender == "" {
		sender = "postmaster@" + m.Helo
	}
	domain := cutDomain(sender)
	switch {
	case m.Client == nil:
		return Check{None, domain, "the address of the sending host is not known"}
	case !isDomain(domain):
		return Check{None, "", "there is no domain to check"}
	}
	result, err := spf.CheckHostWithSender(m.Client, m.Helo, sender, spf.WithContext(ctx), spf.WithResolver(c.resolver))
	check := Check{Value(result), domain, ""}
	if check.Result != Pass && err != nil {
		check.Reason = explainError(err)
	}
	return check
}

// checkDKIM verifies the signatures.
func (c *Checker) checkDKIM(ctx context.Context, m Message) (all []Check) {
	defer func() {
		if p := recover(); p != nil {
			all = []Check{{PermError, "", texts.OneLine(fmt.Sprintf("the signature cannot be read: %v", p), 200)}}
		}
	}()
	if m.Unsigned {
		return nil
	}
	raw, err := m.Open()
	if err != nil {
		return []Check{{TempError, "", "the message could not be read"}}
	}
	defer raw.Close()
	found, err := dkim.VerifyWithOptions(raw, &dkim.VerifyOptions{
		MaxVerifications: maxSignatures,
		LookupTXT:        func(domain string) ([]string, error) { return c.resolver.LookupTXT(ctx, domain) },
	})
	for _, v := range found {
		all = append(all, Check{valueOfDKIM(v.Err), strings.ToLower(texts.OneLine(v.Domain, 253)), explainError(v.Err)})
	}
	if err != nil && !errors.Is(err, dkim.ErrTooManySignatures) {
		all = append(all, Check{PermError, "", explainError(err)})
	}
	return all
}

// valueOfDKIM returns the value for the error of a signature.
func valueOfDKIM(err error) Value {
	switch {
	case err == nil:
		return Pass
	case dkim.IsTempFail(err):
		return TempError
	case dkim.IsPermFail(err):
		return PermError
	}
	return Fail
}

// explainError returns an error as a short text.
func explainError(err error) string {
	if err == nil {
		return ""
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "the DNS did not answer in time"
	}
	return texts.OneLine(strings.TrimPrefix(err.Error(), "dkim: "), 200)
}

// cutDomain returns the domain of an address in lower case.
func cutDomain(address string) string {
	return strings.ToLower(strings.TrimSuffix(address[strings.LastIndexByte(address, '@')+1:], "."))
}

// isDomain reports whether s may be the name of a domain.
func isDomain(s string) bool {
	return s != "" && len(s) <= 253 && strings.Contains(s, ".") && !strings.ContainsAny(s, " []<>@\"\\()") && net.ParseIP(s) == nil
}
