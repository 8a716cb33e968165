package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/patchbay-dev/patchbay/sdk/dns"
)

// checkLocal checks a name at localhost, for which nobody is asked.
func (r *dnsRun) checkLocal(ctx context.Context, id string) ([]dns.Check, error) {
	ctx, cancel := r.WithTimeout(ctx)
	defer cancel()
	checks, err := r.clientAt(id).CheckRecords(ctx, "localhost",
		[]dns.RecordSet{{Name: "conformance.localhost", Type: dns.MX, Values: []string{"10 mail.localhost"}}})
	return checks, r.InspectError("check records", err)
}

// localNames checks that names at localhost need no records.
func (r *dnsRun) localNames(ctx context.Context) error {
	checks, err := r.checkLocal(ctx, r.MainID)
	if err != nil {
		return err
	}
	if len(checks) != 1 || checks[0].Visibility != dns.Unneeded || len(checks[0].Observations) > 0 {
		return fmt.Errorf("the check of a name at localhost is %+v", checks)
	}
	ctx, cancel := r.WithTimeout(ctx)
	defer cancel()
	set := dns.RecordSet{Name: "conformance.localhost", Type: dns.A, Values: []string{"192.0.2.1"}}
	out, err := r.clientAt(r.MainID).SetRecords(ctx, "localhost", set)
	if r.InspectError("set records", err) != nil {
		return err
	}
	return wantOutcome(out, dns.NotNeeded)
}

// wantSet checks that the list has a set, or that it does not have it if there are no values.
func (r *dnsRun) wantSet(ctx context.Context, zoneID string, want dns.RecordSet) error {
	sets, err := r.clientAt(r.MainID).ListRecords(ctx, zoneID, want.Name, want.Type)
	if r.InspectError("list records", err) != nil {
		return err
	}
	if len(want.Values) == 0 && len(sets) == 0 {
		return nil
	}
	if len(sets) != 1 {
		return fmt.Errorf("%s %s is listed %d times", want.Name, want.Type, len(sets))
	}
	got, err := sets[0].Normalized()
	if err != nil {
		return err
	}
	slices.Sort(want.Values)
	if got.Name != want.Name || got.Type != want.Type || !slices.Equal(got.Values, want.Values) || want.TTL != 0 && got.TTL != want.TTL {
		return fmt.Errorf("listed is %+v, want %+v", got, want)
	}
	return nil
}

// setRecords makes a record set, looks at it in the list, and checks the outcome.
func (r *dnsRun) setRecords(ctx context.Context, zoneID string, set dns.RecordSet) error {
	out, err := r.clientAt(r.MainID).SetRecords(ctx, zoneID, set)
	if r.InspectError("set records", err) != nil {
		return err
	}
	if r.isManual() {
		return wantOutcome(out, dns.PendingManual)
	}
	return errors.Join(wantOutcome(out, dns.Applied), r.wantSet(ctx, zoneID, set))
}

// deleteRecords deletes a record set, and looks that it is gone.
func (r *dnsRun) deleteRecords(ctx context.Context, zoneID, name string, recordType dns.Type) error {
	out, err := r.clientAt(r.MainID).DeleteRecords(ctx, zoneID, name, recordType)
	if r.InspectError("delete records", err) != nil {
		return err
	}
	if r.isManual() {
		return wantOutcome(out, dns.PendingManual)
	}
	return errors.Join(wantOutcome(out, dns.Applied), r.wantSet(ctx, zoneID, dns.RecordSet{Name: name, Type: recordType}))
}

func wantOutcome(got, want dns.Outcome) error {
	if got != want {
		return fmt.Errorf("the outcome of a change is %q, want %q", got, want)
	}
	return nil
}

// checkRecords makes, repeats, replaces and deletes sets of each type.
func (r *dnsRun) checkRecords(ctx context.Context) error {
	ctx, cancel := r.WithTimeout(ctx)
	defer cancel()
	zone, err := r.existingZone(ctx)
	if err != nil {
		return err
	}
	name := "conformance." + zone.Name
	if r.isManual() {
		name = zone.Name
	}
	long := fmt.Sprintf("v=conformance \"quoted\" \\ back; ä %0300d", 7)
	for _, steps := range [][]dns.RecordSet{
		{{Name: name, Type: dns.A, TTL: 300, Values: []string{"192.0.2.1", "192.0.2.2"}},
			{Name: name, Type: dns.A, TTL: 120, Values: []string{"192.0.2.3"}}},
		{{Name: name, Type: dns.AAAA, TTL: 300, Values: []string{"2001:db8::1"}}},
		{{Name: "a." + name, Type: dns.CNAME, TTL: 300, Values: []string{name}}},
		{{Name: name, Type: dns.MX, TTL: 300, Values: []string{"10 " + name, "20 " + name}},
			{Name: name, Type: dns.MX, TTL: 300, Values: []string{"10 " + name}}},
		{{Name: name, Type: dns.TXT, TTL: 300, Values: []string{"v=spf1 -all", long}}},
		{{Name: "*." + name, Type: dns.TXT, TTL: 300, Values: []string{"a wildcard"}}},
	} {
		for _, set := range steps {
			for range 2 {
				if err := r.setRecords(ctx, zone.ID, set); err != nil {
					return fmt.Errorf("set %s %s: %w", set.Name, set.Type, err)
				}
			}
		}
		defer r.clearRecords(ctx, zone.ID, steps[0].Name, steps[0].Type)
	}
	if err := r.checkOthersUntouched(ctx, zone.ID, name); err != nil {
		return err
	}
	for _, set := range []dns.RecordSet{{Name: "a." + name, Type: dns.CNAME}, {Name: name, Type: dns.MX}, {Name: name, Type: dns.TXT},
		{Name: name, Type: dns.AAAA}, {Name: name, Type: dns.A}} {
		for range 2 {
			if err := r.deleteRecords(ctx, zone.ID, set.Name, set.Type); err != nil {
				return fmt.Errorf("delete %s %s: %w", set.Name, set.Type, err)
			}
		}
	}
	return nil
}

// checkOthersUntouched checks that a set of one type has left the others alone.
func (r *dnsRun) checkOthersUntouched(ctx context.Context, zoneID, name string) error {
	if r.isManual() {
		return nil
	}
	sets, err := r.clientAt(r.MainID).ListRecords(ctx, zoneID, name, "")
	if r.InspectError("list records", err) != nil {
		return err
	}
	if len(sets) != 4 {
		return fmt.Errorf("%d record sets are listed for a name that has four: %+v", len(sets), sets)
	}
	return nil
}

// clearRecords takes away what a check may have left behind.
func (r *dnsRun) clearRecords(ctx context.Context, zoneID, name string, recordType dns.Type) {
	_, _ = r.clientAt(r.MainID).DeleteRecords(ctx, zoneID, name, recordType)
}

// mailRecords sets what a mail host needs, and waits until the name servers say so.
func (r *dnsRun) mailRecords(ctx context.Context) error {
	ctx, cancel := r.WithTimeout(ctx)
	defer cancel()
	zone, err := r.existingZone(ctx)
	if err != nil {
		return err
	}
	host := "mail.conformance." + zone.Name
	if r.isManual() {
		host = zone.Name
	}
	sets := []dns.RecordSet{
		{Name: host, Type: dns.A, TTL: 60, Values: []string{"192.0.2.25"}},
		{Name: host, Type: dns.MX, TTL: 60, Values: []string{"10 " + host}},
		{Name: host, Type: dns.TXT, TTL: 60, Values: []string{"v=spf1 mx -all"}},
	}
	for _, set := range sets {
		if err := r.setRecords(ctx, zone.ID, set); err != nil {
			return fmt.Errorf("set %s %s: %w", set.Name, set.Type, err)
		}
		defer r.clearRecords(ctx, zone.ID, set.Name, set.Type)
	}
	checks, err := r.clientAt(r.MainID).CheckRecords(ctx, zone.ID, sets)
	if r.InspectError("check records", err) != nil {
		return err
	}
	for i, c := range checks {
		if c.Name != sets[i].Name || c.Type != sets[i].Type || c.Visibility == "" || c.Visibility == dns.Unneeded || len(c.Observations) == 0 {
			return fmt.Errorf("the check of %s %s is %+v", sets[i].Name, sets[i].Type, c)
		}
		for _, o := range c.Observations {
			if o.Problem != "" && len(o.Values) > 0 || o.Server == "" {
				return fmt.Errorf("the check of %s %s observed %+v", sets[i].Name, sets[i].Type, o)
			}
		}
	}
	return nil
}
