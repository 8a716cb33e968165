package auth

import "context"

// Actor is who does something to an account, as the audit names it.
type Actor struct {
	// ID is the user's id, "" for one that is not a user.
	ID string
	// Name is an email address, or says what else acts.
	Name string
	Via  Via
	// Address is that of the client, "" on this machine.
	Address string
}

// ViaCommand is the way of the command line.
const ViaCommand Via = "command_line"

type actorKey struct{}

// Acting names who acts in a context that no guard has seen.
func Acting(ctx context.Context, a Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, a)
}

// actingUser is who acts: as named, else the principal of the request.
func actingUser(ctx context.Context) Actor {
	if a, ok := ctx.Value(actorKey{}).(Actor); ok {
		return a
	}
	if p := From(ctx); p != nil {
		name := p.User.Email
		if name == "" {
			name = p.User.Name
		}
		return Actor{ID: p.User.ID, Name: name, Via: p.Via, Address: p.Address}
	}
	return Actor{Name: "patchbay"}
}

// Caller returns the name of who makes the request of ctx, for records: that of the forwarding proxy, else the email
// address, the name or the id; "anonymous" without a principal.
func Caller(ctx context.Context) string {
	p := From(ctx)
	if p == nil {
		return "anonymous"
	}
	switch {
	case p.Via == ViaForward && p.User.Name != "":
		return p.User.Name
	case p.User.Email != "":
		return p.User.Email
	case p.User.Name != "":
		return p.User.Name
	}
	return p.User.ID
}
