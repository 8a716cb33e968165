package auth

import (
	"context"

	"gorm.io/gorm/clause"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/store"
)

// lockUser returns the user that a condition names and locks the row until the running transaction ends. What changes a user, or
// the ways in that the user has, calls it before it reads what it decides by, so that two such transactions run one after the other.
// Locks are taken in this order: the ways in that a service keeps, lockFirstUser, the administrators with lockAdmins, the user, and then
// rows that belong to the user. Purge locks such rows alone, and waits for none of them.
func (u *Users) lockUser(ctx context.Context, where string, arg any) (User, error) {
	return u.findUser(u.cfg.Store.Writer(ctx).Clauses(clause.Locking{Strength: "UPDATE"}), where, arg)
}

// LockOwner locks the user of a principal who is about to make another way in until the running transaction ends, and refuses one who
// is disabled. It also refuses when the session has ended since the request was recognised: a reset leaves no way in that was asked
// for before. A service locks the ways in that it keeps itself before.
func (u *Users) LockOwner(ctx context.Context, p *Principal) error {
	user, err := u.lockUser(ctx, "id = ?", p.User.ID)
	if err == nil && user.Disabled {
		err = errDisabled()
	}
	if err != nil || p.SessionID == "" {
		return err
	}
	var n int64
	err = u.cfg.Store.Writer(ctx).Model(&session{}).Where("id = ? AND user_id = ?", p.SessionID, p.User.ID).Count(&n).Error
	if err == nil && n == 0 {
		err = fault.New(fault.Unauthorized, "The session has ended: sign in again.")
	}
	return err
}

// lockFirstUser makes transactions that add a user, or use or make a link for the first administrator, run one after the other. It
// comes before lockAdmins and lockUser.
func (u *Users) lockFirstUser(ctx context.Context) error {
	if u.cfg.Store.Dialect() != store.Postgres {
		return nil
	}
	err := u.cfg.Store.Writer(ctx).Exec("SELECT pg_advisory_xact_lock(hashtext('users/first'))").Error
	return wrapStoreError("lock the first user", err)
}

// lockAdmins locks the administrators who are not disabled, until the running transaction ends, and returns how many of them there
// are besides the user with an id. It comes before lockUser.
func (u *Users) lockAdmins(ctx context.Context, id string) (others int, err error) {
	var admins []User
	err = u.cfg.Store.Writer(ctx).Clauses(clause.Locking{Strength: "UPDATE"}).Order("id").
		Where("role = ? AND disabled = ?", Admin, false).Find(&admins).Error
	for _, a := range admins {
		if a.ID != id {
			others++
		}
	}
	return others, wrapStoreError("lock administrators", err)
}
