package settings

import (
	"errors"
	"io/fs"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/patchbay-dev/patchbay/config"
	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// minProxySecret is the shortest proxy_secret, in bytes.
const minProxySecret = 16

// checkCore finds what the types of the block core cannot express.
func checkCore(block *config.Block, c Core) config.Diagnostics {
	var found schema.Diagnostics
	if c.PublicURL != "" {
		u, err := url.Parse(c.PublicURL)
		switch {
		case err != nil || u.Host == "" || !slices.Contains([]string{"http", "https"}, u.Scheme):
			found = append(found, schema.Errorf(schema.At("public_url"), "must be an absolute http(s) URL, such as https://patchbay.example.com")...)
		case u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "":
			found = append(found, schema.Errorf(schema.At("public_url"),
				"must have no path: give Patchbay a host name of its own, such as https://patchbay.example.com")...)
		}
	}
	if n := len(c.ProxySecret.Reveal()); n > 0 && n < minProxySecret {
		found = append(found, schema.Errorf(schema.At("proxy_secret"), "must have at least %d characters", minProxySecret)...)
	}
	found = append(found, checkAddrs(c)...)
	_, err := httpd.NewClients(c.TrustedProxies)
	found = append(found, diagnosticAt("trusted_proxies", err)...)
	if key := c.SecretKey.Reveal(); strings.TrimSpace(key) != "" {
		_, err := secret.ReadKeyring(secret.Options{Env: key})
		found = append(found, diagnosticAt("secret_key", err)...)
	}
	for _, least := range []struct {
		name           string
		value, atLeast int64
	}{{"max_connections", c.MaxConnections, 16}, {"max_connections_each", c.MaxConnectionsEach, 16}, {"max_streams", c.MaxStreams, 1},
		{"max_streams_each", c.MaxStreamsEach, 1}} {
		if least.value < least.atLeast {
			found = append(found, schema.Errorf(schema.At(least.name), "must be at least %d", least.atLeast)...)
		}
	}
	if c.NodeID != "" {
		found = append(found, diagnosticAt("node_id", cluster.CheckID(c.NodeID))...)
	}
	if c.Drain < 0 {
		found = append(found, schema.Errorf(schema.At("drain"), "must not be negative")...)
	}
	return block.Locate(found)
}

// diagnosticAt returns err as a diagnostic of a setting, or none if err is nil.
func diagnosticAt(setting string, err error) schema.Diagnostics {
	if err == nil {
		return nil
	}
	return schema.Errorf(schema.At(setting), "%v", err)
}

// checkAddrs checks the addresses of both listeners, and that they do not take each other's.
func checkAddrs(c Core) schema.Diagnostics {
	httpErr, adminErr := httpd.CheckAddr(c.HTTPAddr), httpd.CheckAddr(c.AdminAddr)
	found := append(diagnosticAt("http_addr", httpErr), diagnosticAt("admin_addr", adminErr)...)
	if httpErr == nil && adminErr == nil && addressesOverlap(c.HTTPAddr, c.AdminAddr) {
		found = append(found, schema.Errorf(schema.At("admin_addr"), "is the address of http_addr, %s: name another port", c.HTTPAddr)...)
	}
	return found
}

// addressesOverlap reports whether one of two valid addresses cannot be listened on while the other is in use. Names of hosts are
// compared as they are written.
func addressesOverlap(a, b string) bool {
	hostA, portA, _ := net.SplitHostPort(a)
	hostB, portB, _ := net.SplitHostPort(b)
	na, _ := net.LookupPort("tcp", portA)
	nb, _ := net.LookupPort("tcp", portB)
	return na == nb && na != 0 && (hostA == hostB || isUnspecified(hostA) || isUnspecified(hostB))
}

// isUnspecified reports whether a host stands for all addresses of the machine.
func isUnspecified(host string) bool {
	ip := net.ParseIP(host)
	return host == "" || ip != nil && ip.IsUnspecified()
}

// CheckMachine finds what a start would refuse of this machine: addresses that it does not have, a key file that cannot be
// used, a data directory that is none. It leaves nothing behind, and a core may be running.
func (s *Settings) CheckMachine() config.Diagnostics {
	var found schema.Diagnostics
	for _, l := range []struct{ setting, addr string }{{"http_addr", s.Core.HTTPAddr}, {"admin_addr", s.Core.AdminAddr}} {
		found = append(found, diagnosticAt(l.setting, httpd.ProbeAddr(l.addr))...)
	}
	if info, err := os.Stat(s.DataDir); err == nil && !info.IsDir() {
		found = append(found, schema.Errorf(schema.At("data_dir"), "%s is not a directory", s.DataDir)...)
	} else if _, err := secret.ReadKeyring(s.Keyring()); !errors.Is(err, fs.ErrNotExist) {
		found = append(found, diagnosticAt("data_dir", err)...)
	}
	return append(s.File.Core().Locate(found), s.CheckBackupFolder()...)
}
