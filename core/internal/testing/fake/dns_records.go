package fake

import (
	"context"
	"slices"
	"strconv"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/sdk/dns"
)

func sameSet(name string, recordType dns.Type) func(dns.RecordSet) bool {
	return func(s dns.RecordSet) bool { return s.Name == name && s.Type == recordType }
}

// ListRecords implements client.DNS.
func (d *DNS) ListRecords(ctx context.Context, zoneID, name string, recordType dns.Type) (out []dns.RecordSet, err error) {
	err = d.inZone(ctx, zoneID, DNSCall{Method: "ListRecords", Of: name}, func(z *dnsZone) error {
		for _, s := range z.sets {
			if (name == "" || s.Name == name) && (recordType == "" || s.Type == recordType) {
				out = append(out, s)
			}
		}
		return nil
	})
	return out, err
}

// SetRecords implements client.DNS.
func (d *DNS) SetRecords(ctx context.Context, zoneID string, set dns.RecordSet) (out dns.Outcome, err error) {
	err = d.inZone(ctx, zoneID, DNSCall{Method: "SetRecords", Of: set.Name, Set: set}, func(z *dnsZone) error {
		set, err := set.Normalized()
		if err == nil && !dns.InZone(set.Name, z.zone.Name) {
			err = dns.InvalidRequest("the name is not in the zone")
		}
		if err != nil {
			return fault.FromPlugin("dns.fake", err)
		}
		out = d.outcome(set.Name)
		if out == dns.Applied {
			z.sets = append(slices.DeleteFunc(slices.Clone(z.sets), sameSet(set.Name, set.Type)), set)
		}
		return nil
	})
	return out, err
}

// DeleteRecords implements client.DNS.
func (d *DNS) DeleteRecords(ctx context.Context, zoneID, name string, recordType dns.Type) (out dns.Outcome, err error) {
	err = d.inZone(ctx, zoneID, DNSCall{Method: "DeleteRecords", Of: name, Set: dns.RecordSet{Name: name, Type: recordType}},
		func(z *dnsZone) error {
			z.sets = slices.DeleteFunc(slices.Clone(z.sets), sameSet(name, recordType))
			out = d.outcome(name)
			return nil
		})
	return out, err
}

func (d *DNS) outcome(name string) dns.Outcome {
	switch {
	case !d.abilities.Manual:
		return dns.Applied
	case dns.IsLocal(name):
		return dns.NotNeeded
	}
	return dns.PendingManual
}

// CheckRecords implements client.DNS: what was set is visible at once.
func (d *DNS) CheckRecords(ctx context.Context, zoneID string, sets []dns.RecordSet) (out []dns.Check, err error) {
	err = d.inZone(ctx, zoneID, DNSCall{Method: "CheckRecords", Of: zoneID}, func(z *dnsZone) error {
		for _, want := range sets {
			check := dns.Check{Name: want.Name, Type: want.Type, Visibility: dns.Missing,
				Observations: []dns.Observation{{Server: "ns1.example.net"}}}
			i := slices.IndexFunc(z.sets, sameSet(want.Name, want.Type))
			if i >= 0 {
				check.Observations[0].Values, check.Observations[0].TTL = z.sets[i].Values, z.sets[i].TTL
			}
			switch {
			case dns.IsLocal(want.Name):
				check.Visibility, check.Observations = dns.Unneeded, nil
			case i >= 0 && slices.Equal(z.sets[i].Values, want.Values), i < 0 && len(want.Values) == 0:
				check.Visibility = dns.Visible
			case i >= 0:
				check.Visibility = dns.Different
			}
			out = append(out, check)
		}
		return nil
	})
	return out, err
}

// EnableRouting implements client.DNS.
func (d *DNS) EnableRouting(ctx context.Context, zoneID, host string) error {
	return d.inZone(ctx, zoneID, DNSCall{Method: "EnableRouting", Of: host}, func(z *dnsZone) error {
		if !slices.Contains(z.hosts, host) {
			z.hosts = append(z.hosts, host)
			slices.Sort(z.hosts)
		}
		return nil
	})
}

// DisableRouting implements client.DNS.
func (d *DNS) DisableRouting(ctx context.Context, zoneID, host string) error {
	return d.inZone(ctx, zoneID, DNSCall{Method: "DisableRouting", Of: host}, func(z *dnsZone) error {
		z.hosts = slices.DeleteFunc(slices.Clone(z.hosts), func(h string) bool { return h == host })
		return nil
	})
}

// CreateRule implements client.DNS.
func (d *DNS) CreateRule(ctx context.Context, zoneID, address string) (id string, err error) {
	err = d.inZone(ctx, zoneID, DNSCall{Method: "CreateRule", Of: address}, func(z *dnsZone) error {
		for known, a := range z.rules {
			if a == address {
				id = known
				return nil
			}
		}
		d.last++
		id = "rule-" + strconv.Itoa(d.last)
		z.rules[id] = address
		return nil
	})
	return id, err
}

// DeleteRule implements client.DNS.
func (d *DNS) DeleteRule(ctx context.Context, zoneID, ruleID string) error {
	return d.inZone(ctx, zoneID, DNSCall{Method: "DeleteRule", Of: ruleID}, func(z *dnsZone) error {
		delete(z.rules, ruleID)
		return nil
	})
}

// ReadCatchAll implements client.DNS.
func (d *DNS) ReadCatchAll(ctx context.Context, zoneID string) (snapshot []byte, err error) {
	err = d.inZone(ctx, zoneID, DNSCall{Method: "ReadCatchAll", Of: zoneID}, func(z *dnsZone) error {
		snapshot = []byte("snapshot:" + z.catchAll)
		return nil
	})
	return snapshot, err
}

// SetCatchAll implements client.DNS.
func (d *DNS) SetCatchAll(ctx context.Context, zoneID string) error {
	return d.inZone(ctx, zoneID, DNSCall{Method: "SetCatchAll", Of: zoneID}, func(z *dnsZone) error {
		z.catchAll = dnsWorker
		return nil
	})
}

// RestoreCatchAll implements client.DNS.
func (d *DNS) RestoreCatchAll(ctx context.Context, zoneID string, snapshot []byte) error {
	return d.inZone(ctx, zoneID, DNSCall{Method: "RestoreCatchAll", Of: zoneID}, func(z *dnsZone) error {
		const prefix = "snapshot:"
		if len(snapshot) < len(prefix) || string(snapshot[:len(prefix)]) != prefix {
			return fault.FromPlugin("dns.fake", dns.InvalidRequest("the snapshot is not valid"))
		}
		z.catchAll = string(snapshot[len(prefix):])
		return nil
	})
}
