// Package httpd is the HTTP side of the core: one listener, the services mounted below their base URLs, and what all of
// them share: request ids, limits, policies, errors, server-sent events, draining.
package httpd

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
)

// Policy says who may use a route. A route without one does not exist: New refuses it.
type Policy string

// The policies.
const (
	// Public routes are open to everybody.
	Public Policy = "public"
	// AccessToken routes check a service's access token in their handler, because it may stand in the body.
	AccessToken Policy = "access_token"
	// Session routes need a signed-in user, Admin routes one with the role admin.
	Session Policy = "session"
	Admin   Policy = "admin"
	// APIKey routes need an API key with the service's scope, or a session.
	APIKey Policy = "api_key"
	// Forward routes need a forwarded identity that is allowed, or an admin.
	Forward Policy = "forward"
	// Secret and Signature routes check a shared secret or a signature over the raw body in their handler.
	Secret    Policy = "secret"
	Signature Policy = "signature"
)

// byHandler reports whether the guard is not asked: the route is public, or its handler checks the caller itself.
func (p Policy) byHandler() bool {
	return p == Public || p == AccessToken || p == Secret || p == Signature
}

// isKnown reports whether p is one of the policies.
func (p Policy) isKnown() bool {
	switch p {
	case Public, AccessToken, Session, Admin, APIKey, Forward, Secret, Signature:
		return true
	}
	return false
}

// DefaultBodyLimit is the largest request body of a route that names no other limit, in bytes.
const DefaultBodyLimit = 1 << 20

// Route is one endpoint of a service.
type Route struct {
	Method string
	// Path is relative to the service's base URL, in gin's syntax.
	Path   string
	Policy Policy
	// BodyLimit is the largest request body in bytes; 0 means DefaultBodyLimit.
	BodyLimit int64
	// Confirm asks for a session with a passkey check of the last minutes, besides what the policy asks for.
	Confirm bool
	// Scoped lets callers in whose credentials are confined to services. It concerns the routes of the core, where they get nothing else; what
	// the handler of such a route shows them must be of their services.
	Scoped bool
	// Audit is what the audit calls a request of the route; "" for the name that AuditAction makes, or Unaudited.
	Audit   string
	Handler gin.HandlerFunc
}

// ErrorWriter answers with an error. WriteError is the common one; a service may add members to it.
type ErrorWriter func(c *gin.Context, err error)

// Mount is a service below its base URL.
type Mount struct {
	Service string
	// BaseURL is a path, or an absolute URL whose host then is the only one.
	BaseURL string
	Routes  []Route
	// Errors answers for what never reaches a handler below the mount, such as an unknown path; nil means WriteError.
	Errors ErrorWriter
}

// Guard decides on a request to a route of a service whose policy is not checked by the handler; its error is a fault.
type Guard func(c *gin.Context, service string, r Route) error

// validate returns an error for a route that cannot be served.
func (r Route) validate(service string) error {
	if !r.Policy.isKnown() {
		return fmt.Errorf("service %s: the route %s %s has no policy", service, r.Method, r.Path)
	}
	if r.Confirm && r.Policy.byHandler() {
		return fmt.Errorf("service %s: the route %s %s asks for a passkey check and has no guard", service, r.Method, r.Path)
	}
	if r.Handler == nil || r.Method == "" || len(r.Path) == 0 || r.Path[0] != '/' {
		return fmt.Errorf("service %s: the route %q %q is incomplete", service, r.Method, r.Path)
	}
	return nil
}

// answersAt reports whether the route has something at a path, by whatever method. OPTIONS, which tells browsers what other methods may be
// sent, is nothing by itself.
func (r Route) answersAt(path string) bool {
	if r.Method == http.MethodOptions {
		return false
	}
	want, got := strings.Split(r.Path, "/"), strings.Split(path, "/")
	for i, part := range want {
		switch {
		case strings.HasPrefix(part, "*"):
			return len(got) >= i
		case i >= len(got) || part != got[i] && !(strings.HasPrefix(part, ":") && got[i] != ""):
			return false
		}
	}
	return len(want) == len(got)
}
