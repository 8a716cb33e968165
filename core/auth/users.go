// Package auth keeps the people who use Patchbay and the API keys by which their programs are recognised.
package auth

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"net/mail"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hashicorp/go-hclog"
	"gorm.io/gorm/clause"

	"github.com/patchbay-dev/patchbay/core/auth/limit"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/store"
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

// Role is what a user may do.
type Role string

// The roles.
const (
	Admin  Role = "admin"
	Member Role = "member"
)

const (
	keyPrefix      = "svc_ak_"
	keyBytes       = 32
	maxName        = 80
	maxEmail       = 254
	defaultKeyName = "API key"
	initialKeyName = "Initial API key"
)

// User is a person. Times are Unix milliseconds.
type User struct {
	ID       string `gorm:"primaryKey"`
	Email    string
	Name     string
	Role     Role
	Disabled bool
	// Forwarded is set for a user whom a proxy's header made: the role follows the header.
	Forwarded bool
	// ForwardedAs is the key of the forwarded name that has claimed the account, "" if none has.
	ForwardedAs string `json:"-"`
	CreatedAt   int64  `gorm:"autoCreateTime:false"`
	UpdatedAt   int64  `gorm:"autoUpdateTime:false"`
}

// TableName implements gorm's Tabler.
func (User) TableName() string { return "users" }

// Config is what the package needs.
type Config struct {
	Store   *store.Store
	Keyring *secret.Keyring
	// Logger may be nil.
	Logger hclog.Logger
	// Scopes are the names of the services, to which API keys can be confined.
	Scopes []string
	// Grants are what the services hand out to users.
	Grants []Grant
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Grant is what a service hands out that lets whoever holds it in as a user, such as tokens, links and accounts elsewhere. While the user
// is disabled, the service refuses it by itself.
type Grant struct {
	// Service is who hands it out.
	Service string
	// End ends in the running transaction what a user has, for good. It needs no running service.
	End func(ctx context.Context, s *store.Store, userID string, now time.Time) error
}

// Users keeps the users, their API keys, passkeys and sessions.
type Users struct {
	cfg Config
	// changed hears of users who were disabled or enabled by this process.
	changed func()
	// signIns counts the failed attempts to sign in, badKeys the wrong API keys, ceremonies the passkey challenges: each
	// for the address of a client.
	signIns, badKeys, ceremonies *limit.Limiter
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
	u := &Users{cfg: cfg}
	for _, l := range []struct {
		into  **limit.Limiter
		burst int
		every time.Duration
	}{{&u.signIns, 10, 6 * time.Second}, {&u.badKeys, 30, 2 * time.Second}, {&u.ceremonies, 60, time.Second}} {
		var err error
		if *l.into, err = limit.New(limit.Config{Burst: l.burst, Every: l.every, Now: cfg.Now}); err != nil {
			return nil, err
		}
	}
	return u, nil
}

// Create adds a user and an API key for it, whose text is returned this once. The first user is an administrator, whatever the role.
func (u *Users) Create(ctx context.Context, email, name string, role Role) (user User, text string, err error) {
	user, err = u.insertUser(ctx, email, name, role, func(ctx context.Context, user User) (err error) {
		text, err = u.insertKey(ctx, &apiKey{UserID: user.ID, Name: initialKeyName})
		return err
	})
	return user, text, err
}

// Invite adds a user and makes the token of a link by which the user gets in once, to register a passkey.
func (u *Users) Invite(ctx context.Context, email, name string, role Role) (user User, token string, err error) {
	user, err = u.insertUser(ctx, email, name, role, func(ctx context.Context, user User) (err error) {
		token, err = u.createLink(ctx, user)
		return err
	})
	return user, token, err
}

// insertUser adds a user together with its first means to sign in, which admit makes in the same transaction.
func (u *Users) insertUser(ctx context.Context, email, name string, role Role, admit func(context.Context, User) error) (User, error) {
	email = strings.ToLower(strings.TrimSpace(email))
	name = strings.TrimSpace(name)
	if err := checkUser(email, name, role); err != nil {
		return User{}, err
	}
	now := u.cfg.Now().UnixMilli()
	user := User{ID: store.NewID("usr"), Email: email, Name: name, Role: role, CreatedAt: now, UpdatedAt: now}
	err := u.cfg.Store.Tx(ctx, "create user", func(ctx context.Context) error {
		if err := u.lockFirstUser(ctx); err != nil {
			return err
		}
		if n, err := u.Count(ctx); err != nil {
			return err
		} else if n == 0 {
			user.Role = Admin
		}
		w := u.cfg.Store.Writer(ctx)
		// One statement, so that of two processes that create the same user one is told so.
		made := w.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "email"}}, DoNothing: true}).Create(&user)
		if made.Error != nil {
			return made.Error
		}
		if made.RowsAffected == 0 {
			return fault.New(fault.Conflict, "There is a user with this email address already.").With("field", "email")
		}
		if err := u.recordEvent(ctx, Event{Action: EventUserCreated, TargetID: user.ID, TargetName: user.Email, UserID: user.ID,
			Detail: "role: " + string(user.Role)}); err != nil {
			return err
		}
		return admit(ctx, user)
	})
	if err != nil {
		return User{}, wrapStoreError("create user", err)
	}
	return user, nil
}

func checkUser(email, name string, role Role) error {
	if a, err := mail.ParseAddress(email); err != nil || a.Address != email || len(email) > maxEmail || !utf8.ValidString(email) {
		return fault.New(fault.InvalidArgument, "The email address is not valid, or longer than %d characters.", maxEmail).With("field", "email")
	}
	if err := checkName(name); err != nil {
		return err
	}
	return checkRole(role)
}

func checkRole(role Role) error {
	if role != Admin && role != Member {
		return fault.New(fault.InvalidArgument, "The role must be admin or member.").With("field", "role")
	}
	return nil
}

// List returns all users, the oldest first.
func (u *Users) List(ctx context.Context) (out []User, err error) {
	err = u.cfg.Store.DB(ctx).Order("created_at, id").Find(&out).Error
	return out, wrapStoreError("list users", err)
}

// ByEmail is the user with an email address.
func (u *Users) ByEmail(ctx context.Context, email string) (User, error) {
	user, err := u.findUser(u.cfg.Store.DB(ctx), "email = ?", strings.ToLower(strings.TrimSpace(email)))
	if fault.CodeOf(err) == fault.NotFound {
		err = fault.New(fault.NotFound, "There is no user with this email address.").With("field", "email")
	}
	return user, err
}

// HasAdmin reports whether there is an administrator, be it a disabled one. Until then the set-up link makes one.
func (u *Users) HasAdmin(ctx context.Context) (has bool, err error) {
	err = u.cfg.Store.DB(ctx).Raw("SELECT EXISTS (SELECT 1 FROM users WHERE role = ?)", Admin).Row().Scan(&has)
	return has, wrapStoreError("look for an administrator", err)
}

// ByID finds users by their ids; those that do not exist are left out.
func (u *Users) ByID(ctx context.Context, ids []string) (map[string]User, error) {
	var found []User
	err := u.cfg.Store.DB(ctx).Where("id IN ?", ids).Find(&found).Error
	out := make(map[string]User, len(found))
	for _, user := range found {
		out[user.ID] = user
	}
	return out, wrapStoreError("read users", err)
}

// Count tells how many users there are.
func (u *Users) Count(ctx context.Context) (n int64, err error) {
	err = u.cfg.Store.DB(ctx).Model(&User{}).Count(&n).Error
	return n, wrapStoreError("count users", err)
}

func wrapStoreError(verb string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", verb, err)
}
