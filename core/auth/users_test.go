package auth_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/store"
)

func forEach(t *testing.T, f func(t *testing.T, u *auth.Users, st *store.Store)) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		u, st := openOn(t, cfg, nil)
		f(t, u, st)
	})
}

func TestUsers(t *testing.T) {
	forEach(t, func(t *testing.T, u *auth.Users, st *store.Store) {
		ctx := t.Context()
		user, key, err := u.Create(ctx, " Ann@Example.com ", "Ann", auth.Admin)
		if err != nil {
			t.Fatal(err)
		}
		if user.Email != "ann@example.com" || !strings.HasPrefix(user.ID, "usr_") || !strings.HasPrefix(key, "svc_ak_") || len(key) != 50 {
			t.Fatalf("user %+v, key of %d characters", user, len(key))
		}
		if _, _, err := u.Create(ctx, "ANN@example.com", "Other", auth.Member); fault.CodeOf(err) != fault.Conflict {
			t.Fatalf("a second user with the address: %v", err)
		}
		if err := u.Disable(ctx, "ann@example.com"); err != nil {
			t.Fatal(err)
		}
		if all, err := u.List(ctx); err != nil || len(all) != 1 || !all[0].Disabled {
			t.Fatalf("users %+v, %v", all, err)
		}
		again, err := u.Reset(ctx, "Ann@example.com")
		if err != nil || again == key {
			t.Fatalf("reset: %v", err)
		}
		if all, err := u.List(ctx); err != nil || all[0].Disabled {
			t.Fatalf("users %+v, %v", all, err)
		}
		if n, err := u.Count(ctx); err != nil || n != 1 {
			t.Fatalf("count %d, %v", n, err)
		}
		for _, err := range []error{u.Disable(ctx, "nobody@example.com"),
			func() error { _, err := u.Reset(ctx, "nobody@example.com"); return err }()} {
			if fault.CodeOf(err) != fault.NotFound {
				t.Fatalf("unknown user: %v", err)
			}
		}
		// Neither key stands in the database in clear, and the first one is revoked.
		var rows []map[string]any
		if err := st.DB(ctx).Table("api_keys").Order("created_at, id").Find(&rows).Error; err != nil || len(rows) != 2 {
			t.Fatalf("keys %v, %v", rows, err)
		}
		revoked := 0
		for _, row := range rows {
			for column, v := range row {
				if s, ok := v.(string); ok && (strings.Contains(s, key) || strings.Contains(s, again)) {
					t.Errorf("column %s holds a key in clear", column)
				}
			}
			if n, _ := row["revoked_at"].(int64); n > 0 {
				revoked++
			}
		}
		if revoked != 1 {
			t.Errorf("%d keys are revoked", revoked)
		}
	})
}

func TestUserRefusals(t *testing.T) {
	forEach(t, func(t *testing.T, u *auth.Users, _ *store.Store) {
		for _, c := range []struct {
			name, email, user string
			role              auth.Role
			field             string
		}{
			{"no address", "", "Ann", auth.Admin, "email"},
			{"no host", "ann", "Ann", auth.Admin, "email"},
			{"with a name", "Ann <ann@example.com>", "Ann", auth.Admin, "email"},
			{"too long", strings.Repeat("a", 250) + "@example.com", "Ann", auth.Admin, "email"},
			{"no name", "ann@example.com", "  ", auth.Admin, "name"},
			{"name of two lines", "ann@example.com", "Ann\nBob", auth.Admin, "name"},
			{"name that is no text", "ann@example.com", "Ann\xff", auth.Admin, "name"},
			{"long name", "ann@example.com", strings.Repeat("ä", 81), auth.Admin, "name"},
			{"role", "ann@example.com", "Ann", "root", "role"},
		} {
			t.Run(c.name, func(t *testing.T) {
				_, key, err := u.Create(t.Context(), c.email, c.user, c.role)
				if f := fault.As(err); f == nil || f.Code != fault.InvalidArgument || f.Ext["field"] != c.field || key != "" {
					t.Fatalf("error %v", err)
				}
			})
		}
	})
}

// TestTheSameUserTwiceAtOnce: one of two is told that the address is taken, in ordinary words.
func TestTheSameUserTwiceAtOnce(t *testing.T) {
	forEach(t, func(t *testing.T, u *auth.Users, _ *store.Store) {
		var wg sync.WaitGroup
		var made, taken atomic.Int64
		for range 8 {
			wg.Go(func() {
				switch _, _, err := u.Create(t.Context(), "ann@example.com", "Ann", auth.Member); {
				case err == nil:
					made.Add(1)
				case fault.CodeOf(err) == fault.Conflict:
					taken.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if made.Load() != 1 || taken.Load() != 7 {
			t.Errorf("%d made, %d refused", made.Load(), taken.Load())
		}
	})
}
