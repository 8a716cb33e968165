// Package account keeps what a user has told the service: the token of an account at a code host, and preferences.
package account

import (
	"context"
	"errors"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/core/texts"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

const (
	// maxText and maxURL bound what a code host says of an account, in bytes.
	maxText = 255
	maxURL  = 2000
)

// Store keeps accounts and preferences.
type Store struct {
	store *store.Store
	ring  *secret.Keyring
}

// NewStore makes the store. The migrations of the service have run.
func NewStore(s *store.Store, ring *secret.Keyring) *Store { return &Store{store: s, ring: ring} }

// What sealed columns are bound to. The table is named as it was when the first tokens were sealed.
const (
	tokenTable    = "release_accounts"
	tokenColumn   = "token"
	refreshColumn = "refresh_token"
)

// List returns the accounts of a user, the first one first.
func (s *Store) List(ctx context.Context, userID string) (found []Account, err error) {
	err = s.store.DB(ctx).Where("user_id = ?", userID).Order("created_at, id").Find(&found).Error
	return found, err
}

// LockAll returns the accounts of a user as List does. Until the running transaction ends, others that lock them wait, also if there are
// none. Whoever adds or removes an account, or stores what was read with one, locks those of its user, and of no other one, before any row.
func (s *Store) LockAll(ctx context.Context, userID string) ([]Account, error) {
	if err := s.lockName(ctx, "release_accounts/"+userID); err != nil {
		return nil, err
	}
	return s.List(ctx, userID)
}

// lockName has other transactions that lock a name wait until the running one ends. SQLite has one writer anyway.
func (s *Store) lockName(ctx context.Context, name string) error {
	if s.store.Dialect() != store.Postgres {
		return nil
	}
	return s.store.Writer(ctx).Exec("SELECT pg_advisory_xact_lock(hashtext(?))", name).Error
}

// ByIDs returns accounts by their ids; those that do not exist are left out.
func (s *Store) ByIDs(ctx context.Context, ids []string) (map[string]Account, error) {
	var found []Account
	err := s.store.DB(ctx).Where("id IN ?", ids).Find(&found).Error
	out := make(map[string]Account, len(found))
	for _, a := range found {
		out[a.ID] = a
	}
	return out, err
}

// Seeing returns the valid accounts of a user at a host, those that have starred or own a repository first.
func (s *Store) Seeing(ctx context.Context, userID, host string, repoID int64) (found []Account, err error) {
	err = s.store.DB(ctx).Where("user_id = ? AND host = ? AND state = ?", userID, host, Valid).
		Order(clause.OrderBy{Expression: clause.Expr{SQL: "(" + seesRepo + ") DESC, created_at, id", Vars: []any{repoID}}}).Find(&found).Error
	return found, err
}

// seesRepo holds for an account that has starred or owns a repository.
const seesRepo = "EXISTS (SELECT 1 FROM release_account_repos r WHERE r.account_id = release_host_accounts.id AND r.repo_id = ?)"

// Find returns the first account of a user. It reports false if there is none.
func (s *Store) Find(ctx context.Context, userID string) (Account, bool, error) {
	return s.findWhere(ctx, "user_id = ?", userID)
}

// FindByID returns the account with an id. It reports false if there is none.
func (s *Store) FindByID(ctx context.Context, id string) (Account, bool, error) {
	return s.findWhere(ctx, "id = ?", id)
}

// LockSignIn returns the account at a host with which somebody signs in, after LockAll for its user. It reports false if nobody does. Until
// the running transaction ends, others that lock the same sign-in wait, also if there is none: its lock comes before those of accounts.
func (s *Store) LockSignIn(ctx context.Context, host, remoteID string) (a Account, ok bool, err error) {
	const signsIn = "host = ? AND remote_id = ? AND sign_in"
	if err = s.lockName(ctx, "release_sign_ins/"+host+"/"+remoteID); err != nil {
		return a, false, err
	}
	if a, ok, err = s.findWhere(ctx, signsIn, host, remoteID); err != nil || !ok {
		return a, false, err
	}
	if _, err := s.LockAll(ctx, a.UserID); err != nil {
		return a, false, err
	}
	return s.findWhere(ctx, signsIn+" AND user_id = ?", host, remoteID, a.UserID)
}

// findWhere returns an account that a condition holds for. It reports false if there is none.
func (s *Store) findWhere(ctx context.Context, where string, args ...any) (a Account, ok bool, err error) {
	err = s.store.DB(ctx).Where(where, args...).Order("created_at, id").Take(&a).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return a, false, nil
	}
	return a, err == nil, err
}

// Token returns the token of an account.
func (s *Store) Token(a Account) (schema.Secret, error) {
	plain, err := s.ring.Open(a.Token, tokenTable, a.ID, tokenColumn)
	return schema.Secret(plain), err
}

// RefreshTokenOf returns what an account's token is refreshed with, "" if it is not.
func (s *Store) RefreshTokenOf(a Account) (schema.Secret, error) {
	if a.RefreshToken == "" {
		return "", nil
	}
	plain, err := s.ring.Open(a.RefreshToken, tokenTable, a.ID, refreshColumn)
	return schema.Secret(plain), err
}

// Save keeps the account to which a token belongs, in the place of what was known of it, after LockAll. It is read at the next chance.
// signIn says that the user signs in with it; a token that is saved for such an account leaves that as it is.
func (s *Store) Save(ctx context.Context, userID, host string, token codehost.OAuthToken, owner codehost.Account, signIn bool,
	now time.Time) (Account, error) {
	all, err := s.LockAll(ctx, userID)
	if err != nil {
		return Account{}, err
	}
	a := Account{ID: userID, CreatedAt: store.Millis(now), ReadsStars: true, ReadsInbox: true, ReadsActivity: true}
	for _, other := range all {
		if other.Host == host && other.RemoteID == owner.ID {
			a, signIn = other, signIn || other.SignIn
			break
		}
		if other.ID == a.ID {
			a.ID = store.NewID("acc")
		}
		// The order of accounts is that in which they came, also within a millisecond.
		a.CreatedAt = max(a.CreatedAt, other.CreatedAt+1)
	}
	known := a
	a = Account{
		ID: known.ID, UserID: userID, Host: host, RemoteID: texts.Limit(owner.ID, maxText), Login: texts.OneLine(owner.Login, maxText),
		LoginKey: repo.KeyOf(texts.OneLine(owner.Login, maxText)), AvatarURL: texts.Limit(owner.AvatarURL, maxURL),
		State: Valid, CheckedAt: store.Millis(now), CreatedAt: known.CreatedAt, SignIn: signIn,
		ReadsStars: known.ReadsStars, ReadsInbox: known.ReadsInbox, ReadsActivity: known.ReadsActivity,
	}
	s.setToken(&a, token)
	err = s.store.Tx(ctx, "save code host account", func(ctx context.Context) error {
		return s.store.Writer(ctx).Clauses(clause.OnConflict{UpdateAll: true}).Create(&a).Error
	})
	return a, err
}

// maskToken returns what of a token may be shown.
func maskToken(token string) string {
	if len(token) <= 12 {
		return "********"
	}
	return token[:4] + "…" + token[len(token)-4:]
}

// setToken seals a token into an account.
func (s *Store) setToken(a *Account, token codehost.OAuthToken) {
	plain := token.AccessToken.Reveal()
	a.Token, a.Masked = s.ring.Seal([]byte(plain), tokenTable, a.ID, tokenColumn), maskToken(plain)
	a.RefreshToken, a.ExpiresAt = "", store.Millis(token.ExpiresAt)
	if token.RefreshToken != "" {
		a.RefreshToken = s.ring.Seal([]byte(token.RefreshToken.Reveal()), tokenTable, a.ID, refreshColumn)
	}
}

// ReplaceToken keeps the token that came in the place of the one that a has, unless the account got another one meanwhile or is gone.
func (s *Store) ReplaceToken(ctx context.Context, a *Account, token codehost.OAuthToken, now time.Time) error {
	former := a.Token
	s.setToken(a, token)
	return s.store.Tx(ctx, "keep refreshed token", func(ctx context.Context) error {
		return s.store.Writer(ctx).Model(&Account{}).Where("id = ? AND token = ?", a.ID, former).Updates(map[string]any{
			"token": a.Token, "masked": a.Masked, "refresh_token": a.RefreshToken, "expires_at": a.ExpiresAt, "state": Valid, "message": "",
			"checked_at": store.Millis(now),
		}).Error
	})
}

// SetReads sets what is read with an account, and has it read at the next chance.
func (s *Store) SetReads(ctx context.Context, a Account) error {
	return s.store.Tx(ctx, "choose what is read", func(ctx context.Context) error {
		return s.store.Writer(ctx).Model(&Account{}).Where("id = ?", a.ID).Updates(map[string]any{
			"reads_stars": a.ReadsStars, "reads_inbox": a.ReadsInbox, "reads_activity": a.ReadsActivity, "due_at": 0,
		}).Error
	})
}

// Delete forgets an account.
func (s *Store) Delete(ctx context.Context, id string) error {
	return s.store.Tx(ctx, "delete code host account", func(ctx context.Context) error {
		return s.store.Writer(ctx).Where("id = ?", id).Delete(&Account{}).Error
	})
}

// SetState notes what the code host said of the token of an account, unless the account has another one by now. sealed is the token as it
// is stored: it differs whenever a token is saved.
func (s *Store) SetState(ctx context.Context, id, sealed string, state State, message string, now time.Time) error {
	return s.store.Tx(ctx, "note token state", func(ctx context.Context) error {
		return s.store.Writer(ctx).Model(&Account{}).Where("id = ? AND token = ?", id,
			sealed).Updates(map[string]any{"state": state, "message": message, "checked_at": store.Millis(now)}).Error
	})
}

// SetDue sets when the accounts of a user are read next.
func (s *Store) SetDue(ctx context.Context, userID string, at time.Time) error {
	return s.store.Tx(ctx, "schedule account", func(ctx context.Context) error {
		return s.store.Writer(ctx).Model(&Account{}).Where("user_id = ?", userID).Update("due_at", store.Millis(at)).Error
	})
}

// Due returns accounts that are to be read, those that wait longest first.
func (s *Store) Due(ctx context.Context, now time.Time, limit int) (found []Account, err error) {
	err = s.store.DB(ctx).Where("due_at <= ? AND state = ?", store.Millis(now), Valid).Order("due_at, id").Limit(limit).Find(&found).Error
	return found, err
}

// WatchersOf returns the valid accounts at a host whose users see a repository, those that have starred or own it first, then the
// latest checked.
func (s *Store) WatchersOf(ctx context.Context, host string, repoID int64) (found []Account, err error) {
	err = s.store.DB(ctx).Where("host = ? AND state = ? AND user_id IN (SELECT user_id FROM release_links WHERE repo_id = ?)", host, Valid,
		repoID).
		Order(clause.OrderBy{Expression: clause.Expr{SQL: "(" + seesRepo + ") DESC, checked_at DESC, id",
			Vars: []any{repoID}}}).Find(&found).Error
	return found, err
}

// Preferences returns what a user has chosen, or else the defaults.
func (s *Store) Preferences(ctx context.Context, userID string, defaults Preferences) (p Preferences, err error) {
	err = s.store.DB(ctx).Where("user_id = ?", userID).Take(&p).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		defaults.UserID = userID
		return defaults, nil
	}
	return p, err
}

// AllPreferences returns what users have chosen, by their ids.
func (s *Store) AllPreferences(ctx context.Context) (map[string]Preferences, error) {
	var found []Preferences
	err := s.store.DB(ctx).Find(&found).Error
	byUser := make(map[string]Preferences, len(found))
	for _, p := range found {
		byUser[p.UserID] = p
	}
	return byUser, err
}

// SavePreferences keeps what a user has chosen.
func (s *Store) SavePreferences(ctx context.Context, p Preferences) error {
	return s.store.Tx(ctx, "save preferences", func(ctx context.Context) error {
		return s.store.Writer(ctx).Clauses(clause.OnConflict{UpdateAll: true}).Create(&p).Error
	})
}

var preferenceColumns = store.Columns(Preferences{}, "p")

// WantingReleases returns the preferences of users who want the channels to hear of a new release, or have it translated, and see
// it.
func (s *Store) WantingReleases(ctx context.Context, releaseID int64) (found []Preferences, err error) {
	err = s.store.DB(ctx).Table("release_preferences AS p").Select(preferenceColumns).
		Joins("JOIN release_entries e ON e.id = ?", releaseID).Where("(p.notify_releases OR p.auto_translate)").
		Where("EXISTS (SELECT 1 FROM release_links l WHERE l.user_id IN (p.user_id, '') AND l.repo_id = e.repo_id AND l.visible)").
		Where("NOT EXISTS (SELECT 1 FROM release_filters f WHERE f.user_id = p.user_id AND f.repo_id = e.repo_id AND (f.muted OR f.no_prereleases AND e.prerelease " +
			"OR f.min_level > e.level AND e.level > 0 OR f.keyword <> '' AND REPLACE(e.search_text, f.keyword, '') = e.search_text))").
		Order("p.user_id").Find(&found).Error
	return found, err
}
