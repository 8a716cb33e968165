package libdnsadapter_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/libdns/libdns"
	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/conformance"
	"github.com/patchbay-dev/patchbay/sdk/dns"
	"github.com/patchbay-dev/patchbay/sdk/dns/libdnsadapter"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

const token = "token-of-the-vendor"

// memory is a provider for libdns that keeps records in memory.
type memory struct {
	Token string
	zones []string

	mu      sync.Mutex
	fault   conformance.DNSFault
	records []libdns.RR
}

var (
	errVendor  = errors.New("the vendor has a problem with the token " + token)
	errLimited = errors.New("too many requests")
)

// setFault makes a fault until the function that it returns is called.
func (m *memory) setFault(f conformance.DNSFault) func() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fault = f
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.fault = ""
	}
}

func (m *memory) failure(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch m.fault {
	case "":
		return nil
	case conformance.DNSSlow:
		m.mu.Unlock()
		<-ctx.Done()
		m.mu.Lock()
		return ctx.Err()
	case conformance.DNSLimited:
		return errLimited
	case conformance.DNSDenied:
		return errs.New(errs.Upstream, codes.Unauthenticated, errs.ReasonStatus, "the token is wrong")
	}
	return errVendor
}

func (m *memory) ListZones(ctx context.Context) (out []libdns.Zone, err error) {
	for _, z := range m.zones {
		out = append(out, libdns.Zone{Name: z})
	}
	return out, m.failure(ctx)
}

func (m *memory) GetRecords(ctx context.Context, _ string) (out []libdns.Record, err error) {
	if err := m.failure(ctx); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, rr := range m.records {
		r, err := rr.Parse()
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

func (m *memory) SetRecords(ctx context.Context, _ string, records []libdns.Record) ([]libdns.Record, error) {
	if err := m.failure(ctx); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range records {
		m.records = slices.DeleteFunc(m.records, func(rr libdns.RR) bool { return rr.Name == r.RR().Name && rr.Type == r.RR().Type })
	}
	for _, r := range records {
		m.records = append(m.records, r.RR())
	}
	return records, nil
}

func (m *memory) DeleteRecords(ctx context.Context, _ string, records []libdns.Record) ([]libdns.Record, error) {
	if err := m.failure(ctx); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range records {
		m.records = slices.DeleteFunc(m.records, func(rr libdns.RR) bool { return rr == r.RR() })
	}
	return records, nil
}

func explain(err error) *errs.Error {
	if !errors.Is(err, errLimited) {
		return nil
	}
	e := errs.New(errs.Upstream, codes.ResourceExhausted, errs.ReasonStatus, "%v", err)
	e.RetryAfter = 30 * time.Second
	return e
}

func TestConformance(t *testing.T) {
	vendor := &memory{Token: token, zones: []string{"example.com."}}
	build := func(dns.Instance, Config) (dns.Open, schema.Diagnostics) {
		return func(context.Context) (dns.Provider, error) {
			return libdnsadapter.New(libdnsadapter.Config{Provider: vendor, Secrets: []schema.Secret{token}, Explain: explain,
				Resolvers: []string{"127.0.0.1:1"}})
		}, nil
	}
	plugin := framework.Plugin{Name: "memory", Version: "0.1.0", Kinds: []framework.Kind{dns.New(dns.Definition[Config]{Build: build})}}
	conformance.TestDNS(t, plugin, conformance.DNSConfig{
		JSON: `{"token":"` + token + `"}`, Zone: "example.com", Missing: "example.org", Fault: vendor.setFault, Secrets: []string{token},
	})
}

// onlyRecords is a provider that cannot list its zones.
type onlyRecords struct{ libdnsadapter.Provider }

func TestNew(t *testing.T) {
	if _, err := libdnsadapter.New(libdnsadapter.Config{}); err == nil {
		t.Error("there is no provider")
	}
	if _, err := libdnsadapter.New(libdnsadapter.Config{Provider: onlyRecords{&memory{}}}); err == nil ||
		!strings.Contains(err.Error(), "Zones") {
		t.Errorf("%v", err)
	}
	p, err := libdnsadapter.New(libdnsadapter.Config{Provider: onlyRecords{&memory{}}, Zones: []string{"Example.com.", "sub.example.com"}})
	if err != nil {
		t.Fatal(err)
	}
	if zone, err := p.FindZone(t.Context(), "a.sub.example.com"); err != nil || zone.ID != "sub.example.com" {
		t.Errorf("%+v, %v", zone, err)
	}
	if out, err := p.SetRecords(t.Context(), "example.com",
		dns.RecordSet{Name: "example.com", Type: dns.MX, Values: []string{"10 mail.example.com"}}); err != nil || out != dns.Applied {
		t.Errorf("%s, %v", out, err)
	}
	sets, err := p.ListRecords(t.Context(), "example.com", "", "")
	if err != nil || len(sets) != 1 || sets[0].Name != "example.com" || sets[0].TTL != 300 {
		t.Errorf("%+v, %v", sets, err)
	}
}
