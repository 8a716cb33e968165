package httpd

import "net"

// IsLoopbackHost reports whether a host of a URL is this machine: localhost, or a loopback address.
func IsLoopbackHost(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
