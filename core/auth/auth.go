// Package auth keeps the people who use Patchbay and the API keys by which their programs are recognised.
package auth

import (
	"context"
	"embed"
	"errors"
	"time"

	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/store"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/auth/limit"
)

//go:embed migrations
var migrations embed.FS

// Migrations are the schema of this module.
func Migrations() store.Migrations {
	return store.EmbeddedMigrations("auth", migrations,
		store.StoredTime{Table: "sessions", Column: "created_at"},
		store.StoredTime{Table: "sessions", Column: "seen_at"},
		store.StoredTime{Table: "sessions", Column: "checked_at"},
		store.StoredTime{Table: "sessions", Column: "expires_at", Longest: sessionMax},
		store.StoredTime{Table: "developer_sessions", Column: "expires_at", Longest: developerFor},
		store.StoredTime{Table: "passkey_challenges", Column: "expires_at", Longest: challengeFor},
		store.StoredTime{Table: "setup_links", Column: "expires_at", Longest: SetupFor})
}

const jobPurge = "auth.purge"

// Users keeps the users. What they sign in with, and what they did, stands in its parts.
type Users struct {
	// Keys are the API keys, Passkeys the passkeys and their checks, Sessions the sign-ins, Links the set-up links.
	Keys     *Keys
	Passkeys *Passkeys
	Sessions *Sessions
	Links    *Links
	// Journal is the audit.
	Journal *Journal

	cfg  Config
	rows *userStore
	// changed hears of users who were disabled or enabled by this process.
	changed func()
}

// New makes the keeper. The migrations have run.
func New(cfg Config) (*Users, error) {
	if cfg.Store == nil || cfg.Keyring == nil {
		return nil, errors.New("auth needs a store and a keyring")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = hclog.NewNullLogger()
	}
	u := &Users{cfg: cfg, rows: &userStore{cfg}, Journal: &Journal{cfg}}
	u.Sessions = &Sessions{cfg: cfg, rows: u.rows, journal: u.Journal}
	u.Passkeys = &Passkeys{cfg: cfg, rows: u.rows, sessions: u.Sessions, journal: u.Journal}
	u.Keys = &Keys{cfg: cfg, rows: u.rows, passkeys: u.Passkeys, sessions: u.Sessions, journal: u.Journal}
	u.Links = &Links{cfg: cfg, users: u, rows: u.rows, sessions: u.Sessions, journal: u.Journal}
	u.Sessions.keys = u.Keys
	for _, l := range []struct {
		into  **limit.Limiter
		name  string
		burst int
		every time.Duration
	}{{&u.Sessions.failed, "sign_in", 10, 6 * time.Second}, {&u.Keys.wrong, "api_key", 30, 2 * time.Second}, {&u.Passkeys.asked, "ceremony", 60, time.Second}} {
		var err error
		if *l.into, err = limit.New(limit.Config{Burst: l.burst, Every: l.every, Now: cfg.Now, Store: cfg.Store, Name: l.name}); err != nil {
			return nil, err
		}
	}
	return u, nil
}

// Jobs are the handlers of the module's background work.
func (u *Users) Jobs() []queue.Handler {
	return []queue.Handler{{Type: jobPurge, Safe: true, Deletes: true, Timeout: time.Hour,
		Run: func(ctx context.Context, _ *queue.Job, _ queue.Progress) (any, error) {
			return nil, u.Purge(ctx)
		}}}
}

// Schedules say when that work is due.
func (u *Users) Schedules() []queue.Schedule {
	return []queue.Schedule{{Name: jobPurge, Cron: "41 * * * *", Type: jobPurge}}
}

// Purge deletes what is past its time: sessions, challenges, set-up links, and events of more than 400 days. It locks no users, and does
// not wait for rows of theirs.
func (u *Users) Purge(ctx context.Context) error {
	if err := errors.Join(u.Sessions.Purge(ctx), limit.Purge(ctx, u.cfg.Store, time.Hour)); err != nil {
		return err
	}
	now := u.cfg.Now()
	err := u.cfg.Store.Tx(ctx, "delete what is past its time", func(ctx context.Context) error {
		for _, model := range []any{&challenge{}, &developerSession{}, &setupLink{}} {
			if err := u.rows.purgeRows(ctx, model, "expires_at <= ?", now.UnixMilli()); err != nil {
				return err
			}
		}
		return nil
	})
	for more := err == nil; more; {
		if err = ctx.Err(); err != nil {
			break
		}
		more, err = u.Journal.purgeEvents(ctx, now.Add(-eventsFor))
	}
	return wrapStoreError("delete what is past its time", err)
}
