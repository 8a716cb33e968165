package fake

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/sdk/dns"
)

// DNSCall is one call of a DNS, also one that failed.
type DNSCall struct {
	// Method is the name of the method.
	Method string
	// Of is the name, the host, the address or the rule that it is about; the zone where there is no other.
	Of  string
	Set dns.RecordSet
	Err error
}

// DNS is a double of client.DNS: zones, records, rules and catch-alls in memory. It is safe for concurrent use.
type DNS struct {
	// Plugin is the name that Pin returns. It is set before the first call.
	Plugin string

	mu        sync.Mutex
	abilities client.DNSAbilities
	zones     map[string]*dnsZone
	made      map[string]int // zones by name
	queued    map[string][]error
	calls     []DNSCall
	last      int
}

// dnsZone is a zone of a DNS. Its id is the name with "zone-" before it, and from the second zone of the name on with its number behind it.
type dnsZone struct {
	zone dns.Zone
	// hidden zones are not shown to the credentials.
	hidden   bool
	sets     []dns.RecordSet
	rules    map[string]string // address by id
	hosts    []string
	catchAll string
}

// dnsWorker is the catch-all that SetCatchAll makes.
const dnsWorker = "worker"

var _ client.DNS = (*DNS)(nil)

// NewDNS makes a double with these abilities. A Manual one accepts every zone and changes nothing.
func NewDNS(abilities client.DNSAbilities) *DNS {
	return &DNS{Plugin: "fake", abilities: abilities, zones: map[string]*dnsZone{}, made: map[string]int{}, queued: map[string][]error{}}
}

// AddZone adds a zone and returns its id. Its catch-all is the text.
func (d *DNS) AddZone(name, catchAll string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.addZone(name, catchAll).zone.ID
}

// HideZone takes the permission for a zone from the credentials, or gives it back: it is there, and neither listed nor found.
func (d *DNS) HideZone(zoneID string, hidden bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.zones[zoneID].hidden = hidden
}

func (d *DNS) addZone(name, catchAll string) *dnsZone {
	id := "zone-" + name
	if d.made[name]++; d.made[name] > 1 {
		id += "-" + strconv.Itoa(d.made[name])
	}
	z := &dnsZone{
		zone:     dns.Zone{ID: id, Name: name, Status: "active", NameServers: []string{"ns1.example.net", "ns2.example.net"}},
		rules:    map[string]string{},
		catchAll: catchAll,
	}
	d.zones[z.zone.ID] = z
	return z
}

// Fail appends what the next calls of a method end with, one each; nil lets one pass.
func (d *DNS) Fail(method string, errs ...error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.queued[method] = append(d.queued[method], errs...)
}

// Calls returns the calls so far, in order.
func (d *DNS) Calls() []DNSCall {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.calls)
}

// State returns zones, records, hosts, rules and catch-alls as one text, to compare before and after.
func (d *DNS) State() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := ""
	for _, id := range d.zoneIDs() {
		z := d.zones[id]
		var rules []string
		for _, address := range z.rules {
			rules = append(rules, address)
		}
		slices.Sort(rules)
		out += fmt.Sprintf("%s sets=%v hosts=%v rules=%v catch-all=%q\n", z.zone.Name, z.sets, z.hosts, rules, z.catchAll)
	}
	return out
}

func (d *DNS) zoneIDs() (ids []string) {
	for id := range d.zones {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// DNSError makes an error such as a vendor's answer of an HTTP status leads to; after is when to try again. Status 0 is a
// vendor that is down.
func DNSError(status int, after time.Duration) error {
	code := codes.Unavailable
	switch status {
	case 401:
		code = codes.Unauthenticated
	case 403:
		code = codes.PermissionDenied
	case 404:
		code = codes.NotFound
	case 409:
		code = codes.AlreadyExists
	case 429:
		code = codes.ResourceExhausted
	}
	e := upstreamError(code, status, "dns.example", "the vendor answered with status "+strconv.Itoa(status))
	e.RetryAfter = after
	return fault.FromPlugin("dns.fake", e)
}

// beginCall records a call and returns the error that was asked for. The caller holds the lock.
func (d *DNS) beginCall(ctx context.Context, c DNSCall) error {
	if ctx.Err() != nil {
		return fault.FromPlugin("dns.fake", ctx.Err())
	}
	if q := d.queued[c.Method]; len(q) > 0 {
		c.Err, d.queued[c.Method] = q[0], q[1:]
	}
	d.calls = append(d.calls, c)
	return c.Err
}

// inZone records a call and then calls change with its zone. A Manual double has a zone for every id.
func (d *DNS) inZone(ctx context.Context, zoneID string, c DNSCall, change func(*dnsZone) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.beginCall(ctx, c); err != nil {
		return err
	}
	z := d.zones[zoneID]
	if d.abilities.Manual {
		z = &dnsZone{zone: dns.Zone{ID: zoneID, Name: zoneID}}
	}
	if z == nil || z.hidden {
		return fault.FromPlugin("dns.fake", dns.NoZone(zoneID))
	}
	return change(z)
}

// Describe implements client.DNS.
func (d *DNS) Describe() (client.DNSAbilities, error) { return d.abilities, nil }

// Pin implements client.DNS.
func (d *DNS) Pin() (pinned client.DNS, plugin string) { return d, d.Plugin }

// ListZones implements client.DNS.
func (d *DNS) ListZones(ctx context.Context) (zones []dns.Zone, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.beginCall(ctx, DNSCall{Method: "ListZones"}); err != nil {
		return nil, err
	}
	return d.listZones(), nil
}

func (d *DNS) listZones() (zones []dns.Zone) {
	for _, id := range d.zoneIDs() {
		if z := d.zones[id]; !z.hidden {
			zones = append(zones, z.zone)
		}
	}
	return zones
}

// FindZone implements client.DNS.
func (d *DNS) FindZone(ctx context.Context, name string) (*dns.Zone, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.beginCall(ctx, DNSCall{Method: "FindZone", Of: name}); err != nil {
		return nil, err
	}
	if d.abilities.Manual {
		return &dns.Zone{ID: name, Name: name}, nil
	}
	zone, err := dns.LongestZone(d.listZones(), name)
	if err != nil {
		return nil, fault.FromPlugin("dns.fake", err)
	}
	return zone, nil
}

// CreateZone implements client.DNS.
func (d *DNS) CreateZone(ctx context.Context, name string) (*dns.Zone, bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.beginCall(ctx, DNSCall{Method: "CreateZone", Of: name}); err != nil {
		return nil, false, err
	}
	hidden := false
	for _, z := range d.zones {
		if z.zone.Name == name && !z.hidden {
			return &z.zone, false, nil
		}
		hidden = hidden || z.zone.Name == name
	}
	if hidden {
		return nil, false, fault.FromPlugin("dns.fake", dns.Conflict("there is a zone %s already", name))
	}
	return &d.addZone(name, "").zone, true, nil
}

// DeleteZone implements client.DNS.
func (d *DNS) DeleteZone(ctx context.Context, zoneID string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.beginCall(ctx, DNSCall{Method: "DeleteZone", Of: zoneID}); err != nil {
		return err
	}
	if z := d.zones[zoneID]; z != nil && z.hidden {
		return fault.FromPlugin("dns.fake", dns.NoZone(zoneID))
	}
	delete(d.zones, zoneID)
	return nil
}
