package httpd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/sdk/tracing"
)

const (
	headerTimeout  = 10 * time.Second
	idleTimeout    = 2 * time.Minute
	maxHeaderBytes = 64 << 10
)

// Server is one listener. Its routing can be replaced while it serves.
type Server struct {
	http     *http.Server
	listener net.Listener
	current  atomic.Pointer[http.Handler]
	drain    context.CancelFunc
	// cutOff ends what Detach has handed out.
	cutOff context.CancelFunc
	// newcomers are the connections whose first request has not come to its handler.
	newcomers newcomers
	ended     sync.WaitGroup
	failed    chan error
}

// Listen takes an address such as 0.0.0.0:50883. setting is the name under which an operator finds it, for the error.
func Listen(addr, setting string, logger hclog.Logger) (*Server, error) {
	var config net.ListenConfig
	config.SetMultipathTCP(false) // refuseNew can do nothing with its sockets
	l, err := config.Listen(context.Background(), "tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("the address %s is taken by %s: stop it, or set %s to a free one", addr,
			cmp.Or(PortHolder(addr), "another program"), setting)
	case err != nil:
		return nil, fmt.Errorf("cannot listen on %s (setting %s): %w", addr, setting, err)
	}
	base, drain := context.WithCancel(context.Background())
	life, cutOff := context.WithCancel(context.WithValue(context.Background(), drainKey{}, base.Done()))
	s := &Server{listener: l, drain: drain, cutOff: cutOff, failed: make(chan error, 1)}
	s.http = &http.Server{
		Handler:           http.HandlerFunc(s.serveHTTP),
		ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
		BaseContext: func(net.Listener) context.Context {
			return context.WithValue(life, lifeKey{}, life)
		},
		ConnContext: s.newcomers.addConn,
		ConnState:   s.newcomers.noteState,
		ErrorLog:    log.New(quietErrors{logger}, "", 0),
	}
	return s, nil
}

// CheckAddr reports whether addr is a host and a port that a Server may listen on. It asks for nothing of the machine: the
// host may be a name that does not resolve.
func CheckAddr(addr string) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("%q must be host:port, such as 127.0.0.1:50883 or :50883", addr)
	}
	if _, err := net.LookupPort("tcp", port); err != nil {
		return fmt.Errorf("%q has the port %q: write a number from 0 to 65535", addr, port)
	}
	if strings.ContainsAny(host, " /@") {
		return fmt.Errorf("%q has the host %q, which is neither an address nor a name", addr, host)
	}
	return nil
}

// DialAddr returns addr, or an address that can be dialled where it stands for all interfaces.
func DialAddr(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// ProbeAddr reports whether this machine has the address. One that is in use, or that only another user may listen on, is
// no error.
func ProbeAddr(addr string) error {
	l, err := net.Listen("tcp", addr)
	if err == nil {
		return l.Close()
	}
	if errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return fmt.Errorf("cannot listen on %s: %w", addr, err)
}

// quietErrors sends net/http's complaints about clients to the debug log.
type quietErrors struct{ log hclog.Logger }

func (q quietErrors) Write(p []byte) (int, error) {
	q.log.Debug("http server", "message", string(p))
	return len(p), nil
}

// Addr is the address in use; a port 0 has become a real one.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Handle replaces the routing. Requests that are under way keep the old one.
func (s *Server) Handle(h http.Handler) { s.current.Store(&h) }

// Mount builds the routing of all services and puts it into use. On an error the old one stays.
func (s *Server) Mount(mounts []Mount, opts Options) error {
	h, err := NewHandler(mounts, opts)
	if err != nil {
		return err
	}
	s.Handle(h)
	return nil
}

// NewHandler builds the routing of all services.
func NewHandler(mounts []Mount, opts Options) (http.Handler, error) { return newMux(mounts, opts) }

func (s *Server) serveHTTP(w http.ResponseWriter, r *http.Request) {
	s.newcomers.noteRequest(r)
	if h := s.current.Load(); h != nil {
		(*h).ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Retry-After", "1")
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = io.WriteString(w, `{"code":"not_ready","message":"The core is starting."}`)
}

// Serve answers requests until Shutdown. It returns at once.
func (s *Server) Serve() {
	s.ended.Go(func() {
		if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
			s.failed <- err
		}
	})
}

// Failed gets the error if the listener breaks.
func (s *Server) Failed() <-chan error { return s.failed }

// Shutdown accepts no more, tells the streams to end, and waits for the requests that are under way until ctx ends;
// then it cuts them off. On Linux, whoever has
// just connected gets an answer.
func (s *Server) Shutdown(ctx context.Context) error {
	s.drain()
	s.refuseNew(ctx)
	err := s.http.Shutdown(ctx)
	if err != nil {
		_ = s.http.Close()
	}
	s.cutOff()
	// net/http knows the listener only once it serves.
	_ = s.listener.Close()
	s.ended.Wait()
	return err
}

type (
	drainKey struct{}
	lifeKey  struct{}
)

// Detach returns a context for work that must come to its end though the client of the request with ctx has gone. It
// ends when the server cuts off what has not finished at its shutdown. It has no value of the request but its span.
func Detach(ctx context.Context) context.Context {
	if life, ok := ctx.Value(lifeKey{}).(context.Context); ok {
		return tracing.Transfer(life, ctx)
	}
	return context.WithoutCancel(ctx)
}

// Draining is closed when the server begins to shut down: streams that would go on for ever end then.
func Draining(ctx context.Context) <-chan struct{} {
	ch, _ := ctx.Value(drainKey{}).(<-chan struct{})
	return ch
}
