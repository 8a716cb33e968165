package auth

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/httpd"
)

// ForwardGuard returns the guard of a process without accounts: it knows those whom a trusted proxy has signed in and the
// allowlist lets in, who are administrators, and, in development, everybody. The principal is in the request's context
// afterwards.
func (a Access) ForwardGuard() httpd.Guard {
	g := newGuard(nil, a)
	return func(c *gin.Context, service string, r httpd.Route) error {
		p := a.RecogniseForwarded(c.Request)
		if p == nil {
			return errNobody(r.Policy)
		}
		if err := g.cross.Check(c.Request); err != nil {
			return errCross()
		}
		p.Address = httpd.ClientAddr(c)
		c.Request = c.Request.WithContext(httpd.Recognised(With(c.Request.Context(), p)))
		return checkPolicy(p, service, r)
	}
}

// RecogniseForwarded finds out who makes a request as the ForwardGuard does; nil if nobody whom it lets in.
func (a Access) RecogniseForwarded(r *http.Request) *Principal {
	if name, allowed := a.forwardedIdentity(r); allowed {
		return &Principal{Via: ViaForward, User: User{Name: name, Role: Admin}}
	}
	return newGuard(nil, a).anonymousPrincipal(r)
}
