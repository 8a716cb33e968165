package auth

import (
	"context"
	"slices"
)

// Via tells by what a principal was recognised.
type Via string

// The ways. Session is one that began with a passkey or the set-up link; an exchanged one stands for an API key.
const (
	ViaSession   Via = "session"
	ViaExchanged Via = "exchanged_session"
	ViaKey       Via = "api_key"
	// ViaLinked is a session of an account elsewhere that is linked to the user, such as one at a code host.
	ViaLinked    Via = "linked_session"
	ViaForward   Via = "forward"
	ViaAnonymous Via = "anonymous"
	// ViaDeveloper is a session of the built-in developer, who looks around before there is a user.
	ViaDeveloper Via = "developer_session"
)

// Principal is who makes a request.
type Principal struct {
	User User
	Via  Via
	// KeyID is the API key that was shown, now or when the session began.
	KeyID string
	// SessionID is the session's public id.
	SessionID string
	// Scopes are the services that the principal is confined to; none means all.
	Scopes []string
	// Since is when the session began, in Unix milliseconds; 0 without one.
	Since int64
	// CheckedAt is when the session's person last showed a passkey, or opened the set-up link that began it, in Unix
	// milliseconds; 0 for never.
	CheckedAt int64
	// Address is that of the client.
	Address string
	// renewed is the value of the cookie whose end has moved, so that the browser keeps it as long.
	renewed string
	// still recognises the request once more; nil without a guard.
	still func() bool
}

// Still reports whether the request would be let in today as the same person with the same role: a stream asks now and then,
// since sessions, keys and accounts end while it goes on.
func (p *Principal) Still() bool { return p.still == nil || p.still() }

// Strong reports whether the session began with a passkey or a set-up link, so that secrets may be shown again.
func (p *Principal) Strong() bool { return p.Via == ViaSession }

// HasAccount reports whether the principal is a user. The built-in developer is none and can own nothing.
func (p *Principal) HasAccount() bool { return p.Via != ViaAnonymous && p.Via != ViaDeveloper }

// Admin reports whether the principal may administer.
func (p *Principal) Admin() bool { return p.User.Role == Admin }

// Administers reports whether the principal may administer the core itself, and not only services.
func (p *Principal) Administers() bool { return p.Admin() && len(p.Scopes) == 0 }

// In reports whether the principal may use a service.
func (p *Principal) In(service string) bool {
	return len(p.Scopes) == 0 || slices.Contains(p.Scopes, service)
}

// isAmbient reports whether the browser sends the credentials by itself, so that requests must be checked for their origin.
func (p *Principal) isAmbient() bool { return p.Via != ViaKey }

type principalKey struct{}

// With puts a principal into a context.
func With(ctx context.Context, p *Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// From is the principal that the guard has recognised; nil on routes that need none.
func From(ctx context.Context) *Principal {
	p, _ := ctx.Value(principalKey{}).(*Principal)
	return p
}
