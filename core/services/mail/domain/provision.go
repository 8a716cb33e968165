package domain

import (
	"context"
	"slices"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/sdk/dns"
)

// recordTTL is the time to live of the records, in seconds.
const recordTTL = 3600

// mxPreference is the preference of the MX records.
const mxPreference = "10"

// planRecords returns the records that mail to a domain and to all names below it needs. Without a host that is known there
// are none to name.
func planRecords(name, mxHost string) (out []Record) {
	if mxHost == "" {
		return nil
	}
	state := string(dns.Unknown)
	if dns.IsLocal(name) {
		state = string(dns.Unneeded)
	}
	for _, at := range []string{name, "*." + name} {
		out = append(out, Record{Type: string(dns.MX), Name: at, Value: mxPreference + " " + mxHost, TTL: recordTTL, State: state,
			Found: []string{}})
	}
	return out
}

// provisioner has providers bring mail for domains to us, and does it again where that did not work.
type provisioner struct {
	*journal
	catchAlls *catchAlls
}

// provisionDomain has a provider bring mail for a domain to us, step by step; each may be repeated. The row is stored before each
// step. It changes neither the status nor the operation. Without a provider the domain keeps what it has at the former one.
func (p *provisioner) provisionDomain(ctx context.Context, c Connection, row *Domain, create bool) error {
	if c.DNS == nil {
		row.setRecords(planRecords(row.Name, c.MXHost))
		return nil
	}
	row.Provider, row.Plugin = c.Ref, c.Plugin
	can, err := c.DNS.Describe()
	if err != nil {
		return explainFailure(err)
	}
	if err := p.provisionZone(ctx, c, row, create && can.CreateZones); err != nil {
		return explainFailure(err)
	}
	if can.MailRouting {
		if row.CatchAll && len(row.CatchAllSnapshot) == 0 {
			// It was not at a provider, or nobody knows what that did before. From now on this one decides by rules.
			if err := p.catchAlls.dropCatchAll(ctx, row); err != nil {
				return err
			}
		}
		// Mailboxes that are made from now on get rules.
		row.Routed = true
		if err := p.persistStep(ctx, row, stepRouting); err != nil {
			return err
		}
		row.setRecords(nil)
		err := c.DNS.EnableRouting(ctx, row.ZoneID, row.Name)
		if err != nil || row.KeepsCatchAll() {
			return explainFailure(err)
		}
		if err := p.persistStep(ctx, row, stepRules); err != nil {
			return err
		}
		return explainFailure(p.catchAlls.addMissingRules(ctx, row))
	}
	if err := p.provisionRecords(ctx, c, row); err != nil {
		return explainFailure(err)
	}
	p.checkRecords(ctx, c, row)
	return nil
}

// provisionZone finds or makes the zone of a domain. Only a zone that was made here is ever deleted here.
func (p *provisioner) provisionZone(ctx context.Context, c Connection, row *Domain, create bool) error {
	if err := p.persistStep(ctx, row, stepZone); err != nil {
		return err
	}
	if row.ZoneID != "" {
		return nil
	}
	var zone *dns.Zone
	var created bool
	var err error
	if create {
		zone, created, err = c.DNS.CreateZone(ctx, row.Name)
	} else {
		zone, err = c.DNS.FindZone(ctx, row.Name)
	}
	if err != nil {
		return err
	}
	row.useZone(zone, created)
	return nil
}

// provisionRecords sets the records of a domain, where no other ones are in the way.
func (p *provisioner) provisionRecords(ctx context.Context, c Connection, row *Domain) error {
	planned := planRecords(row.Name, c.MXHost)
	if len(planned) == 0 && !dns.IsLocal(row.Name) {
		return fault.New(fault.Conflict, "The host name for the MX records is not known: set mx_host in the block of the service.")
	}
	row.setRecords(planned)
	if err := p.persistStep(ctx, row, stepRecords); err != nil {
		return err
	}
	for _, set := range recordSets(planned) {
		if err := refuseForeignRecords(ctx, c, row.ZoneID, set); err != nil {
			return err
		}
		if _, err := c.DNS.SetRecords(ctx, row.ZoneID, set); err != nil {
			return err
		}
	}
	return nil
}

// refuseForeignRecords fails if there are other records where ours are to be: mail goes somewhere else at present.
func refuseForeignRecords(ctx context.Context, c Connection, zoneID string, set dns.RecordSet) error {
	present, err := c.DNS.ListRecords(ctx, zoneID, set.Name, set.Type)
	if err != nil {
		return err
	}
	for _, p := range present {
		if len(p.Values) > 0 && !slices.Equal(p.Values, set.Values) {
			return fault.New(fault.Conflict, "%s has other %s records already (%s): delete them at the DNS provider first.", set.Name, set.Type,
				p.Values[0])
		}
	}
	return nil
}

// recordSets returns records as the provider takes them.
func recordSets(records []Record) []dns.RecordSet {
	out := make([]dns.RecordSet, len(records))
	for i, r := range records {
		out[i] = dns.RecordSet{Name: r.Name, Type: dns.Type(r.Type), TTL: r.TTL, Values: []string{r.Value}}
	}
	return out
}

// checkRecords looks up whether the records of a domain can be seen, in the zone that the provider has. What fails leaves them unknown.
func (p *provisioner) checkRecords(ctx context.Context, c Connection, row *Domain) {
	records := row.Records()
	if len(records) == 0 || c.DNS == nil {
		return
	}
	zoneID := row.ZoneID
	if sameProvider(c, *row) != nil {
		zoneID = ""
	}
	if zoneID == "" {
		if zone, err := c.DNS.FindZone(ctx, row.Name); err == nil {
			zoneID = zone.ID
		}
	}
	checks, err := c.DNS.CheckRecords(ctx, zoneID, recordSets(records))
	if err != nil || len(checks) != len(records) {
		p.cfg.Logger.Debug("the records of a mail domain could not be looked up", "domain", row.Name, "error", err)
		return
	}
	for i, check := range checks {
		records[i].State, records[i].Found = string(check.Visibility), []string{}
		for _, o := range check.Observations {
			records[i].Found = append(records[i].Found, o.Values...)
		}
		slices.Sort(records[i].Found)
		records[i].Found = slices.Compact(records[i].Found)
	}
	row.setRecords(records)
	row.CheckedAt = p.cfg.Now().UnixMilli()
}
