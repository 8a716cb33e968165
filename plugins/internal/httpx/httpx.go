// Package httpx is the one outgoing HTTP client of the plugins: bounded bodies, deadlines, redirects off unless asked
// for, errors in the words of sdk/errs, and a guard against requests to inner networks.
//
// No error of this package holds a query, a header or a body.
package httpx

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Defaults of a Config.
const (
	DefaultMaxBody       = 15 << 20
	DefaultDialTimeout   = 10 * time.Second
	defaultIdlePerHost   = 256
	defaultIdleTimeout   = 90 * time.Second
	defaultPingInterval  = 30 * time.Second
	defaultPingTimeout   = 15 * time.Second
	defaultHeaderBytes   = 256 << 10
	defaultContinueDelay = time.Second
)

// Config configures a Client. The zero value is useful for absolute addresses.
type Config struct {
	// BaseURL is what Endpoint resolves against; it may have a path, but neither query nor fragment nor user.
	BaseURL string
	// Timeout bounds Do from the first byte sent to the last byte read; 0 leaves it to the context.
	Timeout time.Duration
	// HeaderTimeout bounds the wait between the request and the answer's header; 0 leaves it to Timeout.
	HeaderTimeout time.Duration
	// DialTimeout bounds connecting and the TLS handshake, each; 0 means DefaultDialTimeout.
	DialTimeout time.Duration
	// MaxBody is the largest answer that Do reads, in bytes; 0 means DefaultMaxBody.
	MaxBody int64
	// UserAgent is sent with every request; empty sends none.
	UserAgent string
	// Proxy takes a proxy from the environment. Where one is used it connects to the target, of which only the name or a literal address is
	// checked; the proxy's own rules count then.
	Proxy bool
	// MaxRedirects is how many redirects are followed; 0 returns a redirect as it is. Another host or port gets neither credentials nor
	// bodies.
	MaxRedirects int
	// Compression asks for gzip and unpacks it. Without it the bytes of the body are those of the wire.
	Compression bool
	// Guard decides which addresses may be reached; nil stands for one that permits the public internet on all ports.
	Guard *Guard
	// Own are addresses that stand in the instance's own configuration: these very hosts and ports may be private. BaseURL is one of them
	// unless there is a Guard. An address that a user, a caller or another server names does not belong here.
	Own []*url.URL
	// TracePath says that paths hold no secret, so that spans may show them.
	TracePath bool
	// TLS replaces the TLS configuration, for private certificate authorities. Versions below 1.2 are not accepted.
	TLS *tls.Config
}

// Client performs requests. It is safe for concurrent use. Close it to let idle connections go.
type Client struct {
	cfg   Config
	base  *url.URL
	guard *Guard
	// own holds the hosts and ports of Config.Own.
	own       map[string]bool
	transport *http.Transport
	http      *http.Client
	buffers   sync.Pool
}

// New checks cfg and makes a Client. It opens no connection.
func New(cfg Config) (*Client, error) {
	if cfg.MaxBody == 0 {
		cfg.MaxBody = DefaultMaxBody
	}
	if cfg.DialTimeout == 0 {
		cfg.DialTimeout = DefaultDialTimeout
	}
	c := &Client{cfg: cfg, guard: cfg.Guard, own: map[string]bool{}}
	if c.guard == nil {
		c.guard = defaultGuard()
	}
	c.buffers.New = func() any { return new(buffer) }
	if cfg.BaseURL != "" {
		base, err := ParseBase(cfg.BaseURL)
		if err != nil {
			return nil, fmt.Errorf("make HTTP client: %w", err)
		}
		c.base = base
		c.own[hostPort(base)] = cfg.Guard == nil
	}
	for _, u := range cfg.Own {
		c.own[hostPort(u)] = true
	}
	c.transport = c.newTransport()
	c.http = &http.Client{Transport: c.transport, CheckRedirect: c.checkRedirect}
	return c, nil
}

// ParseBase checks an address that may serve as Config.BaseURL. A slash at its end is dropped.
func ParseBase(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return nil, errors.New("address cannot be parsed")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("address must start with http:// or https://")
	case u.Hostname() == "":
		return nil, errors.New("address has no host")
	case u.User != nil:
		return nil, errors.New("address must not hold a user or password")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, errors.New("address must not have a query or fragment")
	}
	u.Path = strings.TrimRight(u.Path, "/")
	u.RawPath = ""
	return u, nil
}

func (c *Client) newTransport() *http.Transport {
	cfg := c.cfg
	dialer := &net.Dialer{Timeout: cfg.DialTimeout, KeepAlive: 30 * time.Second}
	tlsConfig := &tls.Config{}
	if cfg.TLS != nil {
		tlsConfig = cfg.TLS.Clone()
	}
	if tlsConfig.MinVersion < tls.VersionTLS12 {
		tlsConfig.MinVersion = tls.VersionTLS12
	}
	t := &http.Transport{
		DialContext:            c.newDialer(dialer),
		TLSClientConfig:        tlsConfig,
		TLSHandshakeTimeout:    cfg.DialTimeout,
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: defaultPingInterval, PingTimeout: defaultPingTimeout},
		DisableCompression:     !cfg.Compression,
		MaxIdleConns:           2 * defaultIdlePerHost,
		MaxIdleConnsPerHost:    defaultIdlePerHost,
		IdleConnTimeout:        defaultIdleTimeout,
		ResponseHeaderTimeout:  cfg.HeaderTimeout,
		ExpectContinueTimeout:  defaultContinueDelay,
		MaxResponseHeaderBytes: defaultHeaderBytes,
	}
	if cfg.Proxy {
		t.Proxy = http.ProxyFromEnvironment
	}
	return t
}

type dialFunc func(ctx context.Context, network, addr string) (net.Conn, error)

type dialError struct{ err error }

func (e *dialError) Error() string { return "dial: " + e.err.Error() }
func (e *dialError) Unwrap() error { return e.err }

// Endpoint returns the address of a path below BaseURL. path starts with a slash and is taken as it is, unescaped.
// The result must not be changed if it is to be used for several requests.
func (c *Client) Endpoint(path string) *url.URL {
	if c.base == nil {
		return &url.URL{Path: path}
	}
	u := *c.base
	u.Path += path
	return &u
}

// Close closes idle connections. Requests under way are not affected.
func (c *Client) Close() error {
	c.transport.CloseIdleConnections()
	return nil
}
