package auth_test

import (
	"context"
	"slices"
	"testing"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/store"
)

// fillAccounts makes 10,000 accounts with as many keys, passkeys and sessions, and 50,000 entries of the audit, of which few are of a rare
// action.
func fillAccounts(t *testing.T, st *store.Store) {
	t.Helper()
	bytes := "BLOB"
	if st.Dialect() == store.Postgres {
		bytes = "BYTEA"
	}
	for _, r := range []struct {
		table, columns, values string
		count                  int
	}{
		{"users", "id, email, name, role, disabled, created_at, updated_at",
			"'usr_' || i, 'u' || i || '@example.com', 'U', 'member', FALSE, i, i", 10_000},
		{"api_keys", "id, user_id, name, hash, sealed, prefix, scopes, expires_at, created_at, revoked_at",
			"'key_' || i, 'usr_' || i, 'K', CAST('h' || i AS " + bytes + "), '', '', '', 0, i, 0", 10_000},
		{"passkeys", "id, user_id, credential_id, rp_id, name, record, backed_up, created_at, last_used_at, revoked_at",
			"'pk_' || i, 'usr_' || i, CAST('h' || i AS " + bytes + "), 'example.com', 'P', '{}', FALSE, i, i, 0", 10_000},
		{"sessions", "hash, id, user_id, key_id, began_with, user_agent, address, created_at, seen_at, expires_at",
			"CAST('h' || i AS " + bytes + "), 'ses_' || i, 'usr_' || i, 'key_' || i, 'passkey', '', '', 9000000000000, i, 9000000000000 + i",
			10_000},
		{"account_events", "id, at, action, result, actor_id, actor_name, via, address, target_id, target_name, user_id, detail",
			"'aev_' || i, 9000000000000 + i, CASE WHEN i % 1000 = 0 THEN 'rare.' || (i / 1000) ELSE 'often.' || (i % 3) END, 'ok', 'usr_' || (i % 1000), '', 'session', '', '', '', 'usr_' || (i % 1000), ''", 50_000},
	} {
		testkit.FillTable(t, st, r.table, r.columns, r.values, r.count)
	}
	testkit.Analyze(t, st)
}

// TestNoQueryScans: with many accounts and a long audit, every look-up and list finds its rows by an index.
func TestNoQueryScans(t *testing.T) {
	forEach(t, func(t *testing.T, u *auth.Users, st *store.Store) {
		statements := testkit.WatchStatements(t, st)
		admin, key, err := u.Create(t.Context(), "ada@example.com", "Ada", auth.Admin)
		must(t, err)
		session, p, err := u.Sessions.Exchange(t.Context(), key, client)
		must(t, err)
		fillAccounts(t, st)
		ctx, g := t.Context(), u.Guard(auth.Access{})
		forward := auth.Forward{UserHeader: "X-Forwarded-User", AllowedUser: "bob"}
		byProxy := u.Guard(auth.Access{Forward: forward, Trusted: clients(t, "127.0.0.0/8")})
		events := func(f auth.EventFilter) func() error {
			return func() error { _, _, err := u.Journal.Events(ctx, f); return err }
		}
		statements.CheckScans(t, st, map[string]func() error{
			"audit":                events(auth.EventFilter{}),
			"audit of an account":  events(auth.EventFilter{UserID: "usr_7"}),
			"audit of an action":   events(auth.EventFilter{Action: "rare.7"}),
			"audit of a time":      events(auth.EventFilter{From: 9000000000100, Until: 9000000000200}),
			"actions of the audit": func() error { _, err := u.Journal.Actions(ctx); return err },
			"session":              func() error { decide(t, g, httpd.Admin, request(cookie(session))); return nil },
			"forwarded name":       func() error { decide(t, byProxy, httpd.Admin, request(header("X-Forwarded-User", "bob"))); return nil },
			"refused name":         func() error { decide(t, byProxy, httpd.Admin, request(header("X-Forwarded-User", "eve"))); return nil },
			"key":                  func() error { _, err := u.Keys.Find(ctx, "key_7"); return err },
			"keys":                 func() error { _, err := u.Keys.List(ctx, "usr_7"); return err },
			"passkeys":             func() error { _, err := u.Passkeys.List(ctx, "usr_7"); return err },
			"sessions":             func() error { _, err := u.Sessions.List(ctx, "usr_7"); return err },
			"account":              func() error { _, err := u.Get(ctx, "usr_7"); return err },
			"accounts by id":       func() error { _, err := u.ByID(ctx, []string{"usr_7", admin.ID}); return err },
			"other sessions":       func() error { _, err := u.Sessions.EndOthers(ctx, p); return err },
			"a session's end":      func() error { return u.Sessions.End(ctx, "ses_7") },
			"purge":                func() error { return u.Purge(ctx) },
			"set-up link":          func() error { _, err := u.Links.CreateForUser(ctx, "usr_8"); return err },
			"disabled account":     func() error { return u.Disable(ctx, "u9@example.com") },
		}, "users", "api_keys", "passkeys", "sessions", "account_events")
	})
}

// TestActions: the actions that the audit holds, each once.
func TestActions(t *testing.T) {
	forEach(t, func(t *testing.T, u *auth.Users, _ *store.Store) {
		actions := func() []string {
			t.Helper()
			out, err := u.Journal.Actions(t.Context())
			must(t, err)
			return out
		}
		if got := actions(); len(got) != 0 {
			t.Errorf("an empty audit has the actions %v", got)
		}
		for _, action := range []string{"b", "a", "c", "b", "B"} {
			must(t, u.Journal.Record(auth.Acting(context.Background(), auth.Actor{Name: "test"}), action, "", nil))
		}
		got := actions()
		slices.Sort(got)
		if want := []string{"B", "a", "b", "c"}; !slices.Equal(got, want) {
			t.Errorf("the actions are %v, want %v", got, want)
		}
	})
}
