package search

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/auth"
)

// People tells about users. ByID leaves out those that do not exist.
type People interface {
	ByID(ctx context.Context, ids []string) (map[string]auth.User, error)
	// List is all users, the oldest first.
	List(ctx context.Context) ([]auth.User, error)
	// Disabled are the ids of those who are kept out; so are their tokens.
	Disabled(ctx context.Context) ([]string, error)
}

// Sessions ends sign-ins.
type Sessions interface {
	EndSession(ctx context.Context, id string) error
}
