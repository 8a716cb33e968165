package auth

import (
	"context"
	"net"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
)

// Access is what the guard decides by.
type Access struct {
	Forward Forward
	// Anonymous lets callers without an identity in as administrators, from anywhere, until there is an allowlist. It is for
	// development only.
	Anonymous bool
	// Trusted tells which peers may name identities and clients.
	Trusted *httpd.Clients
	// PublicURL is where browsers see the core; "" if that is not known.
	PublicURL string
	// BaseURLs are those of the services, of which only absolute ones name a host.
	BaseURLs []string
}

// Guard recognises the caller of each request and compares it with the route's policy. The principal is in the
// request's context afterwards.
func (u *Users) Guard(a Access) httpd.Guard {
	return newGuard(u, a).checkRequest
}

func newGuard(u *Users, a Access) *guard {
	g := &guard{users: u, access: a, cross: http.NewCrossOriginProtection()}
	if origin := cutOrigin(a.PublicURL); origin != "" {
		// An error would mean that it is no origin, and then no browser sends it.
		_ = g.cross.AddTrustedOrigin(origin)
	}
	return g
}

// Recognise finds out who makes a request, as the guard does, whatever the route asks for; nil if nobody that it knows.
func (u *Users) Recognise(a Access, r *http.Request) (*Principal, error) {
	return newGuard(u, a).authenticateRequest(r)
}

// SameSite refuses a request that a page of another site has made a browser send.
func (a Access) SameSite(r *http.Request) error {
	if err := newGuard(nil, a).cross.Check(r); err != nil {
		return errCross()
	}
	return nil
}

// codeNobody is what services behind a proxy that signs people in call a request without an identity.
const codeNobody fault.Code = "auth_required"

func errNobody(policy httpd.Policy) error {
	const text = "Sign in, or send an API key: Authorization: Bearer svc_ak_…."
	if policy == httpd.Forward {
		return fault.New(codeNobody, text).WithStatus(http.StatusUnauthorized)
	}
	return fault.New(fault.Unauthorized, text)
}

func errCross() error { return fault.New(fault.Forbidden, "The request comes from another site.") }

type guard struct {
	users  *Users
	access Access
	cross  *http.CrossOriginProtection
}

func (g *guard) checkRequest(c *gin.Context, service string, r httpd.Route) error {
	p, err := g.authenticateRequest(c.Request)
	if err != nil {
		return g.users.Keys.badKey(httpd.ClientAddr(c), err)
	}
	if p == nil {
		return errNobody(r.Policy)
	}
	if p.isAmbient() {
		if err := g.cross.Check(c.Request); err != nil {
			return errCross()
		}
	}
	p.Address = httpd.ClientAddr(c)
	p.still = g.stillAuthorized(c.Request, p.User.ID, p.User.Role)
	c.Request = c.Request.WithContext(httpd.Recognised(With(c.Request.Context(), p)))
	if err := checkPolicy(p, service, r); err != nil {
		return err
	}
	if r.Confirm {
		if err := g.users.Passkeys.RequireConfirmed(p); err != nil {
			return err
		}
	}
	if p.renewed != "" {
		http.SetCookie(c.Writer, Cookie(p.renewed, g.access.Secure(c.Request)))
	}
	return nil
}

// stillAuthorized returns a function that reports whether the request is still authenticated as the same user with the same
// role.
func (g *guard) stillAuthorized(r *http.Request, id string, role Role) func() bool {
	return func() bool {
		now, err := g.authenticateRequest(r)
		return err == nil && now != nil && now.User.ID == id && now.User.Role == role
	}
}

// checkPolicy returns an error unless the policy of a service's route admits the principal.
func checkPolicy(p *Principal, service string, r httpd.Route) error {
	if service == httpd.CoreService && len(p.Scopes) > 0 && !r.Scoped {
		return fault.New(fault.Forbidden, "This API key is limited to services and cannot administer Patchbay.")
	}
	if service != httpd.CoreService && !p.In(service) {
		return fault.New(fault.Forbidden, "This API key is not for the service %s.", service).With("scope", service)
	}
	switch r.Policy {
	case httpd.APIKey:
		return nil
	case httpd.Session:
		if p.Via == ViaKey || p.Via == ViaExchanged {
			return fault.New(fault.Forbidden, "This needs a sign-in with a passkey; an API key is not enough.")
		}
		return nil
	case httpd.Admin, httpd.Forward:
		if !p.Admin() {
			return fault.New(fault.Forbidden, "This is for administrators.")
		}
		return nil
	}
	return fault.New(fault.Forbidden, "Nobody may do this.")
}

// authenticateRequest returns the principal of a request, or nil if it has no credentials. An API key must be valid even if
// the request also has a valid cookie.
func (g *guard) authenticateRequest(r *http.Request) (*Principal, error) {
	name, allowed := g.access.forwardedIdentity(r)
	if name != "" && !allowed {
		if err := g.users.demoteForwarded(r.Context(), name); err != nil {
			return nil, err
		}
	}
	p, err := g.credentialPrincipal(r)
	switch {
	case err != nil:
		return nil, err
	case p != nil:
		p.User.Role = g.access.effectiveRole(p.User)
		return p, nil
	case allowed:
		return g.users.forwardedPrincipal(r.Context(), name)
	}
	return g.anonymousPrincipal(r), nil
}

// credentialPrincipal returns the principal of the request's API key or session, or nil if it has neither.
func (g *guard) credentialPrincipal(r *http.Request) (*Principal, error) {
	ctx := r.Context()
	if values := r.Header["Authorization"]; len(values) > 0 {
		scheme, text, _ := strings.Cut(values[0], " ")
		if strings.EqualFold(scheme, "Bearer") {
			if len(values) > 1 {
				return nil, errKey()
			}
			return g.users.Keys.byKey(ctx, strings.TrimSpace(text))
		}
	}
	cookies := r.CookiesNamed(SessionCookie)
	if len(cookies) != 1 {
		return nil, nil
	}
	if p, err := g.users.Sessions.bySession(ctx, cookies[0].Value); p != nil || err != nil {
		return p, err
	}
	return g.developerPrincipal(ctx, cookies[0].Value)
}

// developerPrincipal returns the built-in developer if the cookie is that of a developer session and there is no allowlist.
func (g *guard) developerPrincipal(ctx context.Context, cookie string) (*Principal, error) {
	if g.access.Forward.hasAllowlist() {
		return nil, nil
	}
	return g.users.byDeveloperSession(ctx, cookie)
}

// OpenToAll reports whether callers without an identity may administer from anywhere.
func (a Access) OpenToAll() bool { return a.Anonymous && !a.Forward.hasAllowlist() }

// anonymousPrincipal returns the built-in developer where the setting lets everybody in, else nil. A foreign name in the Host header is
// that of a page that was made to resolve to this machine: nobody is let in for it.
func (g *guard) anonymousPrincipal(r *http.Request) *Principal {
	if !g.access.OpenToAll() || !httpd.IsOwnHost(r.Host, g.access.PublicURL) && !httpd.IsOwnHost(r.Host, g.access.BaseURLs...) {
		return nil
	}
	return &Principal{Via: ViaAnonymous, User: newDeveloper()}
}

func peerAddress(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
