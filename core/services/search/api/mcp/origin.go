package mcp

import (
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/patchbay-dev/patchbay/core/fault"
)

// Origins knows under which names the endpoint is reached. It keeps pages of other sites from using a browser as their
// way to it, also where the site's name was made to resolve to this machine.
type Origins struct {
	// hosts are names without port, origins are scheme://host[:port].
	hosts   map[string]bool
	origins map[string]bool
	// public: the name of the endpoint is known, so that any other is wrong.
	public bool
}

// NewOrigins takes the absolute URLs under which the endpoint is reached; what is empty or no absolute URL is left out.
// publicURL is the one that browsers see: when it is set, requests for other hosts are refused.
func NewOrigins(publicURL, baseURL string) *Origins {
	o := &Origins{hosts: map[string]bool{"localhost": true, "127.0.0.1": true, "::1": true}, origins: map[string]bool{}}
	for i, text := range []string{publicURL, baseURL} {
		u, err := url.Parse(text)
		if err != nil || u.Host == "" {
			continue
		}
		o.hosts[strings.ToLower(u.Hostname())] = true
		o.origins[cutOrigin(u)] = true
		o.public = o.public || i == 0
	}
	return o
}

// cutOrigin leaves the usual ports out.
func cutOrigin(u *url.URL) string {
	scheme, host, port := strings.ToLower(u.Scheme), strings.ToLower(u.Hostname()), u.Port()
	if port == "" || scheme == "http" && port == "80" || scheme == "https" && port == "443" {
		return scheme + "://" + host
	}
	return scheme + "://" + net.JoinHostPort(host, port)
}

// Check refuses a foreign host or origin with a fault.
func (o *Origins) Check(r *http.Request) error {
	host := strings.ToLower(r.Host)
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	sent, fromPage := r.Header["Origin"]
	if !o.hosts[host] && (o.public || fromPage) {
		return fault.New(fault.Forbidden, "This host is not served here.")
	}
	if fromPage && (len(sent) != 1 || !o.isSameOrigin(sent[0], r.Host)) {
		return fault.New(fault.Forbidden, "Pages of other origins cannot call this address.")
	}
	return nil
}

// isSameOrigin holds for the configured origins and for the very host that was asked, which Check has found to be ours.
func (o *Origins) isSameOrigin(origin, host string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	return o.origins[cutOrigin(u)] || strings.EqualFold(u.Host, host)
}
