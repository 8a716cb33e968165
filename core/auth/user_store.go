package auth

import (
	"context"
	"errors"
	"net/http"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/store"
)

// userStore reads and locks the rows of users.
type userStore struct{ cfg Config }

// lockUser returns the user that a condition names and locks the row until the running transaction ends. What changes a user, or
// the ways in that the user has, calls it before it reads what it decides by, so that two such transactions run one after the other.
// Locks are taken in this order: the ways in that a service keeps, lockFirstUser, the administrators with lockAdmins, the user, and then
// rows that belong to the user. Purge locks such rows alone, and waits for none of them.
func (us *userStore) lockUser(ctx context.Context, where string, arg any) (User, error) {
	return us.findUser(us.cfg.Store.Writer(ctx).Clauses(clause.Locking{Strength: "UPDATE"}), where, arg)
}

// lockFirstUser makes transactions that add a user, or use or make a link for the first administrator, run one after the other. It
// comes before lockAdmins and lockUser.
func (us *userStore) lockFirstUser(ctx context.Context) error {
	if us.cfg.Store.Dialect() != store.Postgres {
		return nil
	}
	err := us.cfg.Store.Writer(ctx).Exec("SELECT pg_advisory_xact_lock(hashtext('users/first'))").Error
	return wrapStoreError("lock the first user", err)
}

// lockAdmins locks the administrators who are not disabled, until the running transaction ends, and returns how many of them there
// are besides the user with an id. It comes before lockUser.
func (us *userStore) lockAdmins(ctx context.Context, id string) (others int, err error) {
	var admins []User
	err = us.cfg.Store.Writer(ctx).Clauses(clause.Locking{Strength: "UPDATE"}).Order("id").
		Where("role = ? AND disabled = ?", Admin, false).Find(&admins).Error
	for _, a := range admins {
		if a.ID != id {
			others++
		}
	}
	return others, wrapStoreError("lock administrators", err)
}

func (us *userStore) findUser(db *gorm.DB, where string, arg any) (user User, err error) {
	err = db.Where(where, arg).Take(&user).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		err = fault.New(fault.NotFound, "There is no such user.")
	}
	return user, wrapStoreError("read user", err)
}

// touchRow stores that a row was used. A failure is only logged.
func (us *userStore) touchRow(ctx context.Context, model any, column string, id any, values map[string]any) {
	ctx = store.Essential(ctx)
	err := us.cfg.Store.Tx(ctx, "note use", func(ctx context.Context) error {
		return us.cfg.Store.Writer(ctx).Model(model).Where(column+" = ?", id).Updates(values).Error
	})
	if err != nil && ctx.Err() == nil {
		us.cfg.Logger.Warn("cannot record the last use of a session", "error", err)
	}
}

func (us *userStore) loadUser(ctx context.Context, id string) (User, error) {
	var out User
	err := us.cfg.Store.DB(ctx).Where("id = ?", id).Take(&out).Error
	if err != nil {
		return out, wrapStoreError("read user", err)
	}
	if out.Disabled {
		return out, errDisabled()
	}
	return out, nil
}

func errDisabled() error {
	return fault.New("account_disabled", "This account is disabled.").WithStatus(http.StatusForbidden)
}

// purgeRows deletes, in the running transaction, the rows of a table by hash that a condition selects. It leaves out those that another
// transaction has locked, which are deleted there or by the next purge: it waits for nobody who may wait for it.
func (us *userStore) purgeRows(ctx context.Context, model any, condition string, args ...any) error {
	w := us.cfg.Store.Writer(ctx)
	free := w.Model(model).Select("hash").Where(condition, args...).Clauses(clause.Locking{Strength: "UPDATE", Options: "SKIP LOCKED"})
	return w.Where("hash IN (?)", free).Delete(model).Error
}
