package operator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/privatedir"
)

const (
	headerTimeout = 10 * time.Second
	// closeTimeout is how long requests may take when the core stops.
	closeTimeout = time.Second
)

// Config is what the API works with.
type Config struct {
	// Paths are those of SocketPaths.
	Paths   []string
	Core    Core
	Plugins Plugins
	Jobs    Jobs
	Audit   Audit
	Logger  hclog.Logger
}

// Server serves the API.
type Server struct {
	cfg  Config
	path string
	http *http.Server
	// cancel ends the streams.
	cancel context.CancelFunc
	ended  chan struct{}
}

// Serve opens the socket at the first of the paths that is safe, and answers on it until Close.
func Serve(cfg Config) (*Server, error) {
	l, path, err := listenFirst(cfg.Paths)
	if err != nil {
		return nil, fmt.Errorf("no directory can hold the socket for commands of the operator: %w", err)
	}
	base, cancel := context.WithCancel(context.Background())
	s := &Server{cfg: cfg, path: path, cancel: cancel, ended: make(chan struct{})}
	s.http = &http.Server{
		Handler: s.checkCaller(s.newMux()), ReadHeaderTimeout: headerTimeout,
		BaseContext: func(net.Listener) context.Context { return base },
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, conn)
		},
		ErrorLog: log.New(debugWriter{cfg.Logger}, "", 0),
	}
	go func() {
		defer close(s.ended)
		if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			cfg.Logger.Error("command socket closed", "error", err)
		}
	}()
	return s, nil
}

// Path is where the socket lies.
func (s *Server) Path() string { return s.path }

// Close ends the streams, gives other requests a second, and removes the socket.
func (s *Server) Close() {
	s.cancel()
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if s.http.Shutdown(ctx) != nil {
		_ = s.http.Close()
	}
	<-s.ended
}

// debugWriter writes what net/http says about clients to the debug log.
type debugWriter struct{ log hclog.Logger }

// Write implements io.Writer.
func (w debugWriter) Write(p []byte) (int, error) {
	w.log.Debug("operator socket", "message", string(p))
	return len(p), nil
}

type connKey struct{}

// checkCaller refuses everybody but root and the core's own user, and names the caller to the audit.
func (s *Server) checkCaller(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		uid, err := callerUID(r.Context())
		if err != nil || uid != 0 && uid != os.Geteuid() {
			s.writeError(w, fault.Wrap(err, fault.Forbidden, "Only root and the user that runs the core can do this."))
			return
		}
		ctx := auth.Acting(r.Context(), auth.Actor{Name: fmt.Sprintf("uid %d", uid), Via: auth.ViaCommand})
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// callerUID returns the user at the other end of a request's connection.
func callerUID(ctx context.Context) (int, error) {
	conn, ok := ctx.Value(connKey{}).(*net.UnixConn)
	if !ok {
		return 0, errors.New("the request has not come by a Unix socket")
	}
	_, uid, err := privatedir.Peer(conn)
	return uid, err
}

// newMux returns the routes.
func (s *Server) newMux() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", answerWith(s, func(r *http.Request) (Status, error) { return s.cfg.Core.Status(r.Context()) }))
	mux.HandleFunc("POST /reload", answerWith(s, s.reload))
	mux.HandleFunc("POST /upgrade/begin", answerWith(s, func(r *http.Request) (Upgrade, error) { return s.cfg.Core.BeginUpgrade(r.Context()) }))
	mux.HandleFunc("POST /upgrade/end", answerWith(s, func(r *http.Request) (Upgrade, error) { return Upgrade{}, s.cfg.Core.EndUpgrade(r.Context()) }))
	mux.HandleFunc("GET /plugins", answerWith(s, s.listPlugins))
	mux.HandleFunc("POST /plugins/{ref}/restart", answerWith(s, s.restartPlugin))
	mux.HandleFunc("GET /plugins/{ref}/logs", s.sendLogs)
	mux.HandleFunc("GET /jobs", answerWith(s, s.listJobs))
	mux.HandleFunc("GET /jobs/{id}", answerWith(s, s.showJob))
	mux.HandleFunc("POST /jobs/{id}/cancel", answerWith(s, s.cancelJob))
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		s.writeError(w, fault.New(fault.NotFound, "The running core does not know this command: its version differs from this program's."))
	})
	return mux
}

// answerWith returns a handler that answers with what do returns.
func answerWith[T any](s *Server, do func(*http.Request) (T, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := do(r)
		if err != nil {
			s.writeError(w, err)
			return
		}
		writeJSON(w, http.StatusOK, body)
	}
}

// writeError answers with the common error body.
func (s *Server) writeError(w http.ResponseWriter, err error) {
	f := fault.As(err)
	if f.Code == fault.Internal {
		s.cfg.Logger.Error("command failed", "error", err)
	}
	writeJSON(w, fault.StatusOf(f), map[string]any{"code": f.Code, "message": f.Message})
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// record writes into the audit what the caller has done.
func (s *Server) record(ctx context.Context, action, object string, failure error) {
	if err := s.cfg.Audit.Record(context.WithoutCancel(ctx), action, object, failure); err != nil {
		s.cfg.Logger.Error("cannot write a command to the audit log", "action", action, "object", object, "error", err)
	}
}

// reload reads the configuration again. It goes on when the caller does not wait.
func (s *Server) reload(r *http.Request) (Reload, error) {
	out := s.cfg.Core.Reload(context.WithoutCancel(r.Context()))
	var failure error
	if !out.Accepted {
		failure = fault.New(fault.InvalidArgument, "The configuration is not valid.")
	}
	s.record(r.Context(), "core.reload", "", failure)
	return out, nil
}
