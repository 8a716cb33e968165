package access

import (
	"context"
	"slices"

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

// maxOwners is how many users are offered as owners.
const maxOwners = 500

// Owners are users whom a token may be given to: those that are not disabled, at most 500.
func (a *Access) Owners(ctx context.Context) ([]auth.User, error) {
	if a.people == nil {
		return nil, nil
	}
	all, err := a.people.List(ctx)
	all = slices.DeleteFunc(all, func(u auth.User) bool { return u.Disabled })
	return all[:min(len(all), maxOwners)], err
}
