package auth_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/auth/limit"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/secret"
)

// TestLimitsOfNodes: tries at one core count at the others, by the clock of the database.
func TestLimitsOfNodes(t *testing.T) {
	url := testkit.Postgres(t)
	open := func(now time.Time) *limit.Limiter {
		st := testkit.SharedStore(t, url, auth.Migrations())
		l, err := limit.New(limit.Config{Burst: 3, Every: time.Hour, Store: st, Name: "sign_in", Now: func() time.Time { return now }})
		testkit.Must(t, err)
		return l
	}
	// The clocks of machines differ.
	a, b := open(time.Now()), open(time.Now().Add(24*time.Hour))
	for i, l := range []*limit.Limiter{a, b, b} {
		if _, ok := l.Left("192.0.2.1"); !ok {
			t.Errorf("try %d: none is left", i+1)
		}
		if wait, ok := l.Take("192.0.2.1"); !ok || wait != 0 {
			t.Errorf("try %d: wait %s", i+1, wait)
		}
	}
	for _, l := range []*limit.Limiter{a, b} {
		if wait, ok := l.Take("192.0.2.1"); ok || wait < 59*time.Minute || wait > time.Hour {
			t.Errorf("a fourth try: %v, wait %s", ok, wait)
		}
		if _, ok := l.Left("192.0.2.1"); ok {
			t.Error("a fifth try is left")
		}
		if _, ok := l.Take("192.0.2.2"); !ok {
			t.Error("another client has to wait")
		}
	}
}

// TestEndsAtOtherNodes: a user who is disabled at one core, and a key and a session that are ended there, are refused at another one at once,
// which let them in before.
func TestEndsAtOtherNodes(t *testing.T) {
	url := testkit.Postgres(t)
	ring, err := secret.NewKeyring(make([]byte, secret.KeySize))
	must(t, err)
	open := func() *auth.Users {
		u, err := auth.New(auth.Config{Store: testkit.SharedStore(t, url, auth.Migrations()), Keyring: ring})
		must(t, err)
		return u
	}
	a, b := open(), open()
	ctx, at := t.Context(), b.Guard(auth.Access{})
	_, _, err = a.Create(ctx, "first@example.com", "First", auth.Admin)
	must(t, err)
	for what, end := range map[string]func(user auth.User, p *auth.Principal) error{
		"disabled": func(user auth.User, _ *auth.Principal) error { return a.Disable(ctx, user.Email) },
		"reset":    func(user auth.User, _ *auth.Principal) error { _, err := a.Reset(ctx, user.Email); return err },
		"revoked": func(_ auth.User, p *auth.Principal) error {
			_, err := a.Sessions.EndOthers(ctx, p)
			return errors.Join(err, a.Keys.Revoke(ctx, p, p.KeyID))
		},
	} {
		user, key, err := a.Create(ctx, what+"@example.com", what, auth.Admin)
		must(t, err)
		session, _, err := a.Sessions.Exchange(ctx, key, auth.Origin{Address: "127.0.0.1"})
		must(t, err)
		_, byKey := decide(t, at, httpd.Admin, request(bearer(key)))
		_, bySession := decide(t, at, httpd.Admin, request(cookie(session)))
		if byKey == nil || bySession == nil || !byKey.Still() || !bySession.Still() {
			t.Fatalf("%s: not let in before", what)
		}
		must(t, end(user, byKey))
		if byKey.Still() || bySession.Still() {
			t.Errorf("%s: a stream goes on: %v %v", what, byKey.Still(), bySession.Still())
		}
		for _, r := range []*http.Request{request(bearer(key)), request(cookie(session))} {
			if _, p := decide(t, at, httpd.Admin, r); p != nil {
				t.Errorf("%s: still let in by %s", what, p.Via)
			}
		}
	}
}
