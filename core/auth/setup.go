package auth

import (
	"context"
	"net/http"
	"strings"
	"time"

	"gorm.io/gorm/clause"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/store"
)

// SetupFor is how long a set-up link is good for.
const SetupFor = 24 * time.Hour

// setupLink is the hash of a link by which somebody gets in once. Without a user it makes the first administrator.
type setupLink struct {
	Hash      []byte `gorm:"primaryKey"`
	UserID    string
	CreatedAt int64 `gorm:"autoCreateTime:false"`
	ExpiresAt int64
}

// TableName implements gorm's Tabler.
func (setupLink) TableName() string { return "setup_links" }

// Links keeps the set-up links.
type Links struct {
	cfg      Config
	users    *Users
	rows     *userStore
	sessions *Sessions
	journal  *Journal
}

// CreateFirst makes the token of a link that makes the first administrator; "" once there is one. Former ones end.
func (ls *Links) CreateFirst(ctx context.Context) (token string, err error) {
	err = ls.cfg.Store.Tx(ctx, "make set-up link", func(ctx context.Context) error {
		if err := ls.rows.lockFirstUser(ctx); err != nil {
			return err
		}
		has, err := ls.users.HasAdmin(ctx)
		if err != nil || has {
			return err
		}
		token, err = ls.createLink(ctx, User{})
		return err
	})
	return token, wrapStoreError("make set-up link", err)
}

// CreateForUser makes the token of a link by which a user gets in once, to register a passkey. Former ones end.
func (ls *Links) CreateForUser(ctx context.Context, id string) (token string, err error) {
	err = ls.cfg.Store.Tx(ctx, "make set-up link", func(ctx context.Context) error {
		user, err := ls.rows.lockUser(ctx, "id = ?", id)
		if err != nil {
			return err
		}
		if user.Disabled {
			return fault.New(fault.Conflict, "This account is disabled: enable it first.")
		}
		token, err = ls.createLink(ctx, user)
		return err
	})
	return token, wrapStoreError("make set-up link", err)
}

// Reset lets a user back in with a new set-up link, as Users.Reset does with a new API key.
func (ls *Links) Reset(ctx context.Context, email string) (token string, err error) {
	err = ls.users.changeUser(ctx, email, func(ctx context.Context, user User) error {
		if err := ls.users.removeCredentials(ctx, user); err != nil {
			return err
		}
		token, err = ls.createLink(ctx, user)
		return err
	})
	return token, err
}

// createLink makes the token of a set-up link in the running transaction, and ends former ones. The caller has locked them.
func (ls *Links) createLink(ctx context.Context, user User) (string, error) {
	w, now := ls.cfg.Store.Writer(ctx), ls.cfg.Now()
	if err := w.Where("user_id = ?", user.ID).Delete(&setupLink{}).Error; err != nil {
		return "", err
	}
	token := secret.RandomString(sessionChars, secret.Alphanumeric)
	row := setupLink{Hash: secret.HashToken(token), UserID: user.ID, CreatedAt: now.UnixMilli(), ExpiresAt: now.Add(SetupFor).UnixMilli()}
	if err := w.Create(&row).Error; err != nil {
		return "", err
	}
	return token, ls.journal.recordEvent(ctx, Event{Action: EventSetupLinkMade, TargetID: user.ID, TargetName: user.Email, UserID: user.ID})
}

func errLink() error {
	return fault.New(
		"invalid_setup_link", "This set-up link is unknown, already used or older than a day.").WithStatus(http.StatusUnauthorized)
}

// errHasAdmin is the error of a link for the first administrator once there is one.
func errHasAdmin() error {
	return fault.New("administrator_exists",
		"There is an administrator already: sign in, or ask an administrator for a link.").WithStatus(http.StatusConflict)
}

// IsFirst reports whether a token makes the first administrator, so that email and name are needed; an error if it is no
// good. It uses nothing up, and a wrong token is no failed sign-in: a page of another site can make a browser ask.
func (ls *Links) IsFirst(ctx context.Context, token string) (bool, error) {
	row, err := ls.liveLink(ctx, token)
	if err != nil {
		return false, err
	}
	if row.UserID == "" {
		has, err := ls.users.HasAdmin(ctx)
		if err == nil && has {
			err = errHasAdmin()
		}
		return err == nil, err
	}
	user, err := ls.users.Get(ctx, row.UserID)
	if err == nil && user.Disabled {
		err = errDisabled()
	}
	return false, err
}

// Use uses a set-up link up: it makes the first administrator with this email and name, or takes the user whom the link
// is for (email and name are ignored then), and begins a session. With an email or name that is refused the link stays good.
func (ls *Links) Use(ctx context.Context, token, email, name string, from Origin) (cookie string, p *Principal, err error) {
	if err := ls.sessions.allowAttempt(from); err != nil {
		return "", nil, err
	}
	p = &Principal{Via: ViaSession, Address: from.Address}
	err = ls.cfg.Store.Tx(ctx, "use set-up link", func(ctx context.Context) error {
		if p.User, err = ls.useLink(ctx, token); err != nil {
			return err
		}
		ctx = Acting(ctx, Actor{Address: from.Address, Via: ViaSession})
		if p.User.ID == "" {
			if p.User, err = ls.users.createFirstAdmin(ctx, email, name); err != nil {
				return err
			}
		}
		if err := ls.journal.recordFor(ctx, p.User, Event{Action: EventSetupLinkOpened, TargetID: p.User.ID}); err != nil {
			return err
		}
		var s session
		cookie, s, err = ls.sessions.beginSession(ctx, p.User, session{BeganWith: beganWithSetup}, ViaSession, from)
		p.SessionID, p.Since, p.CheckedAt = s.ID, s.CreatedAt, s.CheckedAt
		return err
	})
	if err != nil {
		ls.failedLink(ctx, from, err)
		return "", nil, wrapStoreError("use set-up link", err)
	}
	return cookie, p, nil
}

// useLink uses the link of a token up in the running transaction. It locks and returns the user whom the link is for. For the first
// administrator it calls lockFirstUser and returns a user without an id.
func (ls *Links) useLink(ctx context.Context, token string) (user User, err error) {
	row, err := ls.liveLink(ctx, token)
	if err != nil {
		return user, err
	}
	if row.UserID == "" {
		err = ls.rows.lockFirstUser(ctx)
	} else {
		user, err = ls.rows.lockUser(ctx, "id = ?", row.UserID)
	}
	if err == nil && user.Disabled {
		err = errDisabled()
	}
	if err != nil {
		return user, err
	}
	done := ls.cfg.Store.Writer(ctx).Where("hash = ?", row.Hash).Delete(&setupLink{})
	if done.Error == nil && done.RowsAffected == 0 {
		return user, errLink()
	}
	return user, done.Error
}

// failedLink counts and notes an attempt with a set-up link that is no good. Other errors are not the link's.
func (ls *Links) failedLink(ctx context.Context, from Origin, err error) {
	if fault.CodeOf(err) == fault.CodeOf(errLink()) {
		ls.sessions.recordFailure(ctx, from, ViaSession, EventSetupLinkOpened, "", err)
	}
}

// createFirstAdmin adds the first administrator in the running transaction, after lockFirstUser, and refuses once there is one.
func (u *Users) createFirstAdmin(ctx context.Context, email, name string) (User, error) {
	has, err := u.HasAdmin(ctx)
	if err != nil {
		return User{}, err
	}
	if has {
		return User{}, errHasAdmin()
	}
	email, name = strings.ToLower(strings.TrimSpace(email)), strings.TrimSpace(name)
	if err := checkUser(email, name, Admin); err != nil {
		return User{}, err
	}
	now := u.cfg.Now().UnixMilli()
	user := User{ID: store.NewID("usr"), Email: email, Name: name, Role: Admin, CreatedAt: now, UpdatedAt: now}
	made := u.cfg.Store.Writer(ctx).Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "email"}}, DoNothing: true}).Create(&user)
	if made.Error == nil && made.RowsAffected == 0 {
		return user, fault.New(fault.InvalidArgument,
			"There is a user with this email address, who is no administrator: name another one, or use patchbay user role.").With("field", "email")
	}
	if made.Error != nil {
		return user, made.Error
	}
	return user, u.Journal.recordFor(ctx, user, Event{Action: EventUserCreated, TargetID: user.ID, Detail: "role: " + string(Admin)})
}

func (ls *Links) liveLink(ctx context.Context, token string) (row setupLink, err error) {
	if len(token) != sessionChars {
		return row, errLink()
	}
	var rows []setupLink
	err = ls.cfg.Store.DB(ctx).Where("hash = ? AND expires_at > ?", secret.HashToken(token), ls.cfg.Now().UnixMilli()).Find(&rows).Error
	if err == nil && len(rows) == 0 {
		err = errLink()
	}
	if err != nil {
		return row, wrapStoreError("read set-up link", err)
	}
	return rows[0], nil
}
