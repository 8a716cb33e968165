package settings

import (
	"fmt"
	"net"
	"strings"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/module"
)

// URL returns where a person on this machine reaches the core, whose listener has the address addr: public_url, or this
// machine.
func (s *Settings) URL(addr string) string {
	if s.Core.PublicURL != "" {
		return strings.TrimSuffix(s.Core.PublicURL, "/")
	}
	return localURL(addr)
}

// localURL returns how this machine reaches a listener.
func localURL(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "http://" + addr
	}
	if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() || ip.IsLoopback() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// Access returns the rules by which the guard of all routes decides. clients are the trusted proxies in use.
func (s *Settings) Access(clients *httpd.Clients) auth.Access {
	c := s.Core
	var urls []string
	for _, service := range s.Services {
		urls = append(urls, service.BaseURL)
	}
	return auth.Access{
		Forward: auth.Forward{
			UserHeader: c.UserHeader, GroupHeader: c.GroupHeader, AllowedUser: c.AllowedUser, AllowedGroup: c.AllowedGroup,
			Secret: c.ProxySecret.Reveal(),
		},
		Anonymous: c.Anonymous, Trusted: clients, PublicURL: c.PublicURL, BaseURLs: urls,
	}
}

// OpenToAll reports whether callers without an identity may administer from anywhere.
func (s *Settings) OpenToAll() bool { return s.Access(nil).OpenToAll() }

// Front returns how people reach the core according to these settings.
func (s *Settings) Front() (module.Front, error) {
	clients, err := httpd.NewClients(s.Core.TrustedProxies)
	if err != nil {
		return module.Front{}, fmt.Errorf("read trusted_proxies: %w", err)
	}
	return module.Front{HTTPAddr: s.Core.HTTPAddr, PublicURL: s.Core.PublicURL, TrustedProxies: s.Core.TrustedProxies,
		Access: s.Access(clients)}, nil
}
