package conformance

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/conformance/report"
	"github.com/patchbay-dev/patchbay/sdk/dns"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

const dnsSecret = "secret-of-the-vendor"

// goodDNS keeps the contract; tests change single parts of it. A zone's id is its name.
type goodDNS struct {
	mu       sync.Mutex
	fault    DNSFault
	zones    []string
	sets     []dns.RecordSet
	catchAll string

	// These change single parts.
	keepsOthers bool
	set         func(*dns.RecordSet)
	created     func(bool) bool
	rule        func(address string) string
	snapshot    func(string) string
	failure     func(*errs.Error) error
	ignoresEnd  bool
	below       string
}

func newGoodDNS() *goodDNS {
	return &goodDNS{
		zones: []string{"example.com"}, catchAll: "forward", keepsOthers: true, set: func(*dns.RecordSet) {},
		created: func(b bool) bool { return b },
		rule:    func(a string) string { return a }, snapshot: func(s string) string { return "snapshot-" + s },
		failure: func(e *errs.Error) error { return e },
	}
}

func (g *goodDNS) setFault(f DNSFault) func() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.fault = f
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.fault = ""
	}
}

// begin locks, or fails if there is a fault.
func (g *goodDNS) begin(ctx context.Context) error {
	g.mu.Lock()
	code := map[DNSFault]codes.Code{DNSDown: codes.Unavailable, DNSGarbage: codes.Unavailable, DNSLimited: codes.ResourceExhausted,
		DNSDenied: codes.PermissionDenied}[g.fault]
	slow := g.fault == DNSSlow
	if !slow && code == codes.OK {
		return nil
	}
	g.mu.Unlock()
	if slow && g.ignoresEnd {
		time.Sleep(3 * time.Second)
	} else if slow {
		<-ctx.Done()
	}
	if slow {
		return ctx.Err()
	}
	e := errs.New(errs.Upstream, code, errs.ReasonStatus, "no")
	if code == codes.ResourceExhausted {
		e.RetryAfter = time.Minute
	}
	return g.failure(e)
}

func (g *goodDNS) list() (out []dns.Zone) {
	for _, z := range g.zones {
		out = append(out, dns.Zone{ID: z, Name: z})
	}
	return out
}

func (g *goodDNS) ListZones(ctx context.Context) ([]dns.Zone, error) {
	if err := g.begin(ctx); err != nil {
		return nil, err
	}
	defer g.mu.Unlock()
	return g.list(), nil
}

func (g *goodDNS) FindZone(ctx context.Context, name string) (*dns.Zone, error) {
	if err := g.begin(ctx); err != nil {
		return nil, err
	}
	defer g.mu.Unlock()
	if g.below != "" && name != "example.com" && dns.InZone(name, "example.com") {
		return &dns.Zone{ID: g.below, Name: g.below}, nil
	}
	return dns.LongestZone(g.list(), name)
}

func (g *goodDNS) CreateZone(ctx context.Context, name string) (*dns.Zone, bool, error) {
	if err := g.begin(ctx); err != nil {
		return nil, false, err
	}
	defer g.mu.Unlock()
	known := slices.Contains(g.zones, name)
	if !known {
		g.zones = append(g.zones, name)
	}
	return &dns.Zone{ID: name, Name: name}, g.created(!known), nil
}

func (g *goodDNS) DeleteZone(ctx context.Context, zoneID string) error {
	if err := g.begin(ctx); err != nil {
		return err
	}
	defer g.mu.Unlock()
	g.zones = slices.DeleteFunc(g.zones, func(z string) bool { return z == zoneID })
	return nil
}

func (g *goodDNS) ListRecords(ctx context.Context, _, name string, t dns.Type) (out []dns.RecordSet, err error) {
	if err := g.begin(ctx); err != nil {
		return nil, err
	}
	defer g.mu.Unlock()
	for _, s := range g.sets {
		if (name == "" || s.Name == name) && (t == "" || s.Type == t) {
			out = append(out, s)
		}
	}
	return out, nil
}

func (g *goodDNS) SetRecords(ctx context.Context, _ string, set dns.RecordSet) (dns.Outcome, error) {
	if err := g.begin(ctx); err != nil {
		return "", err
	}
	defer g.mu.Unlock()
	g.set(&set)
	g.sets = slices.DeleteFunc(g.sets, func(s dns.RecordSet) bool { return s.Name == set.Name && (s.Type == set.Type || !g.keepsOthers) })
	g.sets = append(g.sets, set)
	return dns.Applied, nil
}

func (g *goodDNS) DeleteRecords(ctx context.Context, _, name string, t dns.Type) (dns.Outcome, error) {
	if err := g.begin(ctx); err != nil {
		return "", err
	}
	defer g.mu.Unlock()
	g.sets = slices.DeleteFunc(g.sets, func(s dns.RecordSet) bool { return s.Name == name && s.Type == t })
	return dns.Applied, nil
}

func (g *goodDNS) CheckRecords(_ context.Context, _ string, sets []dns.RecordSet) (out []dns.Check, err error) {
	for _, s := range sets {
		out = append(out, dns.Check{Name: s.Name, Type: s.Type, Visibility: dns.Visible,
			Observations: []dns.Observation{{Server: "ns", Values: s.Values}}})
	}
	return out, nil
}

func (g *goodDNS) EnableRouting(context.Context, string, string) error  { return nil }
func (g *goodDNS) DisableRouting(context.Context, string, string) error { return nil }

func (g *goodDNS) CreateRule(_ context.Context, _, address string) (string, error) {
	return g.rule(address), nil
}

func (g *goodDNS) DeleteRule(context.Context, string, string) error { return nil }

func (g *goodDNS) ReadCatchAll(context.Context, string) ([]byte, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return []byte(g.snapshot(g.catchAll)), nil
}

func (g *goodDNS) SetCatchAll(context.Context, string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.catchAll = "worker"
	return nil
}

func (g *goodDNS) RestoreCatchAll(_ context.Context, _ string, snapshot []byte) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if string(snapshot) != g.snapshot("forward") {
		return dns.InvalidRequest("no")
	}
	g.catchAll = "forward"
	return nil
}

func (g *goodDNS) run(t *testing.T) report.Report {
	t.Helper()
	def := dns.Definition[struct{}]{CreateZones: true, MailRouting: true, Build: func(dns.Instance, struct{}) (dns.Open, schema.Diagnostics) {
		return func(context.Context) (dns.Provider, error) { return g, nil }, nil
	}}
	return runSuite(t, framework.Plugin{Name: "good", Version: "1.0.0", Kinds: []framework.Kind{dns.New(def)}}, DNSConfig{
		Zone: "example.com", NewZone: "new.example.org", Missing: "example.net", Fault: g.setFault, Secrets: []string{dnsSecret},
		Prompt: time.Second,
	}, DNS)
}

func TestGoodDNSPasses(t *testing.T) {
	wantWhole(t, newGoodDNS().run(t))
}

func TestWrongDNS(t *testing.T) {
	counter := 0
	for _, tt := range []struct {
		name   string
		want   []string
		change func(*goodDNS)
	}{
		{"names the shorter zone", []string{"zones"}, func(g *goodDNS) { g.below = "com" }},
		{"makes a zone again and again", []string{"create-zone"}, func(g *goodDNS) { g.created = func(bool) bool { return true } }},
		{"loses other types", []string{"records", "rollback"}, func(g *goodDNS) { g.keepsOthers = false }},
		{"changes a text", []string{"records"}, func(g *goodDNS) {
			g.set = func(s *dns.RecordSet) {
				if s.Type == dns.TXT && len(s.Values) == 2 {
					s.Values = []string{s.Values[0], s.Values[1][:255]}
				}
			}
		}},
		{"a rule for each call", []string{"rules"}, func(g *goodDNS) {
			g.rule = func(string) string { counter++; return fmt.Sprint(counter) }
		}},
		{"one rule for all", []string{"rules"}, func(g *goodDNS) { g.rule = func(string) string { return "1" } }},
		{"a snapshot of nothing", []string{"catch-all"}, func(g *goodDNS) { g.snapshot = func(string) string { return "same" } }},
		{"a limit without a time", []string{"limited"}, func(g *goodDNS) {
			g.failure = func(e *errs.Error) error { e.RetryAfter = 0; return e }
		}},
		{"its own fault", []string{"down", "garbage", "limited", "denied"}, func(g *goodDNS) {
			g.failure = func(e *errs.Error) error { e.Source = errs.Plugin; return e }
		}},
		{"the secret in an error", []string{"credential"}, func(g *goodDNS) {
			g.failure = func(e *errs.Error) error { e.Message += dnsSecret; return e }
		}},
		{"goes on after the end", []string{"cancel", "deadline"}, func(g *goodDNS) { g.ignoresEnd = true }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := newGoodDNS()
			tt.change(g)
			rep := g.run(t)
			if got := names(rep); fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("failed are %v, want %v: %v", got, tt.want, rep.Err())
			}
		})
	}
}
