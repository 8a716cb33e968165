package auth_test

import (
	"testing"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/internal/testing/passkeytest"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/store"
)

// holdEvents stops each change where it records its event, which comes last.
const holdEvents = "LOCK TABLE account_events IN SHARE MODE"

// openPostgres makes a keeper on a PostgreSQL database of its own.
func openPostgres(t *testing.T) (store.Config, *auth.Users, *store.Store) {
	t.Helper()
	cfg := testkit.PostgresConfig(t)
	u, st := openOn(t, cfg, nil)
	return cfg, u, st
}

// TestTwoChangesOfOneUser: what one changes the other does not undo.
func TestTwoChangesOfOneUser(t *testing.T) {
	cfg, u, _ := openPostgres(t)
	yes, no, member, admin, name := true, false, auth.Member, auth.Admin, "Carol"
	_, _, err := u.Create(t.Context(), "ann@example.com", "Ann", auth.Admin)
	must(t, err)
	change := func(id string, c auth.UserChange) func() error {
		return func() error {
			_, err := u.Change(t.Context(), id, c)
			return err
		}
	}
	forward := auth.Forward{UserHeader: "X-Forwarded-User", GroupHeader: "Remote-Groups", AllowedGroup: "ops"}
	g := u.Guard(auth.Access{Forward: forward, Trusted: clients(t, "10.0.0.0/8")})
	visit := request(from("10.1.2.3:1"), header("X-Forwarded-User", "bob@example.com"), header("Remote-Groups", "dev"))
	_, bob := decide(t, g, httpd.Forward, request(from("10.1.2.3:1"), header("X-Forwarded-User", "bob@example.com"),
		header("Remote-Groups", "ops")))
	id := bob.User.ID
	for _, tc := range []struct {
		name          string
		first, second func() error
		want          auth.User
	}{
		{"disabled and renamed", change(id, auth.UserChange{Disabled: &yes}), change(id, auth.UserChange{Name: &name}),
			auth.User{Name: name, Role: auth.Admin, Disabled: true}},
		{"demoted and renamed", change(id, auth.UserChange{Role: &member}), change(id, auth.UserChange{Name: &name}),
			auth.User{Name: name, Role: auth.Member}},
		{"disabled on the command line and demoted", func() error { return u.Disable(t.Context(), "bob@example.com") },
			change(id, auth.UserChange{Role: &member}), auth.User{Name: "Bob", Role: auth.Member, Disabled: true}},
		{"renamed and reset", change(id, auth.UserChange{Name: &name}),
			func() error { _, err := u.Links.Reset(t.Context(), "bob@example.com"); return err }, auth.User{Name: name, Role: auth.Admin}},
		{"disabled and demoted by the proxy", change(id, auth.UserChange{Disabled: &yes}),
			func() error { decideFor(t, g, "search", httpd.Forward, visit); return nil }, auth.User{Name: "Bob", Role: auth.Member, Disabled: true}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			before := "Bob"
			_, err := u.Change(t.Context(), id, auth.UserChange{Name: &before, Role: &admin, Disabled: &no})
			must(t, err)
			first, second := testkit.Overlap(t, cfg, holdEvents, tc.first, tc.second)
			must(t, first)
			must(t, second)
			got, err := u.Get(t.Context(), id)
			must(t, err)
			if got.Name != tc.want.Name || got.Role != tc.want.Role || got.Disabled != tc.want.Disabled {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}

// TestTwoAdministratorsWhoDemoteEachOther: the second is refused.
func TestTwoAdministratorsWhoDemoteEachOther(t *testing.T) {
	cfg, u, _ := openPostgres(t)
	member := auth.Member
	var demotions []func() error
	for _, email := range []string{"a@example.com", "b@example.com"} {
		user, _, err := u.Create(t.Context(), email, "A", auth.Admin)
		must(t, err)
		demotions = append(demotions, func() error {
			_, err := u.Change(t.Context(), user.ID, auth.UserChange{Role: &member})
			return err
		})
	}
	first, second := testkit.Overlap(t, cfg, holdEvents, demotions[0], demotions[1])
	must(t, first)
	wantCode(t, second, "conflict")
}

// wantOneLink makes a link twice at the same time and fails the test unless one of the two is good.
func wantOneLink(t *testing.T, cfg store.Config, st *store.Store, link func() error) {
	t.Helper()
	first, second := testkit.Overlap(t, cfg, holdEvents, link, link)
	must(t, first)
	must(t, second)
	var n int64
	must(t, st.DB(t.Context()).Table("setup_links").Count(&n).Error)
	if n != 1 {
		t.Errorf("%d links are good", n)
	}
}

// TestTwoLinksOfOneUser: of two set-up links that are made at the same time one is good.
func TestTwoLinksOfOneUser(t *testing.T) {
	cfg, u, st := openPostgres(t)
	user, _, err := u.Create(t.Context(), "ann@example.com", "Ann", auth.Admin)
	must(t, err)
	link := func() error { _, err := u.Links.CreateForUser(t.Context(), user.ID); return err }
	wantOneLink(t, cfg, st, link)
}

// TestResetWhileALinkIsUsed: a reset ends the session of a link that is being used, and a link that is reset lets nobody in.
func TestResetWhileALinkIsUsed(t *testing.T) {
	cfg, u, _ := openPostgres(t)
	user, _, err := u.Create(t.Context(), "ann@example.com", "Ann", auth.Admin)
	must(t, err)
	link, err := u.Links.CreateForUser(t.Context(), user.ID)
	must(t, err)
	use := func() error { _, _, err := u.Links.Use(t.Context(), link, "", "", client); return err }
	reset := func() (err error) { link, err = u.Links.Reset(t.Context(), user.Email); return err }
	first, second := testkit.Overlap(t, cfg, holdEvents, use, reset)
	must(t, first)
	must(t, second)
	sessions, err := u.Sessions.List(t.Context(), user.ID)
	must(t, err)
	if len(sessions) != 0 {
		t.Errorf("a session has outlived the reset: %+v", sessions)
	}
	first, second = testkit.Overlap(t, cfg, holdEvents, func() error { _, err := u.Reset(t.Context(), user.Email); return err }, use)
	must(t, first)
	wantCode(t, second, "invalid_setup_link")
}

// TestUserIsDisabledWhileItSignsIn: the session does not come back with the account.
func TestUserIsDisabledWhileItSignsIn(t *testing.T) {
	cfg, u, _ := openPostgres(t)
	c := able(t, publicURL)
	_, p := enter(t, u)
	a := passkeytest.New(t, "patchbay.example.com", publicURL)
	_, err := register(t, u, p, c, a, "")
	must(t, err)
	_, key, err := u.Keys.Create(t.Context(), p, auth.NewKey{})
	must(t, err)
	link, err := u.Links.CreateForUser(t.Context(), p.User.ID)
	must(t, err)
	options, err := u.Passkeys.BeginLogin(t.Context(), c, client)
	must(t, err)
	answer := a.Get(t, options)
	disable := func() error { return u.Disable(t.Context(), p.User.Email) }
	for _, tc := range []struct {
		name   string
		signIn func() error
	}{
		{"passkey", func() error { _, _, err := u.Passkeys.FinishLogin(t.Context(), c, answer, client); return err }},
		{"API key", func() error { _, _, err := u.Sessions.Exchange(t.Context(), key, client); return err }},
		{"account elsewhere", func() error { _, err := u.Sessions.BeginLinked(t.Context(), p.User.ID, client); return err }},
		{"link", func() error { _, _, err := u.Links.Use(t.Context(), link, "", "", client); return err }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			first, second := testkit.Overlap(t, cfg, holdEvents, tc.signIn, disable)
			must(t, first)
			must(t, second)
			no := false
			_, err := u.Change(t.Context(), p.User.ID, auth.UserChange{Disabled: &no})
			must(t, err)
			sessions, err := u.Sessions.List(t.Context(), p.User.ID)
			must(t, err)
			if len(sessions) != 0 {
				t.Errorf("a session is left: %+v", sessions)
			}
		})
	}
	t.Run("ErrDisabled", func(t *testing.T) {
		first, second := testkit.Overlap(t, cfg, holdEvents, disable,
			func() error { _, _, err := u.Sessions.Exchange(t.Context(), key, client); return err })
		must(t, first)
		wantCode(t, second, "account_disabled")
	})
}

// TestPasskeyIsRevokedTwiceAtOnce: both succeed, since revoking may be repeated.
func TestPasskeyIsRevokedTwiceAtOnce(t *testing.T) {
	cfg, u, _ := openPostgres(t)
	c := able(t, publicURL)
	_, p := enter(t, u)
	var made auth.Passkey
	for range 2 {
		var err error
		made, err = register(t, u, p, c, passkeytest.New(t, "patchbay.example.com", publicURL), "")
		must(t, err)
	}
	revoke := func() error { return u.Passkeys.Revoke(t.Context(), p, made.ID) }
	first, second := testkit.Overlap(t, cfg, holdEvents, revoke, revoke)
	must(t, first)
	must(t, second)
}

// TestTwoFirstLinks: of two links for the first administrator that are made at the same time one is good.
func TestTwoFirstLinks(t *testing.T) {
	cfg, u, st := openPostgres(t)
	link := func() error { _, err := u.Links.CreateFirst(t.Context()); return err }
	wantOneLink(t, cfg, st, link)
}

// TestFirstLinkIsUsedWhileItIsMade: a link for the first administrator that is made while another one is used makes no second.
func TestFirstLinkIsUsedWhileItIsMade(t *testing.T) {
	cfg, u, _ := openPostgres(t)
	token, err := u.Links.CreateFirst(t.Context())
	must(t, err)
	next := ""
	first, second := testkit.Overlap(t, cfg, holdEvents,
		func() error {
			_, _, err := u.Links.Use(t.Context(), token, "ann@example.com", "Ann", client)
			return err
		},
		func() (err error) { next, err = u.Links.CreateFirst(t.Context()); return err })
	must(t, first)
	must(t, second)
	if next != "" {
		t.Error("there is a link although there is a user")
	}
}

// TestFirstLinkIsUsedWhileAUserIsMade: it makes no administrator once there is a user, however that one came, and says so.
func TestFirstLinkIsUsedWhileAUserIsMade(t *testing.T) {
	for name, add := range map[string]func(*testing.T, *auth.Users) error{
		"created": func(t *testing.T, u *auth.Users) error {
			_, _, err := u.Create(t.Context(), "ann@example.com", "Ann", auth.Member)
			return err
		},
		"invited": func(t *testing.T, u *auth.Users) error {
			_, _, err := u.Invite(t.Context(), "bob@example.com", "Bob", auth.Member)
			return err
		},
		"forwarded": func(t *testing.T, u *auth.Users) error {
			g := u.Guard(auth.Access{Forward: auth.Forward{UserHeader: "X-Forwarded-User", AllowedUser: "ann@example.com"},
				Trusted: clients(t, "10.0.0.0/8")})
			decideFor(t, g, "search", httpd.Forward, request(from("10.1.2.3:1"), header("X-Forwarded-User", "ann@example.com")))
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, u, _ := openPostgres(t)
			token, err := u.Links.CreateFirst(t.Context())
			must(t, err)
			first, second := testkit.Overlap(t, cfg, holdEvents, func() error { return add(t, u) }, func() error {
				_, _, err := u.Links.Use(t.Context(), token, "ann@example.com", "Ann", client)
				return err
			})
			must(t, first)
			wantCode(t, second, "administrator_exists")
			if n, err := u.Count(t.Context()); err != nil || n != 1 {
				t.Errorf("%d users, %v", n, err)
			}
		})
	}
}
