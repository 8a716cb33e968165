package dnscheck

import (
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"strings"

	mdns "github.com/miekg/dns"

	"github.com/patchbay-dev/patchbay/sdk/dns"
	"github.com/patchbay-dev/patchbay/sdk/dns/dnsrr"
)

// udpSize is the largest answer that is asked for over UDP, in bytes; larger ones come over TCP.
const udpSize = 1232

// askServer sends one question, over TCP if the answer is too large for UDP. A lost packet is sent once more.
func (c *Checker) askServer(ctx context.Context, addr, name string, recordType uint16, recurse bool) (*mdns.Msg, error) {
	msg := new(mdns.Msg)
	msg.SetQuestion(mdns.Fqdn(name), recordType)
	msg.SetEdns0(udpSize, false)
	msg.RecursionDesired = recurse
	var answer *mdns.Msg
	var err error
	for range 2 {
		answer, _, err = (&mdns.Client{Timeout: c.timeout, UDPSize: udpSize}).ExchangeContext(ctx, msg, addr)
		if err == nil || ctx.Err() != nil {
			break
		}
	}
	if err == nil && answer.Truncated {
		answer, _, err = (&mdns.Client{Net: "tcp", Timeout: c.timeout}).ExchangeContext(ctx, msg, addr)
	}
	return answer, err
}

// observeSet asks one server for a set.
func (c *Checker) observeSet(ctx context.Context, s server, set dns.RecordSet) dns.Observation {
	out := dns.Observation{Server: s.name}
	answer, err := c.askServer(ctx, s.addr, set.Name, dnsrr.TypeOf(set.Type), len(c.resolvers) > 0)
	if err != nil {
		out.Problem = describeProblem(err)
		return out
	}
	if answer.Rcode != mdns.RcodeSuccess && answer.Rcode != mdns.RcodeNameError {
		out.Problem = "the server answers " + mdns.RcodeToString[answer.Rcode]
		return out
	}
	for _, rr := range answer.Answer {
		if value, ok := dnsrr.ValueOf(rr); ok && rr.Header().Rrtype == dnsrr.TypeOf(set.Type) && len(out.Values) < dns.MaxValues {
			out.Values = append(out.Values, value)
			out.TTL = int(rr.Header().Ttl)
		}
	}
	slices.Sort(out.Values)
	return out
}

// findServers returns the servers to ask for a zone, or the reason why there is none.
func (c *Checker) findServers(ctx context.Context, zone string) ([]server, string) {
	if len(c.resolvers) > 0 {
		return c.resolvers, ""
	}
	conf, err := mdns.ClientConfigFromFile(c.resolvConf)
	if err != nil || len(conf.Servers) == 0 {
		return nil, "this machine has no resolver, and the configuration names none"
	}
	problem := "no name server is known for the zone"
	for _, s := range conf.Servers {
		addr := net.JoinHostPort(s, c.port)
		names, err := c.findNameServers(ctx, addr, zone)
		if err != nil {
			problem = "the resolver " + s + ": " + describeProblem(err)
			continue
		}
		var found []server
		for _, name := range names {
			if ip := c.findAddress(ctx, addr, name); ip != "" && len(found) < maxServers {
				found = append(found, server{name: name, addr: net.JoinHostPort(ip, c.port)})
			}
		}
		if len(found) > 0 {
			return found, ""
		}
	}
	return nil, problem
}

// findNameServers returns the names of the servers of a zone, or of the nearest one above it.
func (c *Checker) findNameServers(ctx context.Context, resolver, zone string) ([]string, error) {
	for strings.Contains(zone, ".") {
		answer, err := c.askServer(ctx, resolver, zone, mdns.TypeNS, true)
		if err != nil {
			return nil, err
		}
		var names []string
		for _, rr := range answer.Answer {
			if ns, ok := rr.(*mdns.NS); ok {
				names = append(names, dns.NormalizeName(ns.Ns))
			}
		}
		if len(names) > 0 {
			slices.Sort(names)
			return names, nil
		}
		_, zone, _ = strings.Cut(zone, ".")
	}
	return nil, nil
}

// findAddress returns an address of a name server, or an empty text.
func (c *Checker) findAddress(ctx context.Context, resolver, name string) string {
	for _, recordType := range []uint16{mdns.TypeA, mdns.TypeAAAA} {
		answer, err := c.askServer(ctx, resolver, name, recordType, true)
		if err != nil {
			continue
		}
		for _, rr := range answer.Answer {
			if value, ok := dnsrr.ValueOf(rr); ok && rr.Header().Rrtype == recordType {
				return value
			}
		}
	}
	return ""
}

// describeProblem returns the words for a query without an answer.
func describeProblem(err error) string {
	var timeout net.Error
	var op *net.OpError
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "no answer in time"
	case errors.As(err, &op):
		return "no connection"
	}
	return "the answer cannot be read"
}
