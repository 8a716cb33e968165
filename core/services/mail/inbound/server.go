package inbound

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/hashicorp/go-hclog"
	"github.com/pires/go-proxyproto"

	"github.com/patchbay-dev/patchbay/core/auth/limit"
)

// ServerConfig says how mail is taken in by SMTP. Numbers must be positive.
type ServerConfig struct {
	Ingester *Ingester
	Logger   hclog.Logger
	// Addresses are where it listens, such as 127.0.0.1:2525.
	Addresses []string
	// Hostname is the name in the greeting.
	Hostname string
	// MaxBytes is the largest message, MaxRecipients the largest number of its recipients.
	MaxBytes      int64
	MaxRecipients int
	// MaxConnections bounds the open connections, MaxPerClient those of one address.
	MaxConnections, MaxPerClient int
	// MessagesPerMinute bounds the messages of one address; 0 means no bound.
	MessagesPerMinute int
	// Timeout is how long a client may be silent, and how long a message may take.
	Timeout time.Duration
	// CertFile and KeyFile are PEM files that make STARTTLS possible; empty for no STARTTLS.
	CertFile, KeyFile string
	// Proxies are those whose connections begin with a header of the PROXY protocol.
	Proxies []netip.Prefix
}

const (
	// maxLine is the longest line of a message, in bytes. Mail has lines far above the 998 of the standard.
	maxLine = 256 << 10
	// maxConnectionTime is how long a connection may be open.
	maxConnectionTime = 30 * time.Minute
	// proxyHeaderTime is how long a proxy may take for its header.
	proxyHeaderTime = 10 * time.Second
	// drainTime is how long messages under way may take when the server stops.
	drainTime = 5 * time.Second
)

// Server takes mail in by SMTP.
type Server struct {
	cfg      ServerConfig
	smtp     *smtp.Server
	messages *limit.Limiter
	gate     *connectionGate
	ctx      context.Context
	cancel   context.CancelFunc
	served   sync.WaitGroup
	// listening are the addresses in use.
	listening []net.Addr
}

// NewServer returns a server that is not listening yet. It fails for a certificate that cannot be used.
func NewServer(cfg ServerConfig) (*Server, error) {
	s := &Server{cfg: cfg}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if n := cfg.MessagesPerMinute; n > 0 {
		var err error
		if s.messages, err = limit.New(limit.Config{Burst: n, Every: time.Minute / time.Duration(n)}); err != nil {
			return nil, err
		}
	}
	s.gate = newConnectionGate(cfg.MaxConnections, cfg.MaxPerClient, s.metrics())
	s.smtp = smtp.NewServer(smtp.BackendFunc(s.newSession))
	s.smtp.Domain = cfg.Hostname
	s.smtp.MaxMessageBytes, s.smtp.MaxRecipients, s.smtp.MaxLineLength = cfg.MaxBytes, cfg.MaxRecipients, maxLine
	s.smtp.ReadTimeout, s.smtp.WriteTimeout = cfg.Timeout, cfg.Timeout
	s.smtp.EnableSMTPUTF8 = true
	s.smtp.ErrorLog = smtpLog{cfg.Logger}
	if cfg.CertFile != "" {
		certificate := &certificateFile{cert: cfg.CertFile, key: cfg.KeyFile, logger: cfg.Logger}
		if _, err := certificate.load(); err != nil {
			return nil, err
		}
		s.smtp.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: certificate.getCertificate}
	}
	return s, nil
}

func (s *Server) metrics() *Metrics { return s.cfg.Ingester.cfg.Metrics }

// Start listens on all addresses, or on none: then it fails.
func (s *Server) Start() error {
	var listeners []net.Listener
	for _, address := range s.cfg.Addresses {
		l, err := net.Listen("tcp", address)
		if err != nil {
			for _, open := range listeners {
				_ = open.Close()
			}
			return fmt.Errorf("listen for mail: %w", err)
		}
		listeners = append(listeners, l)
	}
	for _, l := range listeners {
		s.listening = append(s.listening, l.Addr())
		s.served.Go(func() {
			gated := s.gate.wrap(s.withProxies(l))
			defer gated.Close()
			if err := s.smtp.Serve(gated); err != nil && !errors.Is(err, net.ErrClosed) {
				s.cfg.Logger.Error("mail is not taken in any more", "address", l.Addr().String(), "error", err)
			}
		})
	}
	return nil
}

// Addresses returns where the server listens.
func (s *Server) Addresses() []net.Addr { return s.listening }

// Close stops listening, gives messages under way a few seconds, and closes what is left.
func (s *Server) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	s.gate.closeIdle()
	_ = s.smtp.Shutdown(ctx)
	s.cancel()
	_ = s.smtp.Close()
	s.served.Wait()
}

// newSession implements smtp.Backend.
func (s *Server) newSession(c *smtp.Conn) (smtp.Session, error) {
	client := ""
	if addr, err := netip.ParseAddrPort(c.Conn().RemoteAddr().String()); err == nil {
		client = addr.Addr().Unmap().WithZone("").String()
	}
	return &session{server: s, conn: c, client: client}, nil
}

// withProxies returns l with the addresses that trusted proxies name. Nobody else is waited for or believed: what begins as the
// header is an unknown command.
func (s *Server) withProxies(l net.Listener) net.Listener {
	if len(s.cfg.Proxies) == 0 {
		return l
	}
	return &proxyproto.Listener{Listener: l, ReadHeaderTimeout: proxyHeaderTime, ConnPolicy: func(o proxyproto.ConnPolicyOptions) (proxyproto.Policy, error) {
		if addr, err := netip.ParseAddrPort(o.Upstream.String()); err == nil {
			for _, p := range s.cfg.Proxies {
				if p.Contains(addr.Addr().Unmap()) {
					return proxyproto.REQUIRE, nil
				}
			}
		}
		return proxyproto.SKIP, nil
	}}
}

// smtpLog writes what the library reports to the log.
type smtpLog struct{ log hclog.Logger }

// Printf implements smtp.Logger.
func (l smtpLog) Printf(format string, v ...any) {
	l.log.Warn("smtp", "message", fmt.Sprintf(format, v...))
}

// Println implements smtp.Logger.
func (l smtpLog) Println(v ...any) { l.log.Warn("smtp", "message", fmt.Sprint(v...)) }
