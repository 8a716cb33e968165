package email

import (
	"context"
	"fmt"
	"net"
	"strconv"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/sdk/notify"
)

// newGuard makes the guard for servers that a recipient names. Mail servers listen on many ports.
func newGuard(allow []string) (*httpx.Guard, error) {
	return httpx.NewGuard(httpx.GuardConfig{Allow: allow, AnyPort: true, Hint: "allow_hosts in the configuration can permit it"})
}

// checkAddress refuses a server that can be told to be private from its address alone.
func (s *server) checkAddress(guard *httpx.Guard) error {
	port, err := strconv.ParseUint(s.port, 10, 16)
	if err != nil {
		return err
	}
	if err := guard.CheckHost(s.host, uint16(port)); err != nil {
		return fmt.Errorf("%s: %w", s.dialAddress(), err)
	}
	return nil
}

// connectServer opens the connection to the server: anywhere if the configuration names it, where the guard permits it if the
// recipient does.
func (d *delivery) connectServer(ctx context.Context) (net.Conn, error) {
	if d.server == d.channel.server {
		return new(net.Dialer).DialContext(ctx, "tcp", d.server.dialAddress())
	}
	conn, err := d.guard.DialContext(ctx, "tcp", d.server.dialAddress())
	if words := httpx.FindRefusal(err); words != "" {
		return nil, notify.Permanent(httpx.ReasonRefused, "%s: %s", d.server.dialAddress(), words)
	}
	return conn, err
}
