package auth

import (
	"context"

	"gorm.io/gorm/clause"
)

// lockUser returns the user that a condition names and locks the row until the running transaction ends. What changes a user, or
// the ways in that the user has, calls it before it reads what it decides by, so that two such transactions run one after the other.
// Locks are taken in this order: the administrators with lockAdmins, the user, and then rows that belong to the user.
func (u *Users) lockUser(ctx context.Context, where string, arg any) (User, error) {
	return u.findUser(u.cfg.Store.Writer(ctx).Clauses(clause.Locking{Strength: "UPDATE"}), where, arg)
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
