package auth_test

import (
	"testing"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/internal/testing/passkeytest"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/store"
)

// beginRegistration begins to register a passkey and returns what ends it.
func beginRegistration(t *testing.T, u *auth.Users, p *auth.Principal) (finish func() error) {
	t.Helper()
	c := able(t, publicURL)
	options, err := u.Passkeys.BeginRegistration(t.Context(), p, c, "")
	must(t, err)
	answer := passkeytest.New(t, "patchbay.example.com", publicURL).Create(t, options)
	return func() error {
		_, err := u.Passkeys.FinishRegistration(t.Context(), p, c, answer)
		return err
	}
}

// TestPasskeysBegunAtOnce: registrations that began while there was room are counted when they end.
func TestPasskeysBegunAtOnce(t *testing.T) {
	forEach(t, func(t *testing.T, u *auth.Users, _ *store.Store) {
		_, p := enter(t, u)
		for range 49 {
			must(t, beginRegistration(t, u, p)())
		}
		last, another := beginRegistration(t, u, p), beginRegistration(t, u, p)
		must(t, last())
		wantCode(t, another(), "conflict")
		_, err := u.Passkeys.BeginRegistration(t.Context(), p, able(t, publicURL), "")
		wantCode(t, err, "conflict")
	})
}

// TestTwoKeysAtOnce: no more keys are valid than may be.
func TestTwoKeysAtOnce(t *testing.T) {
	cfg, u, _ := openPostgres(t)
	_, p := enter(t, u)
	create := func() error { _, _, err := u.Keys.Create(t.Context(), p, auth.NewKey{}); return err }
	for range 199 {
		must(t, create())
	}
	first, second := testkit.Overlap(t, cfg, holdEvents, create, create)
	must(t, first)
	wantCode(t, second, "conflict")
}

// TestResetWhileAWayInIsMade: a passkey or an API key that a session adds during a reset of its user does not outlive the reset.
func TestResetWhileAWayInIsMade(t *testing.T) {
	cfg, u, _ := openPostgres(t)
	_, p := enter(t, u)
	link := ""
	reset := func() (err error) { link, err = u.Links.Reset(t.Context(), p.User.Email); return err }
	checkNoCredential := func() {
		t.Helper()
		has, err := u.HasCredential(t.Context(), p.User.ID)
		must(t, err)
		if has {
			t.Error("the user has a way in that the reset did not make")
		}
	}
	first, second := testkit.Overlap(t, cfg, "LOCK TABLE passkeys IN SHARE MODE", beginRegistration(t, u, p), reset)
	must(t, first)
	must(t, second)
	checkNoCredential()

	_, p, err := u.Links.Use(t.Context(), link, "", "", client)
	must(t, err)
	first, second = testkit.Overlap(t, cfg, holdEvents, reset,
		func() error { _, _, err := u.Keys.Create(t.Context(), p, auth.NewKey{}); return err })
	must(t, first)
	wantCode(t, second, "unauthorized")
	checkNoCredential()
}
