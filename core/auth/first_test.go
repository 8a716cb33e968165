package auth_test

import (
	"context"
	"testing"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/store"
)

// TestFirstUserIsAnAdministrator: however the first user is made; the second gets the role that was asked for.
func TestFirstUserIsAnAdministrator(t *testing.T) {
	for name, create := range map[string]func(*auth.Users, context.Context, string) (auth.User, error){
		"create": func(u *auth.Users, ctx context.Context, email string) (auth.User, error) {
			user, _, err := u.Create(ctx, email, "Ann", auth.Member)
			return user, err
		},
		"invite": func(u *auth.Users, ctx context.Context, email string) (auth.User, error) {
			user, _, err := u.Invite(ctx, email, "Ann", auth.Member)
			return user, err
		},
	} {
		forEach(t, func(t *testing.T, u *auth.Users, _ *store.Store) {
			first, err := create(u, t.Context(), "ann@example.com")
			must(t, err)
			second, err := create(u, t.Context(), "bob@example.com")
			must(t, err)
			stored, err := u.ByEmail(t.Context(), "ANN@example.com")
			must(t, err)
			if first.Role != auth.Admin || stored.Role != auth.Admin || second.Role != auth.Member {
				t.Errorf("%s: the first is %s, stored as %s, the second %s", name, first.Role, stored.Role, second.Role)
			}
		})
	}
}

// TestSetupLinkUntilThereIsAnAdministrator: members alone, as an earlier version could make them, leave the link good.
func TestSetupLinkUntilThereIsAnAdministrator(t *testing.T) {
	forEach(t, func(t *testing.T, u *auth.Users, st *store.Store) {
		ctx := t.Context()
		_, _, err := u.Create(ctx, "ann@example.com", "Ann", auth.Member)
		must(t, err)
		must(t, st.Tx(ctx, "test", func(ctx context.Context) error { return st.Writer(ctx).Exec("UPDATE users SET role = 'member'").Error }))
		token, err := u.Links.CreateFirst(ctx)
		must(t, err)
		if first, err := u.Links.IsFirst(ctx, token); err != nil || !first {
			t.Fatalf("the link: %v, %v", first, err)
		}
		if _, _, err := u.Links.Use(ctx, token, "ann@example.com", "Ann", client); fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("with the address of the member: %v", err)
		}
		if _, _, err := u.LookAround(ctx, token, client); fault.CodeOf(err) != fault.Conflict {
			t.Errorf("look around beside a member: %v", err)
		}
		_, p, err := u.Links.Use(ctx, token, "bob@example.com", "Bob", client)
		must(t, err)
		if p.User.Role != auth.Admin {
			t.Errorf("the link made a %s", p.User.Role)
		}
		if again, err := u.Links.CreateFirst(ctx); err != nil || again != "" {
			t.Errorf("one more link: %q, %v", again, err)
		}
	})
}
