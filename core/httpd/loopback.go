package httpd

import (
	"net"
	"net/url"
	"slices"
	"strings"
)

// IsLoopbackHost reports whether a host of a URL is this machine: localhost, or a loopback address.
func IsLoopbackHost(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// IsOwnHost reports whether the Host header of a request is one under which no page of another site can reach this server in a browser: an
// address, localhost, or the host of one of the URLs. Any other name may have been made to resolve to this machine.
func IsOwnHost(host string, urls ...string) bool {
	host = hostWithoutPort(host)
	return net.ParseIP(host) != nil || host == "localhost" || slices.ContainsFunc(urls, func(text string) bool {
		u, err := url.Parse(text)
		return err == nil && u.Host != "" && strings.EqualFold(u.Hostname(), host)
	})
}
