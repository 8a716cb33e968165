package auth

import (
	"context"
	"fmt"
	"net/mail"
	"strings"
	"unicode/utf8"

	"gorm.io/gorm/clause"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/store"
)

// UserChange says what to change of a user; nil leaves a thing as it is.
type UserChange struct {
	Name     *string
	Role     *Role
	Disabled *bool
}

// Get is the user with an id.
func (u *Users) Get(ctx context.Context, id string) (user User, err error) {
	return u.rows.findUser(u.cfg.Store.DB(ctx), "id = ?", id)
}

// Change renames a user, changes the role, keeps the user out or lets the user back in. A user who is kept out has no
// sessions any more; keys and passkeys work again when the user is let in. The last administrator who is enabled stays so.
func (u *Users) Change(ctx context.Context, id string, c UserChange) (out User, err error) {
	err = u.cfg.Store.Tx(ctx, "change user", func(ctx context.Context) error {
		loses := c.Role != nil && *c.Role != Admin || c.Disabled != nil && *c.Disabled
		others := 0
		if loses {
			if others, err = u.rows.lockAdmins(ctx, id); err != nil {
				return err
			}
		}
		user, err := u.rows.lockUser(ctx, "id = ?", id)
		if err != nil {
			return err
		}
		if loses && others == 0 && user.Role == Admin && !user.Disabled {
			return fault.New(fault.Conflict, "This is the last active administrator: create another one first.")
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
			err = u.Journal.recordEvent(ctx, e)
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
		text, err = u.Keys.insertKey(ctx, &apiKey{UserID: user.ID, Name: initialKeyName})
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
		user, err := u.rows.lockUser(ctx, "email = ?", strings.ToLower(strings.TrimSpace(email)))
		if fault.CodeOf(err) == fault.NotFound {
			return fault.New(fault.NotFound, "There is no user with this email address.").With("field", "email")
		}
		if err != nil {
			return err
		}
		return f(ctx, user)
	}))
}

// TopicUsers is where cores tell each other that users were disabled, enabled or deleted.
const TopicUsers = "core.users"

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

// Create adds a user and an API key for it, whose text is returned this once. The first user is an administrator, whatever the role.
func (u *Users) Create(ctx context.Context, email, name string, role Role) (user User, text string, err error) {
	user, err = u.insertUser(ctx, email, name, role, func(ctx context.Context, user User) (err error) {
		text, err = u.Keys.insertKey(ctx, &apiKey{UserID: user.ID, Name: initialKeyName})
		return err
	})
	return user, text, err
}

// Invite adds a user and makes the token of a link by which the user gets in once, to register a passkey.
func (u *Users) Invite(ctx context.Context, email, name string, role Role) (user User, token string, err error) {
	user, err = u.insertUser(ctx, email, name, role, func(ctx context.Context, user User) (err error) {
		token, err = u.Links.createLink(ctx, user)
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
		if err := u.rows.lockFirstUser(ctx); err != nil {
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
			return fault.New(fault.Conflict, "A user with this email address already exists.").With("field", "email")
		}
		if err := u.Journal.recordEvent(ctx, Event{Action: EventUserCreated, TargetID: user.ID, TargetName: user.Email, UserID: user.ID,
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
	user, err := u.rows.findUser(u.cfg.Store.DB(ctx), "email = ?", strings.ToLower(strings.TrimSpace(email)))
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
