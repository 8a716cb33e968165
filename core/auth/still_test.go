package auth_test

import (
	"testing"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/store"
)

// TestStill: what a stream asks is no once the session, the key or the account has ended, or the role is another.
func TestStill(t *testing.T) {
	forEach(t, func(t *testing.T, users *auth.Users, _ *store.Store) {
		ctx := t.Context()
		g := users.Guard(auth.Access{})
		_, _, err := users.Create(ctx, "other@example.com", "Other", auth.Admin)
		must(t, err)
		user, key, err := users.Create(ctx, "a@example.com", "A", auth.Admin)
		must(t, err)
		session, _, err := users.Sessions.Exchange(ctx, key, auth.Origin{Address: "127.0.0.1"})
		must(t, err)
		_, byKey := decide(t, g, httpd.Admin, request(bearer(key)))
		_, bySession := decide(t, g, httpd.Admin, request(cookie(session)))
		if !byKey.Still() || !bySession.Still() {
			t.Fatal("nothing has changed")
		}
		must(t, users.Sessions.End(ctx, bySession.SessionID))
		if !byKey.Still() || bySession.Still() {
			t.Error("the session has ended")
		}
		member := auth.Member
		_, err = users.Change(ctx, user.ID, auth.UserChange{Role: &member})
		must(t, err)
		if byKey.Still() {
			t.Error("the user is no administrator any more")
		}
		_, byKey = decide(t, g, httpd.APIKey, request(bearer(key)))
		must(t, users.Keys.Revoke(ctx, byKey, byKey.KeyID))
		if byKey.Still() {
			t.Error("the key is revoked")
		}
	})
}
