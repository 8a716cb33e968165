package authresult

import (
	"context"
	"errors"

	"github.com/emersion/go-msgauth/dmarc"
	"golang.org/x/net/publicsuffix"
)

// checkDMARC checks whether SPF or DKIM has passed for the domain of the From field. It returns the domain's policy.
func (c *Checker) checkDMARC(ctx context.Context, m Message, r Result) (check Check, policy string) {
	domain := cutDomain(m.From)
	if m.From == "" || !isDomain(domain) {
		return Check{None, "", "there is no domain to check"}, ""
	}
	record, of, err := c.findPolicy(ctx, domain)
	switch {
	case errors.Is(err, dmarc.ErrNoPolicy):
		return Check{None, domain, "the domain has no policy"}, ""
	case err != nil && (dmarc.IsTempFail(err) || ctx.Err() != nil):
		return Check{TempError, domain, "the DNS did not answer"}, ""
	case err != nil:
		return Check{PermError, domain, explainError(err)}, ""
	}
	policy = string(record.Policy)
	if of != domain && record.SubdomainPolicy != "" {
		policy = string(record.SubdomainPolicy)
	}
	unsure := r.SPF.Result == TempError
	if r.SPF.Result == Pass && isAligned(r.SPF.Domain, domain, record.SPFAlignment) {
		return Check{Pass, domain, ""}, policy
	}
	for _, s := range r.DKIM {
		if s.Result == Pass && isAligned(s.Domain, domain, record.DKIMAlignment) {
			return Check{Pass, domain, ""}, policy
		}
		unsure = unsure || s.Result == TempError
	}
	if unsure {
		return Check{TempError, domain, "a check that it needs could not be made"}, policy
	}
	return Check{Fail, domain, "neither SPF nor a signature has passed for the domain"}, policy
}

// findPolicy returns the policy of a domain, or that of the organisation that it belongs to, and whose it is.
func (c *Checker) findPolicy(ctx context.Context, domain string) (*dmarc.Record, string, error) {
	options := &dmarc.LookupOptions{LookupTXT: func(name string) ([]string, error) { return c.resolver.LookupTXT(ctx, name) }}
	record, err := dmarc.LookupWithOptions(domain, options)
	organisation := findOrganisation(domain)
	if errors.Is(err, dmarc.ErrNoPolicy) && organisation != domain {
		record, err = dmarc.LookupWithOptions(organisation, options)
		return record, organisation, err
	}
	return record, domain, err
}

// isAligned reports whether two domains are the same or, unless the mode is strict, belong to the same organisation.
func isAligned(a, b string, mode dmarc.AlignmentMode) bool {
	return a == b || mode != dmarc.AlignmentStrict && findOrganisation(a) == findOrganisation(b)
}

// findOrganisation returns the domain that an organisation has registered, for a domain at or below it.
func findOrganisation(domain string) string {
	if registered, err := publicsuffix.EffectiveTLDPlusOne(domain); err == nil {
		return registered
	}
	return domain
}
