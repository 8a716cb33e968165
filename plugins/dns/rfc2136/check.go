package rfc2136

import (
	"context"

	"github.com/patchbay-dev/patchbay/sdk/dns"
)

// checkConflict finds a CNAME beside other records. A server that takes updates ignores such an addition without an error
// (RFC 2136, 3.4.2.2).
func (p *provider) checkConflict(ctx context.Context, zoneID string, set dns.RecordSet) error {
	others := []dns.Type{dns.CNAME}
	if set.Type == dns.CNAME {
		if set.Name == zoneID {
			return dns.Conflict("%s is the name of a zone and cannot be a CNAME", set.Name)
		}
		others = []dns.Type{dns.A, dns.AAAA, dns.MX, dns.TXT}
	}
	for _, t := range others {
		found, err := p.queryRecords(ctx, set.Name, t)
		if err != nil {
			return err
		}
		for _, rr := range found {
			if dns.NormalizeName(rr.Header().Name) == set.Name && t != set.Type {
				return dns.Conflict("%s has a record of the type %s, which excludes a %s", set.Name, t, set.Type)
			}
		}
	}
	return nil
}

// checkMailHosts refuses an MX record whose host lies in the zone and has no address record. Servers differ there: some
// refuse the update without saying why, others accept it, and mail then has nowhere to go.
func (p *provider) checkMailHosts(ctx context.Context, zoneID string, set dns.RecordSet) error {
	if set.Type != dns.MX {
		return nil
	}
	for _, value := range set.Values {
		_, host, err := dns.SplitMX(value)
		if err != nil {
			return err
		}
		if zone, err := p.FindZone(ctx, host); err != nil || zone.ID != zoneID {
			continue
		}
		known, err := p.hasAddress(ctx, host)
		if err != nil {
			return err
		}
		if !known {
			return dns.InvalidRequest("the host %s of the MX record has no address record; set that one first", host)
		}
	}
	return nil
}

// hasAddress reports whether a host has an address record. It is true for a host that another server answers for.
func (p *provider) hasAddress(ctx context.Context, host string) (bool, error) {
	for _, t := range []dns.Type{dns.A, dns.AAAA} {
		answer, err := p.askServer(ctx, host, t)
		if err != nil || len(answer.Answer) > 0 || !answer.Authoritative {
			return true, err
		}
	}
	return false, nil
}
