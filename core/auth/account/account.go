// Package account serves sign-in and accounts over HTTP: sets of routes that the core has below /system, and that services
// may have below their own addresses as well.
package account

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humagin"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
)

// Config is what the routes need.
type Config struct {
	Users *auth.Users
	// Access says who is recognised, and under which address browsers see the core.
	Access auth.Access
	// Version is the core's own.
	Version string
}

// Sets are the sets of routes. Each joins an API; base stands before its paths, such as /api.
type Sets struct{ cfg Config }

// New makes the sets.
func New(cfg Config) *Sets { return &Sets{cfg: cfg} }

// The groups in the document.
const (
	tagSignIn   = "Sign-in"
	tagAccount  = "Own account"
	tagUsers    = "Users"
	prefix      = "/system"
	description = "Sign-in, accounts and their audit. Services have documents of their own."
)

// System are all sets as routes of the core, below /system, with their document and its page.
func (s *Sets) System() []httpd.Route {
	a := api.New(api.Config{
		Title: "Patchbay", Version: s.cfg.Version, Description: description, BaseURL: prefix, PagePath: "/api/docs", Invalid: fault.InvalidArgument,
		Tags: []*huma.Tag{{Name: tagSignIn}, {Name: tagAccount}, {Name: tagUsers}},
	})
	for _, add := range []func(*api.API, string){s.Meta, s.Auth, s.Setup, s.Passkeys, s.Keys, s.Sessions, s.Users, s.Audit} {
		add(a, "/api")
	}
	routes := a.Routes()
	for i := range routes {
		routes[i].Path = prefix + routes[i].Path
	}
	return routes
}

// Request is part of an input whose handler needs to know more of the request.
type Request struct{ gin *gin.Context }

// Resolve implements huma.Resolver.
func (r *Request) Resolve(ctx huma.Context) []error {
	r.gin = humagin.Unwrap(ctx)
	return nil
}

func (r *Request) httpRequest() *http.Request { return r.gin.Request }

// signInOrigin returns the address and browser of a sign-in, and the session that the browser had before.
func (r *Request) signInOrigin() auth.Origin {
	return auth.OriginFrom(r.gin)
}

// sessionCookie returns the Set-Cookie header for a session. An empty value deletes the cookie.
func (s *Sets) sessionCookie(r *http.Request, value string) string {
	return auth.Cookie(value, s.cfg.Access.Secure(r)).String()
}

func principalFrom(ctx context.Context) *auth.Principal { return auth.From(ctx) }

// requireUnscoped returns the acting principal, or an error if it is confined to services.
func requireUnscoped(ctx context.Context) (*auth.Principal, error) {
	p := principalFrom(ctx)
	if len(p.Scopes) > 0 {
		return nil, fault.New(fault.Forbidden, "This API key is limited to services and cannot manage the account.")
	}
	return p, nil
}

// unscopedOnly returns h for principals that are not confined to services; others get an error, also below a service's own
// address.
func unscopedOnly[I, O any](h func(context.Context, *I) (*O, error)) func(context.Context, *I) (*O, error) {
	return func(ctx context.Context, in *I) (*O, error) {
		if _, err := requireUnscoped(ctx); err != nil {
			return nil, err
		}
		return h(ctx, in)
	}
}

// ID is the path parameter of one thing.
type ID struct {
	ID string `path:"id" maxLength:"64" doc:"Its id."`
}

// none is the answer without a body.
type none struct{}

func emptyAnswer(err error) (*none, error) { return &none{}, err }
