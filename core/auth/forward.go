package auth

import (
	"context"
	"errors"
	"net/mail"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/core/texts"
)

// forwardedDomain makes an address of the name of a person whom a proxy has signed in. No mail goes there.
const forwardedDomain = "@forwarded.invalid"

// forwardedEmail returns the email address of the user of a forwarded identity.
func forwardedEmail(name string) string {
	email := strings.ToLower(name)
	if a, err := mail.ParseAddress(email); err != nil || a.Address != email {
		email += forwardedDomain
	}
	return texts.Limit(email, maxEmail)
}

// forwardedPrincipal returns the user of a forwarded identity, who is created at the first visit. The user is always an
// administrator.
func (u *Users) forwardedPrincipal(ctx context.Context, name string) (*Principal, error) {
	email := forwardedEmail(name)
	user, err := u.byEmail(ctx, email)
	if errors.Is(err, gorm.ErrRecordNotFound) {
		user, err = u.addForwarded(ctx, name, email)
	}
	if err != nil {
		return nil, wrapStoreError("read the user of a forwarded identity", err)
	}
	if user, err = u.loadUser(ctx, user.ID); err != nil {
		return nil, err
	}
	if user.Forwarded && user.Role != Admin {
		if err := u.setForwardedRole(ctx, user.ID, Admin); err != nil {
			return nil, err
		}
	}
	// Whom the allowlist names may administer, whatever the user was made for. What users who were not made by a visit own,
	// such as API keys, keeps to their own role.
	user.Role = Admin
	return &Principal{User: user, Via: ViaForward}, nil
}

func (u *Users) byEmail(ctx context.Context, email string) (user User, err error) {
	err = u.cfg.Store.DB(ctx).Where("email = ?", email).Take(&user).Error
	return user, err
}

func (u *Users) addForwarded(ctx context.Context, name, email string) (User, error) {
	now := u.cfg.Now().UnixMilli()
	user := User{ID: store.NewID("usr"), Email: email, Name: texts.Limit(name, maxName), Role: Admin, Forwarded: true, CreatedAt: now, UpdatedAt: now}
	err := u.cfg.Store.Tx(ctx, "create user", func(ctx context.Context) error {
		if err := u.lockFirstUser(ctx); err != nil {
			return err
		}
		made := u.cfg.Store.Writer(ctx).Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "email"}}, DoNothing: true}).Create(&user)
		if made.Error != nil || made.RowsAffected == 0 {
			return made.Error
		}
		return u.recordEvent(ctx, Event{Action: EventUserCreated, Via: ViaForward, TargetID: user.ID, TargetName: user.Email, UserID: user.ID})
	})
	if err != nil {
		return user, err
	}
	return u.byEmail(ctx, user.Email)
}

// demoteForwarded takes the role of an administrator from the user of an identity that the proxy forwards and the allowlist no
// longer lets in. The user's API keys and sessions lose it at once.
func (u *Users) demoteForwarded(ctx context.Context, name string) error {
	user, err := u.byEmail(ctx, forwardedEmail(name))
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil
	}
	if err != nil {
		return wrapStoreError("read the user of a forwarded identity", err)
	}
	if !user.Forwarded || user.Role != Admin {
		return nil
	}
	return u.setForwardedRole(ctx, user.ID, Member)
}

func (u *Users) setForwardedRole(ctx context.Context, id string, role Role) error {
	ctx = Acting(ctx, Actor{Name: "forwarded identity", Via: ViaForward})
	return wrapStoreError("change the role of a forwarded identity", u.cfg.Store.Tx(ctx, "change role", func(ctx context.Context) error {
		user, err := u.lockUser(ctx, "id = ?", id)
		if err != nil {
			return err
		}
		_, err = u.applyChange(ctx, user, UserChange{Role: &role})
		return err
	}))
}
