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
	// MessagesPerMinute bounds the messages of one address, LoopbackPerMinute those of programs on this machine; 0 means no bound.
	MessagesPerMinute, LoopbackPerMinute int
	// AnswerDelay is how late a client is answered that sends too much without a message; 0 means the default.
	AnswerDelay time.Duration
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
	cfg ServerConfig
	// plain and secured speak SMTP, before and after STARTTLS; handedOver has the connections of secured.
	plain, secured *smtp.Server
	handedOver     *handOver
	tls            *tls.Config
	// messages and local bound the messages of other machines and of this one.
	messages, local *limit.Limiter
	gate            *connectionGate
	ctx             context.Context
	cancel          context.CancelFunc
	served          sync.WaitGroup
	// listening are the addresses in use.
	listening []net.Addr
}

// NewServer returns a server that is not listening yet. It fails for a certificate that cannot be used.
func NewServer(cfg ServerConfig) (*Server, error) {
	if cfg.AnswerDelay == 0 {
		cfg.AnswerDelay = answerDelay
	}
	s := &Server{cfg: cfg, handedOver: newHandOver()}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	var err error
	if s.messages, err = newRateLimiter(cfg.MessagesPerMinute); err != nil {
		return nil, err
	}
	if s.local, err = newRateLimiter(cfg.LoopbackPerMinute); err != nil {
		return nil, err
	}
	s.gate = newConnectionGate(cfg.MaxConnections, cfg.MaxPerClient, s.metrics())
	s.plain, s.secured = s.newSMTP(), s.newSMTP()
	if cfg.CertFile != "" {
		certificate := &certificateFile{cert: cfg.CertFile, key: cfg.KeyFile, logger: cfg.Logger}
		if _, err := certificate.loadCertificate(); err != nil {
			return nil, err
		}
		s.tls = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: certificate.getCertificate}
		// The library offers STARTTLS, which the front does.
		s.plain.TLSConfig = s.tls
	}
	return s, nil
}

// newSMTP returns a server of the library.
func (s *Server) newSMTP() *smtp.Server {
	out := smtp.NewServer(smtp.BackendFunc(s.newSession))
	out.Domain = s.cfg.Hostname
	out.MaxMessageBytes, out.MaxRecipients, out.MaxLineLength = s.cfg.MaxBytes, s.cfg.MaxRecipients, maxLine
	out.ReadTimeout, out.WriteTimeout = s.cfg.Timeout, s.cfg.Timeout
	out.EnableSMTPUTF8 = true
	out.ErrorLog = smtpLog{s.cfg.Logger}
	return out
}

// newRateLimiter returns a limiter of messages in a minute, nil for no limit.
func newRateLimiter(perMinute int) (*limit.Limiter, error) {
	if perMinute <= 0 {
		return nil, nil
	}
	return limit.New(limit.Config{Burst: perMinute, Every: time.Minute / time.Duration(perMinute)})
}

// limiterFor returns what bounds the messages of a client, or nil.
func (s *Server) limiterFor(client string) *limit.Limiter {
	if addr, err := netip.ParseAddr(client); err == nil && addr.IsLoopback() && s.cfg.LoopbackPerMinute > 0 {
		return s.local
	}
	return s.messages
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
	s.served.Go(func() { _ = s.secured.Serve(s.handedOver) })
	for _, l := range listeners {
		s.listening = append(s.listening, l.Addr())
		s.served.Go(func() {
			gated := s.gate.wrap(s.withProxies(l))
			defer gated.Close()
			if err := s.plain.Serve(frontListener{gated, s}); err != nil && !errors.Is(err, net.ErrClosed) {
				s.cfg.Logger.Error("SMTP listener stopped", "address", l.Addr().String(), "error", err)
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
	_ = s.plain.Shutdown(ctx)
	_ = s.secured.Shutdown(ctx)
	s.cancel()
	_ = s.plain.Close()
	_ = s.secured.Close()
	_ = s.handedOver.Close()
	s.served.Wait()
}

// newSession implements smtp.Backend.
func (s *Server) newSession(c *smtp.Conn) (smtp.Session, error) {
	client := ""
	if addr, err := netip.ParseAddrPort(c.Conn().RemoteAddr().String()); err == nil {
		client = addr.Addr().Unmap().WithZone("").String()
	}
	return &session{server: s, conn: c, front: asFront(c.Conn()), client: client}, nil
}

// withProxies returns l with the addresses that trusted proxies name. Nobody else is waited for or believed: what begins as the
// header is an unknown command.
func (s *Server) withProxies(l net.Listener) net.Listener {
	if len(s.cfg.Proxies) == 0 {
		return l
	}
	return &proxyproto.Listener{Listener: l, ReadHeaderTimeout: proxyHeaderTime,
		ConnPolicy: func(o proxyproto.ConnPolicyOptions) (proxyproto.Policy, error) {
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
