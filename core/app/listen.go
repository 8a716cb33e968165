package app

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/pprof"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/patchbay-dev/patchbay/core/console"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/settings"
)

// startListeners opens both listeners and serves the routes of the services.
func (a *App) startListeners(context.Context) (err error) {
	if a.clients, err = httpd.NewClients(a.set.Core.TrustedProxies); err != nil {
		return err
	}
	log := a.log.ResetNamed("http")
	a.streams = httpd.NewStreamLimits(int(a.set.Core.MaxStreams), int(a.set.Core.MaxStreamsEach))
	a.bodies = httpd.NewBodyBudget(httpd.DefaultBodyBudget, httpd.DefaultBodyBudgetEach)
	watchBodies(a.registry, a.bodies)
	if a.http, err = httpd.Listen(a.set.Core.HTTPAddr, "http_addr in the core block (SVC_HTTP_ADDR)", log); err != nil {
		return err
	}
	a.http.LimitConnections(httpd.ConnectionLimits{
		Total: int(a.set.Core.MaxConnections), Each: int(a.set.Core.MaxConnectionsEach), Clients: a.clients, Refused: a.shared.countRefusal,
	})
	a.closers = append(a.closers, func() { _ = a.http.Shutdown(context.Background()) })
	handler, err := a.buildHandler(a.set)
	if err != nil {
		return err
	}
	a.http.Handle(handler)
	if a.admin, err = httpd.Listen(a.set.Core.AdminAddr, "admin_addr in the core block (SVC_ADMIN_ADDR)", log); err != nil {
		return err
	}
	a.admin.Handle(a.adminHandler())
	if a.set.OpenToAll() {
		a.log.Warn("allow_anonymous_in_dev is on: anyone who can reach this server is an administrator; never use it in production")
	}
	if a.set.Access(a.clients).TrustsOpenLoopback(a.set.Core.HTTPAddr) {
		a.log.Warn("identity headers from this host are trusted, and the port is open to others: set proxy_secret (SVC_AUTH_PROXY_SECRET), or bind http_addr to 127.0.0.1")
	}
	a.http.Serve()
	a.admin.Serve()
	return nil
}

// URL is where a person on this machine reaches the core.
func (a *App) URL() string { return a.set.URL(a.http.Addr()) }

// buildMounts returns the routes of the core and of the services that are switched on.
func (a *App) buildMounts(set *settings.Settings) ([]httpd.Mount, error) {
	pages, err := a.newConsole(set)
	if err != nil {
		return nil, err
	}
	mounts := []httpd.Mount{a.coreMount(pages, set)}
	a.withAccounts(&mounts[0], set)
	for _, running := range a.services {
		m, err := running.MountAt(set.Service(running.name).BaseURL)
		if err != nil {
			return nil, err
		}
		mounts = append(mounts, withPages(m, pages))
	}
	return mounts, nil
}

// buildHandler returns the handler of all routes for settings.
func (a *App) buildHandler(set *settings.Settings) (http.Handler, error) {
	mounts, err := a.buildMounts(set)
	if err != nil {
		return nil, err
	}
	redact := secret.NewRedactor("api_key", "apikey", "tavilyApiKey", "token", "key", "secret")
	access := set.Access(a.clients)
	return httpd.NewHandler(mounts, httpd.Options{
		Logger: a.log.ResetNamed("http"), Redact: redact.URL, Clients: a.clients, Guard: a.users.Guard(access), Audit: a.users.Journal.AuditRequests(),
		Secure: access.Secure, Streams: a.streams, Observe: a.shared.observeRequest, Tracer: a.tracer,
		Bodies: a.bodies, Refused: a.shared.countRefusal,
	})
}

// coreMount returns what the core itself answers: who it is and which services it has.
func (a *App) coreMount(pages *console.Console, set *settings.Settings) httpd.Mount {
	services := map[string]string{}
	for _, s := range set.Services {
		services[s.Name] = s.BaseURL
	}
	routes := append([]httpd.Route{{Method: http.MethodGet, Path: "/", Policy: httpd.Public, Handler: a.serveRoot(services)}},
		pages.Routes()...)
	return httpd.Mount{Service: httpd.CoreService, BaseURL: "/", Routes: routes, Errors: pages.Errors(nil)}
}

// adminHandler returns the handler of the process endpoints.
func (a *App) adminHandler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(a.registry, promhttp.HandlerOpts{}))
	if a.set.Core.Pprof {
		mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	}
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		found := a.checkReadiness(r.Context())
		status := http.StatusOK
		if !found.Ready {
			status = http.StatusServiceUnavailable
		}
		if r.URL.Query().Has("verbose") {
			writeJSON(w, status, found)
			return
		}
		writeJSON(w, status, found.states())
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusNotFound, map[string]string{"code": "not_found", "message": "There is nothing at this address."})
	})
	return mux
}

// writeJSON answers with a body that is not to be kept.
func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
