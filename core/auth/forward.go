package auth

import (
	"context"
	"errors"
	"net/mail"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/patchbay-dev/patchbay/core/store"
)

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
		made := u.cfg.Store.Writer(ctx).Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "email"}}, DoNothing: true}).Create(&user)
		if made.Error != nil || made.RowsAffected == 0 {
			return made.Error
		}
		return u.record(ctx, Event{Action: EventUserCreated, Via: ViaForward, TargetID: user.ID, TargetName: user.Email, UserID: user.ID})
	})
	if err != nil {
		return user, err
	}
	return u.byEmail(ctx, user.Email)
}
