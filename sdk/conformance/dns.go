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

	"github.com/patchbay-dev/patchbay/sdk/conformance/internal/suite"
	"github.com/patchbay-dev/patchbay/sdk/conformance/report"
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
	*suite.Run
	cfg DNSConfig
}

// DNS runs all checks of the dns kind over a connection to a plugin. The plugin is stopped at the end; its process is the
// caller's to end.
func DNS(ctx context.Context, conn grpc.ClientConnInterface, cfg DNSConfig) report.Report {
	b, done := suite.New(conn, dns.Kind, dns.Service, suite.Settings{
		JSON: cfg.JSON, Invalid: cfg.Invalid, BaseDir: cfg.BaseDir, Logs: cfg.Logs, Timeout: cfg.Timeout, Prompt: cfg.Prompt,
		Secrets: cfg.Secrets,
	})
	defer done()
	r := &dnsRun{Run: b, cfg: cfg}
	b.Answers = func(ctx context.Context, id string) bool {
		_, err := r.checkLocal(ctx, id)
		return suite.IsPresent(err)
	}
	return r.Perform(ctx, suite.Checks{List: []suite.Check{
		{Name: "unknown-instance", Perform: r.unknownInstance},
		{Name: "bad-request", Perform: r.badRequest},
		{Name: "optional-calls", Perform: r.optionalCalls},
		{Name: "zones", Perform: r.checkZones},
		{Name: "create-zone", Perform: r.createZone},
		{Name: "local-names", Perform: r.localNames},
		{Name: "records", Perform: r.checkRecords},
		{Name: "mail-records", Perform: r.mailRecords},
		{Name: "rules", Perform: r.checkRules},
		{Name: "catch-all", Perform: r.catchAll},
		{Name: "rollback", Perform: r.checkRollback},
		{Name: "down", Perform: r.changeFails(DNSDown, codes.Unavailable)},
		{Name: "garbage", Perform: r.changeFails(DNSGarbage, codes.Unavailable)},
		{Name: "limited", Perform: r.changeFails(DNSLimited, codes.ResourceExhausted)},
		{Name: "denied", Perform: r.changeFails(DNSDenied, codes.Unauthenticated, codes.PermissionDenied)},
		{Name: "cancel", Perform: r.checkCancel},
		{Name: "deadline", Perform: r.checkDeadline},
	}})
}

func (r *dnsRun) clientAt(id string) *dns.Client { return dns.NewClient(r.Conn, id) }

// findZone looks a zone up, and returns the error alone.
func (r *dnsRun) findZone(ctx context.Context, id, name string) error {
	ctx, cancel := r.WithTimeout(ctx)
	defer cancel()
	_, err := r.clientAt(id).FindZone(ctx, name)
	return r.InspectError("find zone", err)
}

func (r *dnsRun) isManual() bool { return r.HasCapability(dns.CapManual) }

// existingZone returns the zone that is there.
func (r *dnsRun) existingZone(ctx context.Context) (*dns.Zone, error) {
	if r.cfg.Zone == "" {
		return nil, suite.Skip("no zone is known")
	}
	zone, err := r.clientAt(r.MainID).FindZone(ctx, r.cfg.Zone)
	if r.InspectError("find zone", err) != nil {
		return nil, err
	}
	if zone.Name != r.cfg.Zone || zone.ID == "" {
		return nil, fmt.Errorf("the zone of %q is %+v", r.cfg.Zone, *zone)
	}
	return zone, nil
}

func (r *dnsRun) unknownInstance(ctx context.Context) error {
	return r.CheckUnknownInstances(func(id string) error { return r.findZone(ctx, id, "example.com") })
}

func (r *dnsRun) badRequest(ctx context.Context) error {
	ctx, cancel := r.WithTimeout(ctx)
	defer cancel()
	c := r.clientAt(r.MainID)
	for _, name := range []string{"", ".", "a..b", "a b.example", "-a.example", "a/b.example", strings.Repeat("a", 64) + ".example",
		strings.Repeat("a.", 130) + "a"} {
		_, err := c.FindZone(ctx, name)
		if err := suite.RequireCallerFault(fmt.Sprintf("the name %.40q", name), r.InspectError("find zone", err)); err != nil {
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
		if err := suite.RequireCallerFault("a record set with "+what, r.InspectError("set records", err)); err != nil {
			return err
		}
	}
	for _, id := range []string{"", "..", "a/b", "a?b", "a b"} {
		_, err := c.ListRecords(ctx, id, "", "")
		if err := suite.RequireCallerFault(fmt.Sprintf("the zone id %q", id), r.InspectError("list records", err)); err != nil {
			return err
		}
	}
	return nil
}

// optionalCalls checks that calls without their capability are refused.
func (r *dnsRun) optionalCalls(ctx context.Context) error {
	ctx, cancel := r.WithTimeout(ctx)
	defer cancel()
	var found []error
	if c := r.clientAt(r.MainID); !r.HasCapability(dns.CapCreateZones) {
		_, _, err := c.CreateZone(ctx, "conformance.example.com")
		found = append(found, r.RequireUnsupported("CreateZone", r.InspectError("create zone", err)))
		found = append(found, r.RequireUnsupported("DeleteZone", r.InspectError("delete zone", c.DeleteZone(ctx, "conformance.example.com"))))
	}
	if c := r.clientAt(r.MainID); !r.HasCapability(dns.CapMailRouting) {
		_, err := c.CreateRule(ctx, "example.com", "a@example.com")
		_, readErr := c.ReadCatchAll(ctx, "example.com")
		found = append(found, r.RequireUnsupported("CreateRule", r.InspectError("create rule", err)),
			r.RequireUnsupported("ReadCatchAll", r.InspectError("read catch-all", readErr)))
	}
	return errors.Join(found...)
}

// checkZones checks that the zone of a name is the longest one, and that a name may lie in none.
func (r *dnsRun) checkZones(ctx context.Context) error {
	ctx, cancel := r.WithTimeout(ctx)
	defer cancel()
	zone, err := r.existingZone(ctx)
	if err != nil || r.isManual() {
		return err
	}
	below, err := r.clientAt(r.MainID).FindZone(ctx, "a.b.conformance."+r.cfg.Zone)
	if r.InspectError("find zone", err) != nil {
		return err
	}
	if below.ID != zone.ID {
		return fmt.Errorf("a name below %q lies in the zone %+v", r.cfg.Zone, *below)
	}
	all, err := r.clientAt(r.MainID).ListZones(ctx)
	if r.InspectError("list zones", err) != nil {
		return err
	}
	if !slices.ContainsFunc(all, func(z dns.Zone) bool { return z.ID == zone.ID && z.Name == zone.Name }) {
		return fmt.Errorf("the zone %+v is not in the list of %d", *zone, len(all))
	}
	if r.cfg.Missing == "" {
		return nil
	}
	if e := errs.From(r.findZone(ctx, r.MainID, r.cfg.Missing)); e == nil || e.Code != codes.NotFound || e.Reason != dns.ReasonNoZone ||
		e.Source != errs.Upstream {
		return fmt.Errorf("the zone of %q should be NOT_FOUND, %s, source upstream; got: %v", r.cfg.Missing, dns.ReasonNoZone, e)
	}
	return nil
}

// createZone makes a zone and deletes it, each twice.
func (r *dnsRun) createZone(ctx context.Context) error {
	if r.cfg.NewZone == "" || !r.HasCapability(dns.CapCreateZones) {
		return suite.Skip("no zone can be made")
	}
	ctx, cancel := r.WithTimeout(ctx)
	defer cancel()
	c, id := r.clientAt(r.MainID), ""
	for _, want := range []bool{true, false} {
		zone, created, err := c.CreateZone(ctx, r.cfg.NewZone)
		if r.InspectError("create zone", err) != nil {
			return err
		}
		if created != want || zone.Name != r.cfg.NewZone || zone.ID == "" || id != "" && zone.ID != id {
			return fmt.Errorf("made is %+v, new %v, want new %v", *zone, created, want)
		}
		id = zone.ID
	}
	if err := r.findZone(ctx, r.MainID, "www."+r.cfg.NewZone); err != nil {
		return err
	}
	for range 2 {
		if err := c.DeleteZone(ctx, id); r.InspectError("delete zone", err) != nil {
			return err
		}
	}
	if e := errs.From(r.findZone(ctx, r.MainID, r.cfg.NewZone)); e == nil || e.Code != codes.NotFound {
		return fmt.Errorf("a deleted zone is found: %v", e)
	}
	return nil
}
