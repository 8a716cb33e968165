package httpd

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"

	"github.com/gin-gonic/gin"
)

// Clients finds the address of the client of a request. Forwarding headers are believed from trusted proxies only.
type Clients struct{ trusted []netip.Prefix }

// NewClients takes the CIDRs of the trusted proxies; a single address stands for itself.
func NewClients(cidrs []string) (*Clients, error) {
	c := &Clients{}
	for _, s := range cidrs {
		p, err := netip.ParsePrefix(s)
		if err != nil {
			a, aerr := netip.ParseAddr(s)
			if aerr != nil {
				return nil, fmt.Errorf("trusted proxy %q is neither an address nor a CIDR", s)
			}
			p = netip.PrefixFrom(a, a.BitLen())
		}
		c.trusted = append(c.trusted, p.Masked())
	}
	return c, nil
}

// Trusted reports whether the peer of a connection may name the client.
func (c *Clients) Trusted(peer string) bool {
	a, err := netip.ParseAddr(peer)
	if err != nil {
		return false
	}
	a = a.Unmap()
	for _, p := range c.trusted {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// Addr returns the client's address: the peer, or, behind trusted proxies, the last address that is none of theirs.
func (c *Clients) Addr(r *http.Request) string {
	peer := peerAddress(r.RemoteAddr)
	forwarded := r.Header["X-Forwarded-For"]
	if len(forwarded) == 0 || !c.Trusted(peer) {
		return peer
	}
	hops := strings.Split(strings.Join(forwarded, ","), ",")
	addr := peer
	for i := len(hops) - 1; i >= 0; i-- {
		a, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		addr = a.Unmap().String()
		if !c.Trusted(addr) {
			break
		}
	}
	return addr
}

// ClientNetwork returns whom limits for each client count an address with: an IPv4 address itself, and the network of 64 bits of an IPv6
// address, of which one client may have every address. What is no address is returned as it is.
func ClientNetwork(addr string) string {
	ip, err := netip.ParseAddr(addr)
	if err != nil {
		return addr
	}
	ip = ip.Unmap().WithZone("")
	if ip.Is4() {
		return ip.String()
	}
	p, err := ip.Prefix(64)
	if err != nil {
		return addr
	}
	return p.String()
}

func peerAddress(remote string) string {
	i := strings.LastIndexByte(remote, ':')
	if i < 0 {
		return remote
	}
	return strings.Trim(remote[:i], "[]")
}

// ClientAddr returns the address of the request's client.
func ClientAddr(c *gin.Context) string {
	if v, ok := c.Get(keyClient); ok {
		return v.(*Clients).Addr(c.Request)
	}
	return peerAddress(c.Request.RemoteAddr)
}
