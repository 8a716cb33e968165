package httpd

import (
	"cmp"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/fault"
)

// CoreService is the name of the mount that has the reserved paths; it is reachable on every host.
const CoreService = "core"

// reservedPrefixes returns the path prefixes that belong to the core on every host.
func reservedPrefixes() []string {
	return []string{"/system", "/assets", "/manifest.webmanifest", "/sw.js", "/.well-known"}
}

// mux passes a request to the service that is mounted at its host and path. It is immutable.
type mux struct {
	core   http.Handler
	mounts []mounted
}

type mounted struct {
	host    string // "" for every host
	prefix  string // "" for the root
	handler http.Handler
}

// newMux builds the engines of all mounts.
func newMux(mounts []Mount, opts Options) (*mux, error) {
	if opts.Logger == nil {
		opts.Logger = hclog.NewNullLogger()
	}
	m := &mux{}
	for _, mount := range mounts {
		host, prefix, err := splitBaseURL(mount.BaseURL)
		if err != nil {
			return nil, fmt.Errorf("service %s: %w", mount.Service, err)
		}
		engine, err := newEngine(mount, prefix, opts)
		if err != nil {
			return nil, err
		}
		if mount.Service == CoreService {
			m.core = engine
			continue
		}
		if i := slices.IndexFunc(m.mounts, func(o mounted) bool { return o.host == host && o.prefix == prefix }); i >= 0 {
			return nil, fmt.Errorf("service %s: another service is mounted at %s already", mount.Service, mount.BaseURL)
		}
		m.mounts = append(m.mounts, mounted{host: host, prefix: prefix, handler: engine})
	}
	if m.core == nil {
		engine, err := newEngine(Mount{Service: CoreService}, "", opts)
		if err != nil {
			return nil, err
		}
		m.core = engine
	}
	// The longest path wins, and among equals the one that names a host.
	slices.SortStableFunc(m.mounts, func(a, b mounted) int {
		return cmp.Or(cmp.Compare(len(b.prefix), len(a.prefix)), cmp.Compare(len(b.host), len(a.host)))
	})
	return m, nil
}

// splitBaseURL returns the host and the path of a base URL, without a trailing slash.
func splitBaseURL(baseURL string) (host, prefix string, err error) {
	if strings.HasPrefix(baseURL, "/") || baseURL == "" {
		return "", strings.TrimSuffix(baseURL, "/"), nil
	}
	u, err := url.Parse(baseURL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", "", fmt.Errorf("base_url %q is neither a path nor an http(s) URL", baseURL)
	}
	return strings.ToLower(u.Hostname()), strings.TrimSuffix(u.Path, "/"), nil
}

// ServeHTTP implements http.Handler.
func (m *mux) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Path
	if path == "/" || isReserved(path) {
		m.core.ServeHTTP(w, r)
		return
	}
	host := ""
	for _, mt := range m.mounts {
		if !isBelow(path, mt.prefix) {
			continue
		}
		if mt.host != "" {
			if host == "" {
				host = hostWithoutPort(r.Host)
			}
			if host != mt.host {
				continue
			}
		}
		mt.handler.ServeHTTP(w, r)
		return
	}
	m.core.ServeHTTP(w, r)
}

// isBelow reports whether path is prefix or lies below it.
func isBelow(path, prefix string) bool {
	return strings.HasPrefix(path, prefix) && (len(path) == len(prefix) || path[len(prefix)] == '/')
}

// isReserved reports whether path belongs to the core on every host.
func isReserved(path string) bool {
	for _, p := range reservedPrefixes() {
		if isBelow(path, p) {
			return true
		}
	}
	return false
}

// hostWithoutPort returns a host in lower case, without port and brackets.
func hostWithoutPort(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}

// newEngine makes the gin engine of one mount.
func newEngine(m Mount, prefix string, opts Options) (_ *gin.Engine, err error) {
	if strings.ContainsAny(prefix, ":*") {
		return nil, fmt.Errorf("service %s: base_url must not hold : or * in its path", m.Service)
	}
	defer func() {
		// gin panics over routes that contradict each other.
		if v := recover(); v != nil {
			err = fmt.Errorf("service %s: %v", m.Service, v)
		}
	}()
	e := gin.New()
	if err := e.SetTrustedProxies(nil); err != nil {
		return nil, err
	}
	// A gin.Context does not serve as a context.Context: gin uses its contexts again, so none may outlive its request.
	// Handlers pass c.Request.Context() on.
	e.HandleMethodNotAllowed, e.RedirectTrailingSlash = true, false
	w := &wrapper{opts: opts, service: m.Service, errors: m.Errors}
	if w.errors == nil {
		w.errors = WriteError
	}
	seen := map[string]bool{}
	for _, r := range m.Routes {
		if err := r.validate(m.Service); err != nil {
			return nil, err
		}
		if !r.Policy.byHandler() && opts.Guard == nil {
			return nil, fmt.Errorf("service %s: the route %s %s needs a guard for the policy %s", m.Service, r.Method, r.Path, r.Policy)
		}
		if key := r.Method + " " + r.Path; seen[key] {
			return nil, fmt.Errorf("service %s: the route %s is declared twice", m.Service, key)
		} else {
			seen[key] = true
		}
		e.Handle(r.Method, prefix+r.Path, w.handlerFor(r))
		if r.Path == "/" && prefix != "" {
			// People leave the last slash of a base URL out.
			e.Handle(r.Method, prefix, w.handlerFor(r))
		}
	}
	nothing := func(c *gin.Context) { w.errors(c, fault.New(fault.NotFound, "There is nothing at this address.")) }
	e.NoRoute(w.wrapHandler(DefaultBodyLimit, false, nothing))
	e.NoMethod(w.wrapHandler(DefaultBodyLimit, false, func(c *gin.Context) {
		if path := cmp.Or(strings.TrimPrefix(c.Request.URL.Path, prefix), "/"); !slices.ContainsFunc(m.Routes,
			func(r Route) bool { return r.answersAt(path) }) {
			// Only the answer to preflights of browsers, which is there for every path, has been found.
			nothing(c)
			return
		}
		w.errors(c, fault.New(fault.MethodNotAllowed, "The method %s is not allowed at this address.",
			methodName(c.Request.Method, "of this request")))
	}))
	return e, nil
}

// methodName returns m, or other if m is no known method: clients may send any word.
func methodName(m, other string) string {
	switch m {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return m
	}
	return other
}
