package httpx

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"code.dny.dev/ssrf"
)

// GuardConfig configures a Guard.
type GuardConfig struct {
	// Allow are exceptions: a host name, an address or a network in CIDR form that may be reached although it is
	// private. A name or an address may end with :port, which permits that port besides Ports.
	Allow []string
	// Ports are those that may be reached; empty means 80 and 443. AnyPort permits all of them.
	Ports   []uint16
	AnyPort bool
	// Hint says to an operator how an address or port can be permitted. It stands behind the reason of such a refusal.
	Hint string
}

// Guard keeps requests out of inner networks: it refuses loopback, private, link-local and all other addresses that
// are not for the public internet. It looks at the address that is really connected to, so that neither a name nor a
// redirect nor a name that changes its address gets past it.
type Guard struct {
	ports   []uint16
	anyPort bool
	// names holds the ports of each host that may be private; 0 stands for all of them.
	names map[string][]uint16
	check *ssrf.Guardian
	hint  string
	pairs map[netip.AddrPort]bool
	// networks says that some private address is permitted, to which any name may lead.
	networks bool
}

type refusedError struct{ msg string }

func (e *refusedError) Error() string { return e.msg }

func refuseAddress(format string, args ...any) error {
	return &refusedError{msg: fmt.Sprintf(format, args...)}
}

// allowanceHint is the hint, where there is one.
func (g *Guard) allowanceHint() string {
	if g.hint == "" {
		return ""
	}
	return ": " + g.hint
}

// NewGuard checks cfg and makes a Guard.
func NewGuard(cfg GuardConfig) (*Guard, error) {
	g := &Guard{hint: cfg.Hint, ports: cfg.Ports, anyPort: cfg.AnyPort, names: map[string][]uint16{}, pairs: map[netip.AddrPort]bool{}}
	if len(g.ports) == 0 {
		g.ports = []uint16{80, 443}
	}
	var v4, v6 []netip.Prefix
	for _, entry := range cfg.Allow {
		prefix, err := g.allowEntry(entry)
		if err != nil {
			return nil, fmt.Errorf("allow %q: %w", entry, err)
		}
		switch {
		case !prefix.IsValid():
			continue
		case prefix.Addr().Is4():
			v4 = append(v4, prefix)
		default:
			v6 = append(v6, prefix)
		}
	}
	g.networks = len(v4)+len(v6)+len(g.pairs) > 0
	g.check = ssrf.New(ssrf.WithAnyPort(), ssrf.WithAllowedV4Prefixes(v4...), ssrf.WithAllowedV6Prefixes(v6...))
	return g, nil
}

// allowEntry takes one exception. It returns the prefix if the entry is one that holds for all ports of the guard.
func (g *Guard) allowEntry(entry string) (netip.Prefix, error) {
	if prefix, err := netip.ParsePrefix(entry); err == nil {
		return prefix.Masked(), nil
	}
	if addr, err := netip.ParseAddr(entry); err == nil {
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	if pair, err := netip.ParseAddrPort(entry); err == nil {
		g.pairs[pair] = true
		return netip.Prefix{}, nil
	}
	name, ports := entry, g.ports
	if g.anyPort {
		ports = []uint16{0}
	}
	if host, port, err := net.SplitHostPort(entry); err == nil {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return netip.Prefix{}, errors.New("port must be 1 to 65535")
		}
		name, ports = host, append(slices.Clone(g.ports), uint16(n))
	}
	if name == "" || strings.ContainsAny(name, "/:@*? \t") {
		return netip.Prefix{}, errors.New("expected a host name, an address or a network such as 10.0.0.0/8")
	}
	key := canonicalHost(name)
	g.names[key] = append(g.names[key], ports...)
	return netip.Prefix{}, nil
}

func canonicalHost(name string) string { return strings.TrimSuffix(strings.ToLower(name), ".") }

// CheckURL refuses what can be told from the address alone: another scheme than http and https, a user or password, a
// port that is not permitted, an address that is not public. A host name that passes may still be refused when it is
// connected to.
func (g *Guard) CheckURL(u *url.URL) error {
	switch {
	case u == nil || u.Scheme != "http" && u.Scheme != "https":
		return refuseAddress("only http and https addresses can be fetched")
	case u.Hostname() == "":
		return refuseAddress("address has no host")
	case u.User != nil:
		return refuseAddress("address must not hold a user or password")
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return refuseAddress("address has no valid port")
	}
	return g.CheckHost(u.Hostname(), uint16(n))
}

// CheckHost is CheckURL for a host and a port alone.
func (g *Guard) CheckHost(host string, port uint16) error {
	if addr, err := netip.ParseAddr(host); err == nil {
		return g.checkAddr(netip.AddrPortFrom(addr, port))
	}
	switch {
	case g.isAllowed(host, port):
		return nil
	case !g.portUsed(port):
		return refuseAddress("port %d is not permitted%s", port, g.allowanceHint())
	case !g.networks && isInnerName(canonicalHost(host)):
		return refuseAddress("address is not on the public internet%s", g.allowanceHint())
	}
	return nil
}

// isInnerName reports whether a host name cannot belong to the public internet: it has one label, a top-level domain
// that is reserved for inner use, or it is an IPv4 address in a short or numeric spelling.
func isInnerName(name string) bool {
	i := strings.LastIndexByte(name, '.')
	top := name[i+1:]
	if _, err := strconv.ParseUint(top, 0, 64); i < 0 || err == nil {
		return true
	}
	return slices.Contains([]string{"localhost", "local", "internal", "lan", "home", "corp"}, top) ||
		name == "home.arpa" || strings.HasSuffix(name, ".home.arpa")
}

// isAllowed reports whether a host name may be private on that port.
func (g *Guard) isAllowed(host string, port uint16) bool {
	ports := g.names[canonicalHost(host)]
	return slices.Contains(ports, port) || slices.Contains(ports, 0)
}

// portUsed reports whether some address may be reached on that port, so that a name may lead to it.
func (g *Guard) portUsed(port uint16) bool {
	if g.anyPort || slices.Contains(g.ports, port) {
		return true
	}
	for pair := range g.pairs {
		if pair.Port() == port {
			return true
		}
	}
	return false
}

func (g *Guard) checkAddr(pair netip.AddrPort) error {
	if g.pairs[pair] {
		return nil
	}
	if !g.anyPort && !slices.Contains(g.ports, pair.Port()) {
		return refuseAddress("port %d is not permitted%s", pair.Port(), g.allowanceHint())
	}
	if err := g.check.SafeAddr(pair.Addr()); err != nil {
		return refuseAddress("address is not on the public internet%s", g.allowanceHint())
	}
	return nil
}

// DialContext connects as net.Dialer does, to permitted addresses only. FindRefusal tells its refusals from other errors.
func (g *Guard) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	return g.guardDialer(&net.Dialer{})(ctx, network, addr)
}

// FindRefusal returns the words of the refusal that err is, or nothing if no guard made it.
func FindRefusal(err error) string {
	var refusal *refusedError
	if errors.As(err, &refusal) {
		return refusal.msg
	}
	return ""
}

// guardDialer returns a dial function that connects to permitted addresses only.
func (g *Guard) guardDialer(base *net.Dialer) dialFunc {
	guarded, open := *base, *base
	guarded.ControlContext = g.checkConnection
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		host, port, err := net.SplitHostPort(addr)
		if err != nil {
			return nil, refuseAddress("address has no valid port")
		}
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil {
			return nil, refuseAddress("address has no valid port")
		}
		if g.isAllowed(host, uint16(n)) {
			return open.DialContext(ctx, network, addr)
		}
		return guarded.DialContext(ctx, network, addr)
	}
}

// checkConnection runs for each address that a name resolved to, right before the connection is made.
func (g *Guard) checkConnection(_ context.Context, network, address string, _ syscall.RawConn) error {
	if network != "tcp4" && network != "tcp6" {
		return refuseAddress("address is not on the public internet%s", g.allowanceHint())
	}
	pair, err := netip.ParseAddrPort(address)
	if err != nil {
		return refuseAddress("address cannot be parsed")
	}
	return g.checkAddr(pair)
}
