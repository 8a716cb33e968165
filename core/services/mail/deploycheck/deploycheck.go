// Package deploycheck checks what mail from other servers needs to arrive here: MX records, an open port 25, a reverse name and a
// certificate.
package deploycheck

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
)

// The outcomes of a check.
const (
	Pass = "pass"
	Fail = "fail"
	// NotApplicable is the outcome of a check that has nothing to look at.
	NotApplicable = "na"
)

// Finding is the outcome of one check, with what to do where it fails. Its texts are English.
type Finding struct {
	ID string `json:"id" enum:"listener,mx,address,port,reverse,certificate"`
	// Subject is what was looked at: a domain, a host or an address.
	Subject  string `json:"subject" example:"example.com"`
	Status   string `json:"status" enum:"pass,fail,na"`
	Summary  string `json:"summary"`
	Remedy   string `json:"remedy,omitempty" doc:"What to do about a check that failed."`
	Evidence string `json:"evidence,omitempty" doc:"What was found."`
}

// Resolver asks the DNS. A *net.Resolver is one.
type Resolver interface {
	LookupMX(ctx context.Context, name string) ([]*net.MX, error)
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
	LookupAddr(ctx context.Context, addr string) ([]string, error)
}

// Listener is where mail is taken in.
type Listener struct {
	// Address is where it listens, Hostname is what it calls itself.
	Address, Hostname string
	// CertFile and KeyFile are those of STARTTLS, "" for none.
	CertFile, KeyFile string
}

// Config is what is checked.
type Config struct {
	Resolver Resolver
	// Host is the host that MX records name, "" if it is not known.
	Host string
	// Domains are the mail domains that are known in the DNS.
	Domains   []string
	Listeners []Listener
	// Port is that of mail between servers; "" means 25.
	Port string
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

const (
	// lookupTime and dialTime bound one look-up and one connection.
	lookupTime = 5 * time.Second
	dialTime   = 5 * time.Second
	// maxAddresses is how many addresses of the host are looked at.
	maxAddresses = 4
)

// Run makes all checks beside each other, in at most some fifteen seconds.
func Run(ctx context.Context, cfg Config) []Finding {
	if cfg.Port == "" {
		cfg.Port = "25"
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if len(cfg.Domains) == 0 {
		return []Finding{{ID: "mx", Status: NotApplicable, Summary: "No domain receives mail from other servers."}}
	}
	parts := make([][]Finding, 2+len(cfg.Domains))
	var all sync.WaitGroup
	all.Go(func() { parts[0] = checkListeners(cfg) })
	for i, name := range cfg.Domains {
		all.Go(func() { parts[1+i] = []Finding{checkMX(ctx, cfg, name)} })
	}
	all.Go(func() { parts[len(parts)-1] = checkHost(ctx, cfg) })
	all.Wait()
	return slices.Concat(parts...)
}

func pass(id, subject, summary, evidence string) Finding {
	return Finding{ID: id, Subject: subject, Status: Pass, Summary: summary, Evidence: evidence}
}

func fail(id, subject, summary, evidence, remedy string) Finding {
	return Finding{ID: id, Subject: subject, Status: Fail, Summary: summary, Evidence: evidence, Remedy: remedy}
}

// checkListeners checks that other machines can reach a listener, and its certificate.
func checkListeners(cfg Config) (out []Finding) {
	if len(cfg.Listeners) == 0 {
		return []Finding{{ID: "listener", Status: NotApplicable, Summary: "There is no SMTP listener: mail comes from mail workers alone."}}
	}
	for _, l := range cfg.Listeners {
		host, _, _ := net.SplitHostPort(l.Address)
		if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
			out = append(out, fail("listener", l.Address, "The listener can be reached from this machine alone.", "",
				"Set listen in the smtp block to an address that other servers reach, such as 0.0.0.0:25, unless something on this machine forwards port 25 to it."))
		} else {
			out = append(out, pass("listener", l.Address, "The listener can be reached from other machines.", ""))
		}
		out = append(out, checkCertificate(cfg, l))
	}
	return out
}

// checkMX checks that mail to a domain is sent here.
func checkMX(ctx context.Context, cfg Config, name string) Finding {
	if cfg.Host == "" {
		return fail("mx", name, "The host name for the MX records is not known.", "", "Set mx_host in the block of the service.")
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	found, err := cfg.Resolver.LookupMX(ctx, name)
	var hosts []string
	for _, mx := range found {
		hosts = append(hosts, strings.ToLower(strings.TrimSuffix(mx.Host, ".")))
	}
	evidence := strings.Join(hosts, ", ")
	switch {
	case len(hosts) == 0 && err != nil && !isNotFound(err):
		return fail("mx", name, "The MX records could not be looked up.", err.Error(),
			"See that this machine reaches a DNS server, or set resolver in the block of the service.")
	case len(hosts) == 0:
		return fail("mx", name, "The domain has no MX record.", "", "Set the records that the page of the domains shows.")
	case !slices.Contains(hosts, strings.ToLower(cfg.Host)):
		return fail("mx", name, "The MX records name other hosts: mail goes there.", evidence,
			"Replace them by the records that the page of the domains shows.")
	case len(hosts) > 1:
		return pass("mx", name, "The MX records name this server, and others besides.", evidence)
	}
	return pass("mx", name, "The MX record names this server.", evidence)
}

// isNotFound reports whether the DNS says that there is nothing under a name.
func isNotFound(err error) bool {
	e, ok := err.(*net.DNSError)
	return ok && e.IsNotFound
}
