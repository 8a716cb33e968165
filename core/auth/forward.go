package auth

import (
	"context"
	"errors"

	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/core/texts"
)

// forwardedPrincipal returns the user of a forwarded identity, who is created at the first visit. The user is always an
// administrator.
func (u *Users) forwardedPrincipal(ctx context.Context, name string) (*Principal, error) {
	n := newForwardedName(name)
	user, err := u.byForwarded(u.cfg.Store.DB(ctx), n)
	if errors.Is(err, gorm.ErrRecordNotFound) {
		user, err = u.claimForwarded(ctx, name, n)
	}
	if err != nil {
		return nil, wrapStoreError("read the user of a forwarded identity", err)
	}
	if user.Disabled {
		return nil, errDisabled()
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

// byForwarded returns the user that a forwarded name has claimed.
func (u *Users) byForwarded(db *gorm.DB, n forwardedName) (user User, err error) {
	err = db.Where("forwarded_as = ? AND forwarded_as <> ''", n.key).Take(&user).Error
	return user, err
}

// claimForwarded returns the user of a forwarded name at its first visit: one of an earlier version whom no other name has claimed, or else
// a new one.
func (u *Users) claimForwarded(ctx context.Context, name string, n forwardedName) (user User, err error) {
	err = u.cfg.Store.Tx(ctx, "create user", func(ctx context.Context) error {
		if err := u.rows.lockFirstUser(ctx); err != nil {
			return err
		}
		w := u.cfg.Store.Writer(ctx)
		if user, err = u.byForwarded(w, n); !errors.Is(err, gorm.ErrRecordNotFound) {
			return err // nil for a visit of the same name that was faster
		}
		former, err := u.rows.lockUser(ctx, "email = ?", n.former)
		taken := err == nil
		if err != nil && fault.CodeOf(err) != fault.NotFound {
			return err
		}
		if taken && n.namesAccount(former) {
			if user = former; user.Disabled {
				return nil // it keeps all these names out, whoever of them visits first
			}
			user.ForwardedAs = n.key
			if err := w.Model(&User{}).Where("id = ?", user.ID).Update("forwarded_as", n.key).Error; err != nil {
				return err
			}
			return u.recordForwarded(ctx, EventUserClaimed, user, "forwarded name: "+name)
		}
		now := u.cfg.Now().UnixMilli()
		user = User{ID: store.NewID("usr"), Email: n.address, Name: texts.Limit(name, maxName), Role: Admin, Forwarded: true, ForwardedAs: n.key,
			CreatedAt: now, UpdatedAt: now}
		detail := ""
		if taken {
			detail = "another spelling than the account " + n.former
		}
		if taken || n.address == "" {
			user.Email = n.ownAddress
		}
		if err := w.Create(&user).Error; err != nil {
			return err
		}
		return u.recordForwarded(ctx, EventUserCreated, user, detail)
	})
	return user, err
}

func (u *Users) recordForwarded(ctx context.Context, action string, user User, detail string) error {
	return u.Journal.recordEvent(ctx, Event{Action: action, Via: ViaForward, TargetID: user.ID, TargetName: user.Email, UserID: user.ID,
		Detail: detail})
}

// demoteForwarded takes the role of an administrator from the user of an identity that the proxy forwards and the allowlist no
// longer lets in. The user's API keys and sessions lose it at once.
func (u *Users) demoteForwarded(ctx context.Context, name string) error {
	n := newForwardedName(name)
	db := u.cfg.Store.DB(ctx)
	user, err := u.byForwarded(db, n)
	if errors.Is(err, gorm.ErrRecordNotFound) {
		// An account of an earlier version may be this person's: until a name has claimed it, it is treated so.
		err = db.Where("email = ? AND forwarded_as = ''", n.former).Take(&user).Error
	}
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
		user, err := u.rows.lockUser(ctx, "id = ?", id)
		if err != nil {
			return err
		}
		_, err = u.applyChange(ctx, user, UserChange{Role: &role})
		return err
	}))
}
