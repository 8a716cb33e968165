package auth_test

import (
	"context"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
)

// countEvents counts the events with an action about an object.
func countEvents(t *testing.T, u *auth.Users, action, object string) int {
	t.Helper()
	events, _, err := u.Journal.Events(t.Context(), auth.EventFilter{Action: action, Object: object})
	must(t, err)
	return len(events)
}

// TestKeyIsRevokedMeanwhile: a key that another revocation or a reset ends at the same time is ended once.
func TestKeyIsRevokedMeanwhile(t *testing.T) {
	cfg, u, _ := openPostgres(t)
	_, p := enter(t, u)
	var id string
	revoke := func() error { return u.Keys.Revoke(t.Context(), p, id) }
	for _, tc := range []struct {
		name  string
		first func() error
		want  int
	}{
		{"revoked", revoke, 1},
		{"reset", func() error { _, err := u.Reset(t.Context(), p.User.Email); return err }, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			key, _, err := u.Keys.Create(t.Context(), p, auth.NewKey{})
			must(t, err)
			id = key.ID
			first, second := testkit.Overlap(t, cfg, holdEvents, tc.first, revoke)
			must(t, first)
			must(t, second)
			if n := countEvents(t, u, auth.EventKeyRevoked, id); n != tc.want {
				t.Errorf("%d events, want %d", n, tc.want)
			}
		})
	}
}

// TestSessionIsEndedTwiceAtOnce: one of the two is noted.
func TestSessionIsEndedTwiceAtOnce(t *testing.T) {
	cfg, u, _ := openPostgres(t)
	_, p := enter(t, u)
	end := func() error { return u.Sessions.End(t.Context(), p.SessionID) }
	first, second := testkit.Overlap(t, cfg, holdEvents, end, end)
	must(t, first)
	must(t, second)
	if n := countEvents(t, u, auth.EventSessionEnded, p.SessionID); n != 1 {
		t.Errorf("%d events, want 1", n)
	}
}

// TestSessionsAreEndedDuringASignIn: a sign-in that is under way ends with the others.
func TestSessionsAreEndedDuringASignIn(t *testing.T) {
	cfg, u, st := openPostgres(t)
	_, p := enter(t, u)
	for name, end := range map[string]func() error{
		"other sessions": func() error { _, err := u.Sessions.EndOthers(t.Context(), p); return err },
		"linked sessions": func() error {
			return st.Tx(t.Context(), "test", func(ctx context.Context) error { return u.Sessions.EndLinked(ctx, p.User.ID) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			first, second := testkit.Overlap(t, cfg, holdEvents,
				func() error { _, err := u.Sessions.BeginLinked(t.Context(), p.User.ID, client); return err }, end)
			must(t, first)
			must(t, second)
			left, err := u.Sessions.List(t.Context(), p.User.ID)
			must(t, err)
			if len(left) != 1 || left[0].ID != p.SessionID {
				t.Errorf("got %+v", left)
			}
		})
	}
}

// TestPurgeDuringAReset: both delete what a user has that is past its time, and neither waits for the other without end.
func TestPurgeDuringAReset(t *testing.T) {
	cfg := testkit.PostgresConfig(t)
	now := time.Now()
	u, _ := openOn(t, cfg, func() time.Time { return now })
	_, p := enter(t, u)
	_, err := u.Passkeys.BeginRegistration(t.Context(), p, able(t, publicURL), "")
	must(t, err)
	_, err = u.Links.CreateForUser(t.Context(), p.User.ID)
	must(t, err)
	now = now.Add(2 * auth.SetupFor)
	// A purge stops after the challenges and before the set-up links.
	first, second := testkit.Overlap(t, cfg, "LOCK TABLE developer_sessions IN SHARE MODE",
		func() error { return u.Purge(t.Context()) },
		func() error { _, err := u.Links.Reset(t.Context(), p.User.Email); return err })
	must(t, first)
	must(t, second)
}

// TestSessionsArePurgedDuringAReset: both delete the same sessions, which the database finds in another order for each, and neither waits
// for the other without end.
func TestSessionsArePurgedDuringAReset(t *testing.T) {
	cfg := testkit.PostgresConfig(t)
	// The reset finds them by the index of users, the purge as they lie in the table.
	cfg.URL += "&enable_seqscan=off&enable_bitmapscan=off"
	now := time.Now()
	u, st := openOn(t, cfg, func() time.Time { return now })
	_, p := enter(t, u)
	for range 2 {
		_, err := u.Sessions.BeginLinked(t.Context(), p.User.ID, client)
		must(t, err)
	}
	var ids []string
	must(t, st.DB(t.Context()).Raw("SELECT id FROM sessions ORDER BY ctid").Scan(&ids).Error)
	for _, id := range ids[:2] {
		must(t, st.Tx(t.Context(), "move a session behind the others", func(ctx context.Context) error {
			return st.Writer(ctx).Exec("UPDATE sessions SET checked_at = checked_at + 1 WHERE id = ?", id).Error
		}))
	}
	now = now.Add(365 * 24 * time.Hour)
	first, second := testkit.Overlap(t, cfg, "SELECT 1 FROM sessions WHERE id = '"+ids[1]+"' FOR UPDATE",
		func() error { _, err := u.Links.Reset(t.Context(), p.User.Email); return err },
		func() error { return u.Purge(t.Context()) })
	must(t, first)
	must(t, second)
}
