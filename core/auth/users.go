// Package auth keeps the people who use Patchbay and the API keys by which their programs are recognised.
package auth

import (
	"context"
	"crypto/rand"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/mail"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/go-hclog"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/store"
)

//go:embed migrations
var migrations embed.FS

// Migrations are the schema of this module.
func Migrations() store.Migrations {
	dir, err := fs.Sub(migrations, "migrations")
	if err != nil {
		// The directory is embedded: this cannot fail at run time.
		return store.Migrations{Module: "auth", FS: migrations}
	}
	return store.Migrations{Module: "auth", FS: dir}
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
)

// User is a person. Times are Unix milliseconds.
type User struct {
	ID        string `gorm:"primaryKey"`
	Email     string
	Name      string
	Role      Role
	Disabled  bool
	CreatedAt int64 `gorm:"autoCreateTime:false"`
	UpdatedAt int64 `gorm:"autoUpdateTime:false"`
}

// TableName implements gorm's Tabler.
func (User) TableName() string { return "users" }

// Config is what the package needs.
type Config struct {
	Store   *store.Store
	Keyring *secret.Keyring
	// Logger may be nil.
	Logger hclog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Users keeps the users and their API keys.
type Users struct{ cfg Config }

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
	return &Users{cfg: cfg}, nil
}

// Create adds a user and an API key for it, whose text is returned this once.
func (u *Users) Create(ctx context.Context, email, name string, role Role) (User, string, error) {
	email = strings.ToLower(strings.TrimSpace(email))
	name = strings.TrimSpace(name)
	if err := check(email, name, role); err != nil {
		return User{}, "", err
	}
	now := u.cfg.Now().UnixMilli()
	user := User{ID: store.NewID("usr"), Email: email, Name: name, Role: role, CreatedAt: now, UpdatedAt: now}
	var text string
	err := u.cfg.Store.Tx(ctx, "create user", func(ctx context.Context) error {
		w := u.cfg.Store.Writer(ctx)
		// One statement, so that of two processes that create the same user one is told so.
		made := w.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "email"}}, DoNothing: true}).Create(&user)
		if made.Error != nil {
			return made.Error
		}
		if made.RowsAffected == 0 {
			return fault.New(fault.Conflict, "There is a user with this email address already.").With("field", "email")
		}
		var err error
		text, err = u.addKey(ctx, user.ID)
		return err
	})
	if err != nil {
		return User{}, "", wrap("create user", err)
	}
	return user, text, nil
}

func check(email, name string, role Role) error {
	if a, err := mail.ParseAddress(email); err != nil || a.Address != email || len(email) > maxEmail || !utf8.ValidString(email) {
		return fault.New(fault.InvalidArgument, "The email address is not valid, or longer than %d characters.", maxEmail).With("field", "email")
	}
	if n := utf8.RuneCountInString(name); n == 0 || n > maxName || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return fault.New(fault.InvalidArgument, "The name must have 1 to %d characters, none of them a control character.", maxName).With("field", "name")
	}
	if role != Admin && role != Member {
		return fault.New(fault.InvalidArgument, "The role must be admin or member.").With("field", "role")
	}
	return nil
}

// addKey makes an API key for all services of a user.
func (u *Users) addKey(ctx context.Context, userID string) (string, error) {
	raw := make([]byte, keyBytes)
	if _, err := rand.Read(raw); err != nil {
		return "", err
	}
	text := keyPrefix + base64.RawURLEncoding.EncodeToString(raw)
	id := store.NewID("key")
	return text, u.cfg.Store.Writer(ctx).Create(&apiKey{
		ID: id, UserID: userID, Name: defaultKeyName, Hash: secret.HashToken(text), Prefix: text[:12],
		Sealed: u.cfg.Keyring.Seal([]byte(text), "api_keys", id, "sealed"), CreatedAt: u.cfg.Now().UnixMilli(),
	}).Error
}

// List returns all users, the oldest first.
func (u *Users) List(ctx context.Context) (out []User, err error) {
	err = u.cfg.Store.DB(ctx).Order("created_at, id").Find(&out).Error
	return out, wrap("list users", err)
}

// ByID finds users by their ids; those that do not exist are left out.
func (u *Users) ByID(ctx context.Context, ids []string) (map[string]User, error) {
	var found []User
	err := u.cfg.Store.DB(ctx).Where("id IN ?", ids).Find(&found).Error
	out := make(map[string]User, len(found))
	for _, user := range found {
		out[user.ID] = user
	}
	return out, wrap("read users", err)
}

// Count tells how many users there are.
func (u *Users) Count(ctx context.Context) (n int64, err error) {
	err = u.cfg.Store.DB(ctx).Model(&User{}).Count(&n).Error
	return n, wrap("count users", err)
}

// Disable keeps a user out. The keys stop working with the user.
func (u *Users) Disable(ctx context.Context, email string) error {
	return u.change(ctx, email, func(ctx context.Context, user User) error {
		return u.cfg.Store.Writer(ctx).Model(&user).Updates(map[string]any{"disabled": true, "updated_at": u.cfg.Now().UnixMilli()}).Error
	})
}

// Reset lets a user back in with a new API key, whose text is returned this once; the former keys and all sessions end.
func (u *Users) Reset(ctx context.Context, email string) (text string, err error) {
	err = u.change(ctx, email, func(ctx context.Context, user User) error {
		w, now := u.cfg.Store.Writer(ctx), u.cfg.Now().UnixMilli()
		if err := w.Model(&apiKey{}).Where("user_id = ? AND revoked_at = 0", user.ID).Update("revoked_at", now).Error; err != nil {
			return err
		}
		if err := w.Where("user_id = ?", user.ID).Delete(&session{}).Error; err != nil {
			return err
		}
		if err := w.Model(&user).Updates(map[string]any{"disabled": false, "updated_at": now}).Error; err != nil {
			return err
		}
		text, err = u.addKey(ctx, user.ID)
		return err
	})
	return text, err
}

func (u *Users) change(ctx context.Context, email string, f func(context.Context, User) error) error {
	return wrap("change user", u.cfg.Store.Tx(ctx, "change user", func(ctx context.Context) error {
		var user User
		err := u.cfg.Store.Writer(ctx).Where("email = ?", strings.ToLower(strings.TrimSpace(email))).Take(&user).Error
		if errors.Is(err, gorm.ErrRecordNotFound) {
			return fault.New(fault.NotFound, "There is no user with this email address.").With("field", "email")
		}
		if err != nil {
			return err
		}
		return f(ctx, user)
	}))
}

func wrap(verb string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", verb, err)
}

// toValid makes a text that a database takes: valid UTF-8 without NUL.
func toValid(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "")
}

// forwardedDomain makes an address of the name of a person whom a proxy has signed in. No mail goes there.
const forwardedDomain = "@forwarded.invalid"

// forwarded is the user of a forwarded identity, an administrator, made at the first visit.
func (u *Users) forwarded(ctx context.Context, name string) (*Principal, error) {
	email := strings.ToLower(name)
	if a, err := mail.ParseAddress(email); err != nil || a.Address != email {
		email += forwardedDomain
	}
	user, err := u.byEmail(ctx, email)
	if errors.Is(err, gorm.ErrRecordNotFound) {
		user, err = u.addForwarded(ctx, name, email)
	}
	if err != nil {
		return nil, wrap("read the user of a forwarded identity", err)
	}
	if user, err = u.user(ctx, user.ID); err != nil {
		return nil, err
	}
	// Whom the allowlist names may administer, whatever the user was made for.
	user.Role = Admin
	return &Principal{User: user, Via: ViaForward}, nil
}

func (u *Users) byEmail(ctx context.Context, email string) (user User, err error) {
	err = u.cfg.Store.DB(ctx).Where("email = ?", email).Take(&user).Error
	return user, err
}

func (u *Users) addForwarded(ctx context.Context, name, email string) (User, error) {
	now := u.cfg.Now().UnixMilli()
	user := User{ID: store.NewID("usr"), Email: clip(email, maxEmail), Name: clip(name, maxName), Role: Admin, CreatedAt: now, UpdatedAt: now}
	err := u.cfg.Store.Tx(ctx, "create user", func(ctx context.Context) error {
		return u.cfg.Store.Writer(ctx).Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "email"}}, DoNothing: true}).Create(&user).Error
	})
	if err != nil {
		return user, err
	}
	return u.byEmail(ctx, user.Email)
}
