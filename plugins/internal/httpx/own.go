package httpx

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/http/httpproxy"
	"golang.org/x/net/idna"
)

// defaultGuard is the guard of a client whose Config has none: all ports of the public internet.
func defaultGuard() *Guard {
	g, err := NewGuard(GuardConfig{AnyPort: true, Hint: "if it is yours, name this very host and port in the configuration"})
	if err != nil {
		panic(err) // it allows nothing that could be wrong
	}
	return g
}

// hostPort returns the host and the port of an address as a dialer is asked for them, or "" if it has none.
func hostPort(u *url.URL) string {
	if u == nil || u.Hostname() == "" {
		return ""
	}
	host, port := canonicalHost(u.Hostname()), u.Port()
	if strings.ContainsFunc(host, func(r rune) bool { return r >= utf8.RuneSelf }) {
		if ascii, err := idna.Lookup.ToASCII(host); err == nil {
			host = ascii
		}
	}
	if port == "" {
		port = map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}[u.Scheme]
	}
	return net.JoinHostPort(host, port)
}

// SameOrigin reports whether two addresses have the same scheme, host and port, so that one may get the credentials of the other.
func SameOrigin(a, b *url.URL) bool { return a.Scheme == b.Scheme && hostPort(a) == hostPort(b) }

// proxyAddresses returns the hosts and ports of the proxies that the environment names.
func proxyAddresses() map[string]bool {
	cfg, found := httpproxy.FromEnvironment(), map[string]bool{}
	for _, raw := range []string{cfg.HTTPProxy, cfg.HTTPSProxy, os.Getenv("ALL_PROXY"), os.Getenv("all_proxy")} {
		u, err := url.Parse(raw)
		if err != nil || u.Host == "" {
			u, err = url.Parse("http://" + raw)
		}
		if err == nil && u.Host != "" {
			found[hostPort(u)] = true
		}
	}
	return found
}

// ownKey is the key of the host and port that a request's context permits.
type ownKey struct{}

// isOwn reports whether the operator has named a host and port, in the configuration or for the request of a context.
func (c *Client) isOwn(ctx context.Context, hostPort string) bool {
	return hostPort != "" && (c.own[hostPort] || ctx.Value(ownKey{}) == hostPort)
}

// checkAddress refuses an address that must not be reached, as far as that can be told from the address alone. What the operator has
// named is permitted, but for a scheme that is not HTTP's and a user.
func (c *Client) checkAddress(ctx context.Context, u *url.URL) error {
	if c.isOwn(ctx, hostPort(u)) && u.User == nil && (u.Scheme == "http" || u.Scheme == "https") {
		return nil
	}
	return c.guard.CheckURL(u)
}

// newDialer connects to what the operator has named and to the environment's proxies, and through the guard to all else.
func (c *Client) newDialer(base *net.Dialer) dialFunc {
	guarded, proxies := c.guard.guardDialer(base), map[string]bool{}
	if c.cfg.Proxy {
		proxies = proxyAddresses()
	}
	return func(ctx context.Context, network, addr string) (conn net.Conn, err error) {
		host, port, splitErr := net.SplitHostPort(addr)
		name := net.JoinHostPort(canonicalHost(host), port)
		if splitErr == nil && (c.isOwn(ctx, name) || proxies[name]) {
			conn, err = base.DialContext(ctx, network, addr)
		} else {
			conn, err = guarded(ctx, network, addr)
		}
		if err != nil {
			// The mark tells what goes wrong while connecting from what goes wrong later.
			return nil, &dialError{err: err}
		}
		return conn, nil
	}
}

// plainHeaders are those that a request may carry to another host: they hold no credentials.
var plainHeaders = []string{"Accept", "Accept-Encoding", "Accept-Language", "If-Modified-Since", "If-None-Match", "Range", "User-Agent"}

var errBodyElsewhere = errors.New("redirect leads elsewhere with the body of the request")

// checkRedirect decides about following one more redirect, and takes everything from it that another host must not see.
func (c *Client) checkRedirect(req *http.Request, via []*http.Request) error {
	if len(via) > c.cfg.MaxRedirects {
		return errTooManyRedirects
	}
	if err := c.checkAddress(req.Context(), req.URL); err != nil {
		return err
	}
	first := via[0].URL
	if first.Scheme == "https" && req.URL.Scheme != "https" && via[0].Header.Get("Authorization") != "" {
		return errDowngrade
	}
	elsewhere := !SameOrigin(first, req.URL) || slices.ContainsFunc(via, func(r *http.Request) bool { return !SameOrigin(first, r.URL) })
	if !elsewhere {
		return nil
	}
	if req.ContentLength != 0 || req.Body != nil && req.Body != http.NoBody {
		return errBodyElsewhere
	}
	for name := range req.Header {
		if !slices.ContainsFunc(plainHeaders, func(plain string) bool { return strings.EqualFold(plain, name) }) {
			delete(req.Header, name)
		}
	}
	return nil
}
