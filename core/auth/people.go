package auth

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/fault"
)

// UserChange says what to change of a user; nil leaves a thing as it is.
type UserChange struct {
	Name     *string
	Role     *Role
	Disabled *bool
}

// Get is the user with an id.
func (u *Users) Get(ctx context.Context, id string) (user User, err error) {
	return u.findUser(u.cfg.Store.DB(ctx), "id = ?", id)
}

// Change renames a user, changes the role, keeps the user out or lets the user back in. A user who is kept out has no
// sessions any more; keys and passkeys work again when the user is let in. The last administrator who is enabled stays so.
func (u *Users) Change(ctx context.Context, id string, c UserChange) (out User, err error) {
	err = u.cfg.Store.Tx(ctx, "change user", func(ctx context.Context) error {
		loses := c.Role != nil && *c.Role != Admin || c.Disabled != nil && *c.Disabled
		others := 0
		if loses {
			if others, err = u.lockAdmins(ctx, id); err != nil {
				return err
			}
		}
		user, err := u.lockUser(ctx, "id = ?", id)
		if err != nil {
			return err
		}
		if loses && others == 0 && user.Role == Admin && !user.Disabled {
			return fault.New(fault.Conflict, "This is the last administrator who is let in: make another one first.")
		}
		out, err = u.applyChange(ctx, user, c)
		return err
	})
	return out, wrapStoreError("change user", err)
}

// Disable keeps a user out, as Change does. It is for the command line, from which Reset lets everybody in again: also the
// last administrator can be kept out.
func (u *Users) Disable(ctx context.Context, email string) error {
	return u.changeUser(ctx, email, func(ctx context.Context, user User) error {
		yes := true
		_, err := u.applyChange(ctx, user, UserChange{Disabled: &yes})
		return err
	})
}

// applyChange stores a change of a user, whom the caller has locked, and its events in the running transaction.
func (u *Users) applyChange(ctx context.Context, user User, c UserChange) (User, error) {
	was := user
	var events []Event
	if c.Name != nil && strings.TrimSpace(*c.Name) != was.Name {
		user.Name = strings.TrimSpace(*c.Name)
		events = append(events, Event{Action: EventUserRenamed, Detail: "formerly: " + was.Name})
	}
	if c.Role != nil && *c.Role != was.Role {
		user.Role = *c.Role
		events = append(events, Event{Action: EventUserRole, Detail: "role: " + string(user.Role)})
	}
	if c.Disabled != nil && *c.Disabled != was.Disabled {
		u.cfg.Store.AfterCommit(ctx, u.publishChange)
		user.Disabled = *c.Disabled
		action := EventUserEnabled
		if user.Disabled {
			action = EventUserDisabled
		}
		events = append(events, Event{Action: action})
	}
	if len(events) == 0 {
		return user, nil
	}
	// What stays is not checked: accounts that earlier versions made of forwarded names may have addresses that are not valid.
	if user.Name != was.Name {
		if err := checkName(user.Name); err != nil {
			return was, err
		}
	}
	if err := checkRole(user.Role); err != nil {
		return was, err
	}
	return user, u.saveUser(ctx, &user, events)
}

func (u *Users) saveUser(ctx context.Context, user *User, events []Event) error {
	w := u.cfg.Store.Writer(ctx)
	user.UpdatedAt = u.cfg.Now().UnixMilli()
	err := w.Model(&User{}).Where("id = ?", user.ID).Updates(map[string]any{
		"name": user.Name, "role": user.Role, "disabled": user.Disabled, "updated_at": user.UpdatedAt,
	}).Error
	if err == nil && user.Disabled {
		err = w.Where("user_id = ?", user.ID).Delete(&session{}).Error
	}
	for _, e := range events {
		if err == nil {
			e.TargetID, e.TargetName, e.UserID = user.ID, user.Email, user.ID
			err = u.recordEvent(ctx, e)
		}
	}
	return err
}

// Reset lets a user back in with a new API key, whose text is returned this once; the former keys, the passkeys, the set-up
// links, all sessions and what the services have handed out end.
func (u *Users) Reset(ctx context.Context, email string) (text string, err error) {
	err = u.changeUser(ctx, email, func(ctx context.Context, user User) error {
		if err := u.removeCredentials(ctx, user); err != nil {
			return err
		}
		text, err = u.insertKey(ctx, &apiKey{UserID: user.ID, Name: initialKeyName})
		return err
	})
	return text, err
}

// removeCredentials revokes the keys and passkeys of a user, whom the caller has locked, deletes sessions, challenges and links, and
// enables the account.
func (u *Users) removeCredentials(ctx context.Context, user User) error {
	u.cfg.Store.AfterCommit(ctx, u.publishChange)
	w, now := u.cfg.Store.Writer(ctx), u.cfg.Now().UnixMilli()
	for _, model := range []any{&apiKey{}, &passkey{}} {
		if err := w.Model(model).Where("user_id = ? AND revoked_at = 0", user.ID).Update("revoked_at", now).Error; err != nil {
			return err
		}
	}
	for _, model := range []any{&session{}, &challenge{}, &setupLink{}} {
		if err := w.Where("user_id = ?", user.ID).Delete(model).Error; err != nil {
			return err
		}
	}
	for _, g := range u.cfg.Grants {
		if err := g.End(ctx, u.cfg.Store, user.ID, u.cfg.Now()); err != nil {
			return fmt.Errorf("end what service %s has handed out: %w", g.Service, err)
		}
	}
	user.Disabled = false
	return u.saveUser(ctx, &user, []Event{{Action: EventUserReset}})
}

// changeUser runs f in a transaction with the user of an email address, who is locked.
func (u *Users) changeUser(ctx context.Context, email string, f func(context.Context, User) error) error {
	return wrapStoreError("change user", u.cfg.Store.Tx(ctx, "change user", func(ctx context.Context) error {
		user, err := u.lockUser(ctx, "email = ?", strings.ToLower(strings.TrimSpace(email)))
		if fault.CodeOf(err) == fault.NotFound {
			return fault.New(fault.NotFound, "There is no user with this email address.").With("field", "email")
		}
		if err != nil {
			return err
		}
		return f(ctx, user)
	}))
}

func (u *Users) findUser(db *gorm.DB, where string, arg any) (user User, err error) {
	err = db.Where(where, arg).Take(&user).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		err = fault.New(fault.NotFound, "There is no such user.")
	}
	return user, wrapStoreError("read user", err)
}

// OnChange sets who hears that users were disabled or enabled by this process, after the commit. It is set once, before
// there are requests. What other processes change is seen in the database.
func (u *Users) OnChange(f func()) { u.changed = f }

func (u *Users) publishChange() {
	if u.changed != nil {
		u.changed()
	}
}

// Disabled are the ids of the users who are kept out.
func (u *Users) Disabled(ctx context.Context) (ids []string, err error) {
	err = u.cfg.Store.DB(ctx).Model(&User{}).Where("disabled").Pluck("id", &ids).Error
	return ids, wrapStoreError("list disabled users", err)
}
