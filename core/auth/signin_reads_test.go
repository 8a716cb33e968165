package auth_test

import (
	"context"
	"testing"

	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/internal/testing/passkeytest"
	"github.com/patchbay-dev/patchbay/core/store"
)

// TestSignInReadsItsUserOnce: what the lock has returned serves the whole sign-in.
func TestSignInReadsItsUserOnce(t *testing.T) {
	forEach(t, func(t *testing.T, u *auth.Users, st *store.Store) {
		reads := map[string]int{}
		count := func(db *gorm.DB) error {
			return db.Callback().Query().Before("gorm:query").Register("test:query", func(db *gorm.DB) { reads[db.Statement.Table]++ })
		}
		must(t, count(st.DB(t.Context())))
		must(t, st.Tx(t.Context(), "test", func(ctx context.Context) error { return count(st.Writer(ctx)) }))
		c := able(t, publicURL)
		_, p := enter(t, u)
		a := passkeytest.New(t, "patchbay.example.com", publicURL)
		clear(reads)
		_, err := register(t, u, p, c, a, "")
		must(t, err)
		// The passkeys to be excluded, and the count of those that there are when the new one is kept.
		if reads["passkeys"] != 2 {
			t.Errorf("a registration reads the passkeys %d times", reads["passkeys"])
		}
		options, err := u.Passkeys.BeginLogin(t.Context(), c, client)
		must(t, err)
		answer := a.Get(t, options)
		link, err := u.Links.CreateForUser(t.Context(), p.User.ID)
		must(t, err)
		_, key, err := u.Keys.Create(t.Context(), p, auth.NewKey{})
		must(t, err)
		for name, signIn := range map[string]func() error{
			"passkey":           func() error { _, _, err := u.Passkeys.FinishLogin(t.Context(), c, answer, client); return err },
			"set-up link":       func() error { _, _, err := u.Links.Use(t.Context(), link, "", "", client); return err },
			"API key":           func() error { _, _, err := u.Sessions.Exchange(t.Context(), key, client); return err },
			"account elsewhere": func() error { _, err := u.Sessions.BeginLinked(t.Context(), p.User.ID, client); return err },
		} {
			clear(reads)
			must(t, signIn())
			if reads["users"] != 1 {
				t.Errorf("%s: the user is read %d times", name, reads["users"])
			}
		}
	})
}
