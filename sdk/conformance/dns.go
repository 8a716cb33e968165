package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/dns"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// DNSFault is something that a vendor does wrong.
type DNSFault string

// The faults.
const (
	// DNSDown: no request reaches the vendor.
	DNSDown DNSFault = "down"
	// DNSGarbage: every answer is one that cannot be read, such as one that is not JSON.
	DNSGarbage DNSFault = "garbage"
	// DNSLimited: the vendor limits requests (429).
	DNSLimited DNSFault = "limited"
	// DNSDenied: the vendor refuses the credentials.
	DNSDenied DNSFault = "denied"
	// DNSSlow: the vendor does not answer within 10 seconds.
	DNSSlow DNSFault = "slow"
)

// DNSConfig tells how to use a plugin of the kind dns.
type DNSConfig struct {
	// JSON is a config block that the plugin accepts; empty means one without members. Invalid are blocks that it must
	// refuse, beyond those that the suite makes from the schema.
	JSON    string
	Invalid []string
	// Zone is the name of a zone that is there, whose records below "conformance" the suite may change; it takes away what
	// it made. Empty leaves those checks out. With MAIL_ROUTING, its catch-all is set and restored.
	Zone string
	// NewZone is the name of a zone that is not there, for CREATE_ZONES: it is made and deleted. Empty leaves that out.
	NewZone string
	// Missing is a name that lies in no zone; empty leaves that check out.
	Missing string
	// Fault has the vendor do something wrong until the function that it returns is called; nil is returned for a fault
	// that cannot be had. Nil leaves those checks out.
	Fault func(DNSFault) (undo func())
	// Secrets are credentials of the configuration that must not be given away.
	Secrets []string
	// BaseDir is the directory of the configuration file.
	BaseDir string
	// Logs returns what the plugin has logged so far; nil if that cannot be known.
	Logs func() string
	// Timeout bounds each call (30 s). Prompt bounds the end of a call whose context has ended, and the removal of an
	// instance that serves no call (5 s).
	Timeout, Prompt time.Duration
}

type dnsRun struct {
	*base
	cfg DNSConfig
}

// DNS runs all checks of the dns kind over a connection to a plugin. The plugin is stopped at the end; its process is the
// caller's to end.
func DNS(ctx context.Context, conn grpc.ClientConnInterface, cfg DNSConfig) Report {
	b, done := newBase(conn, dns.Kind, dns.Service, common{
		json: cfg.JSON, invalid: cfg.Invalid, baseDir: cfg.BaseDir, logs: cfg.Logs, timeout: cfg.Timeout, prompt: cfg.Prompt, secrets: cfg.Secrets,
	})
	defer done()
	r := &dnsRun{base: b, cfg: cfg}
	b.answers = func(ctx context.Context, id string) bool {
		_, err := r.checkLocal(ctx, id)
		return isPresent(err)
	}
	return r.runSuite(ctx, suite{checks: []check{
		{name: "unknown-instance", do: r.unknownInstance},
		{name: "bad-request", do: r.badRequest},
		{name: "optional-calls", do: r.optionalCalls},
		{name: "zones", do: r.checkZones},
		{name: "create-zone", do: r.createZone},
		{name: "local-names", do: r.localNames},
		{name: "records", do: r.checkRecords},
		{name: "mail-records", do: r.mailRecords},
		{name: "rules", do: r.checkRules},
		{name: "catch-all", do: r.catchAll},
		{name: "rollback", do: r.checkRollback},
		{name: "down", do: r.checkDown},
		{name: "garbage", do: r.checkGarbage},
		{name: "limited", do: r.checkRateLimit},
		{name: "denied", do: r.checkDenied},
		{name: "cancel", do: r.checkCancel},
		{name: "deadline", do: r.checkDeadline},
	}})
}

func (r *dnsRun) clientAt(id string) *dns.Client { return dns.NewClient(r.conn, id) }

// findZone looks a zone up, and returns the error alone.
func (r *dnsRun) findZone(ctx context.Context, id, name string) error {
	ctx, cancel := r.withTimeout(ctx)
	defer cancel()
	_, err := r.clientAt(id).FindZone(ctx, name)
	return r.inspectError("find zone", err)
}

func (r *dnsRun) isManual() bool { return r.hasCapability(dns.CapManual) }

// existingZone returns the zone that is there.
func (r *dnsRun) existingZone(ctx context.Context) (*dns.Zone, error) {
	if r.cfg.Zone == "" {
		return nil, skip("no zone is known")
	}
	zone, err := r.clientAt(r.main).FindZone(ctx, r.cfg.Zone)
	if r.inspectError("find zone", err) != nil {
		return nil, err
	}
	if zone.Name != r.cfg.Zone || zone.ID == "" {
		return nil, fmt.Errorf("the zone of %q is %+v", r.cfg.Zone, *zone)
	}
	return zone, nil
}

func (r *dnsRun) unknownInstance(ctx context.Context) error {
	return r.checkUnknownInstances(func(id string) error { return r.findZone(ctx, id, "example.com") })
}

func (r *dnsRun) badRequest(ctx context.Context) error {
	ctx, cancel := r.withTimeout(ctx)
	defer cancel()
	c := r.clientAt(r.main)
	for _, name := range []string{"", ".", "a..b", "a b.example", "-a.example", "a/b.example", strings.Repeat("a", 64) + ".example", strings.Repeat("a.", 130) + "a"} {
		_, err := c.FindZone(ctx, name)
		if err := callersFault(fmt.Sprintf("the name %.40q", name), r.inspectError("find zone", err)); err != nil {
			return err
		}
	}
	good := dns.RecordSet{Name: "a.example.com", Type: dns.A, TTL: 60, Values: []string{"192.0.2.1"}}
	for what, change := range map[string]func(*dns.RecordSet){
		"no type":             func(s *dns.RecordSet) { s.Type = "" },
		"no value":            func(s *dns.RecordSet) { s.Values = nil },
		"IPv6 in an A":        func(s *dns.RecordSet) { s.Values = []string{"2001:db8::1"} },
		"an address in an MX": func(s *dns.RecordSet) { s.Type, s.Values = dns.MX, []string{"192.0.2.1"} },
		"a wrong preference":  func(s *dns.RecordSet) { s.Type, s.Values = dns.MX, []string{"70000 a.example.com"} },
		"two CNAMEs":          func(s *dns.RecordSet) { s.Type, s.Values = dns.CNAME, []string{"a.example.com", "b.example.com"} },
		"a line feed":         func(s *dns.RecordSet) { s.Type, s.Values = dns.TXT, []string{"a\nb"} },
		"a long text":         func(s *dns.RecordSet) { s.Type, s.Values = dns.TXT, []string{strings.Repeat("x", dns.MaxText+1)} },
		"many values":         func(s *dns.RecordSet) { s.Values = slices.Repeat(s.Values, dns.MaxValues+1) },
		"a long TTL":          func(s *dns.RecordSet) { s.TTL = dns.MaxTTL + 1 },
	} {
		set := good
		change(&set)
		_, err := c.SetRecords(ctx, "example.com", set)
		if err := callersFault("a record set with "+what, r.inspectError("set records", err)); err != nil {
			return err
		}
	}
	for _, id := range []string{"", "..", "a/b", "a?b", "a b"} {
		_, err := c.ListRecords(ctx, id, "", "")
		if err := callersFault(fmt.Sprintf("the zone id %q", id), r.inspectError("list records", err)); err != nil {
			return err
		}
	}
	return nil
}

// optionalCalls checks that calls without their capability are refused.
func (r *dnsRun) optionalCalls(ctx context.Context) error {
	ctx, cancel := r.withTimeout(ctx)
	defer cancel()
	var found []error
	if c := r.clientAt(r.main); !r.hasCapability(dns.CapCreateZones) {
		_, _, err := c.CreateZone(ctx, "conformance.example.com")
		found = append(found, r.requireUnsupported("CreateZone", r.inspectError("create zone", err)))
		found = append(found, r.requireUnsupported("DeleteZone", r.inspectError("delete zone", c.DeleteZone(ctx, "conformance.example.com"))))
	}
	if c := r.clientAt(r.main); !r.hasCapability(dns.CapMailRouting) {
		_, err := c.CreateRule(ctx, "example.com", "a@example.com")
		_, readErr := c.ReadCatchAll(ctx, "example.com")
		found = append(found, r.requireUnsupported("CreateRule", r.inspectError("create rule", err)), r.requireUnsupported("ReadCatchAll", r.inspectError("read catch-all", readErr)))
	}
	return errors.Join(found...)
}

// checkZones checks that the zone of a name is the longest one, and that a name may lie in none.
func (r *dnsRun) checkZones(ctx context.Context) error {
	ctx, cancel := r.withTimeout(ctx)
	defer cancel()
	zone, err := r.existingZone(ctx)
	if err != nil || r.isManual() {
		return err
	}
	below, err := r.clientAt(r.main).FindZone(ctx, "a.b.conformance."+r.cfg.Zone)
	if r.inspectError("find zone", err) != nil {
		return err
	}
	if below.ID != zone.ID {
		return fmt.Errorf("a name below %q lies in the zone %+v", r.cfg.Zone, *below)
	}
	all, err := r.clientAt(r.main).ListZones(ctx)
	if r.inspectError("list zones", err) != nil {
		return err
	}
	if !slices.ContainsFunc(all, func(z dns.Zone) bool { return z.ID == zone.ID && z.Name == zone.Name }) {
		return fmt.Errorf("the zone %+v is not in the list of %d", *zone, len(all))
	}
	if r.cfg.Missing == "" {
		return nil
	}
	if e := errs.From(r.findZone(ctx, r.main, r.cfg.Missing)); e == nil || e.Code != codes.NotFound || e.Reason != dns.ReasonNoZone || e.Source != errs.Upstream {
		return fmt.Errorf("the zone of %q should be NOT_FOUND, %s, source upstream; got: %v", r.cfg.Missing, dns.ReasonNoZone, e)
	}
	return nil
}

// createZone makes a zone and deletes it, each twice.
func (r *dnsRun) createZone(ctx context.Context) error {
	if r.cfg.NewZone == "" || !r.hasCapability(dns.CapCreateZones) {
		return skip("no zone can be made")
	}
	ctx, cancel := r.withTimeout(ctx)
	defer cancel()
	c, id := r.clientAt(r.main), ""
	for _, want := range []bool{true, false} {
		zone, created, err := c.CreateZone(ctx, r.cfg.NewZone)
		if r.inspectError("create zone", err) != nil {
			return err
		}
		if created != want || zone.Name != r.cfg.NewZone || zone.ID == "" || id != "" && zone.ID != id {
			return fmt.Errorf("made is %+v, new %v, want new %v", *zone, created, want)
		}
		id = zone.ID
	}
	if err := r.findZone(ctx, r.main, "www."+r.cfg.NewZone); err != nil {
		return err
	}
	for range 2 {
		if err := c.DeleteZone(ctx, id); r.inspectError("delete zone", err) != nil {
			return err
		}
	}
	if e := errs.From(r.findZone(ctx, r.main, r.cfg.NewZone)); e == nil || e.Code != codes.NotFound {
		return fmt.Errorf("a deleted zone is found: %v", e)
	}
	return nil
}
