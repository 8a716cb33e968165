// Package dnscheck asks name servers whether record sets are visible: what CheckRecords of a DNS provider answers.
package dnscheck

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/patchbay-dev/patchbay/sdk/dns"
)

// Config says whom to ask.
type Config struct {
	// Resolvers are addresses such as "192.0.2.53" and "[2001:db8::53]:5353". None means the authoritative servers of the
	// zone, which are found by the machine's own resolvers.
	Resolvers []string
	// Timeout bounds one query; 0 means DefaultTimeout.
	Timeout time.Duration
}

// Limits of a check.
const (
	// DefaultTimeout is how long one query may take.
	DefaultTimeout = 3 * time.Second
	// maxServers is how many servers of a zone are asked.
	maxServers = 8
	// maxParallel is how many queries are on their way at once.
	maxParallel = 16
	// systemResolvers is the file that names the machine's own resolvers; all name servers listen on serverPort.
	systemResolvers = "/etc/resolv.conf"
	serverPort      = "53"
)

// Checker asks name servers. It keeps nothing and is safe for concurrent use.
type Checker struct {
	resolvers []server
	timeout   time.Duration
	// resolvConf and port are systemResolvers and serverPort, save in tests.
	resolvConf, port string
}

// server is a name server: the name that people know it by, and its address with port.
type server struct{ name, addr string }

// New checks cfg and makes a Checker. It sends nothing.
func New(cfg Config) (*Checker, error) {
	c := &Checker{timeout: cfg.Timeout, resolvConf: systemResolvers, port: serverPort}
	if c.timeout <= 0 {
		c.timeout = DefaultTimeout
	}
	for _, r := range cfg.Resolvers {
		addr, err := ParseServer(r)
		if err != nil {
			return nil, err
		}
		c.resolvers = append(c.resolvers, server{name: r, addr: addr})
	}
	return c, nil
}

// ParseServer returns address and port of a name server that is written as an address, with a port or without.
func ParseServer(text string) (string, error) {
	if pair, err := netip.ParseAddrPort(text); err == nil && pair.Port() > 0 {
		return pair.String(), nil
	}
	addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"))
	if err != nil {
		return "", fmt.Errorf("%.60q is not the address of a name server, such as 192.0.2.53 or 192.0.2.53:5353", text)
	}
	return net.JoinHostPort(addr.String(), serverPort), nil
}

// Check answers one check for each set, in order. zone is the name of the zone that they are in. The error is that of ctx.
func (c *Checker) Check(ctx context.Context, zone string, sets []dns.RecordSet) ([]dns.Check, error) {
	checks := make([]dns.Check, len(sets))
	servers, problem := c.findServers(ctx, zone)
	for i, set := range sets {
		checks[i] = dns.Check{Name: set.Name, Type: set.Type, Observations: make([]dns.Observation, len(servers))}
		if len(servers) == 0 {
			checks[i].Observations = []dns.Observation{{Server: zone, Problem: problem}}
		}
	}
	c.askAll(ctx, servers, len(sets), func(i, k int) { checks[i].Observations[k] = c.observeSet(ctx, servers[k], sets[i]) })
	for i := range checks {
		checks[i].Visibility = Judge(sets[i], checks[i].Observations)
	}
	return checks, ctx.Err()
}

// askAll calls ask for every set and server, several at once.
func (c *Checker) askAll(ctx context.Context, servers []server, sets int, ask func(set, server int)) {
	slots := make(chan struct{}, maxParallel)
	var running sync.WaitGroup
	for i := range sets {
		for k := range servers {
			slots <- struct{}{}
			running.Go(func() {
				defer func() { <-slots }()
				if ctx.Err() == nil {
					ask(i, k)
				}
			})
		}
	}
	running.Wait()
}

// Judge returns the visibility of a set by what servers answered. The worst answer counts; servers with a problem do not.
func Judge(set dns.RecordSet, observations []dns.Observation) dns.Visibility {
	out := dns.Unknown
	for _, o := range observations {
		if o.Problem != "" {
			continue
		}
		switch {
		case matchesSet(set, o.Values):
			if out == dns.Unknown {
				out = dns.Visible
			}
		case len(o.Values) == 0 || set.Type == dns.TXT && len(set.Values) > 0:
			if out != dns.Different {
				out = dns.Missing
			}
		default:
			out = dns.Different
		}
	}
	return out
}

// matchesSet reports whether values are those of a set. A TXT may stand among others, since several services share a name.
func matchesSet(set dns.RecordSet, values []string) bool {
	if set.Type == dns.TXT && len(set.Values) > 0 {
		return !slices.ContainsFunc(set.Values, func(v string) bool { return !slices.Contains(values, v) })
	}
	return slices.Equal(slices.Sorted(slices.Values(set.Values)), slices.Sorted(slices.Values(values)))
}
