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
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// State is what is known of a token.
type State string

// The states.
const (
	// Valid: the code host accepted it at the last check.
	Valid State = "valid"
	// Invalid: the code host refused it.
	Invalid State = "invalid"
)

// Account is a user's account at a code host. Times are Unix milliseconds.
type Account struct {
	UserID string `gorm:"primaryKey"`
	// Host is the reference of the code host's instance.
	Host      string
	RemoteID  string
	Login     string
	LoginKey  string
	AvatarURL string
	// Token is sealed; Masked is what of it may be shown.
	Token   string
	Masked  string
	State   State
	Message string
	// CheckedAt is when the code host was last asked about the token, DueAt when the account is read next.
	CheckedAt int64
	DueAt     int64
	CreatedAt int64 `gorm:"autoCreateTime:false"`
}

// TableName implements gorm's Tabler.
func (Account) TableName() string { return "release_accounts" }

// Preferences are what a user has chosen.
type Preferences struct {
	UserID string `gorm:"primaryKey"`
	// TimeZone is an IANA name. The day of a brief ends at BriefHour in it.
	TimeZone  string
	BriefHour int
	// BriefDaily has a brief written every day.
	BriefDaily bool
	// IncludeOwn shows the releases of the user's own repositories.
	IncludeOwn bool
	// NotifyReleases and NotifyBrief have the channels told of new releases and of the daily brief.
	NotifyReleases bool
	NotifyBrief    bool
	// Language is the one in which the user reads translations, "" for that of the settings. AutoTranslate has new releases
	// translated into it unasked.
	Language      string
	AutoTranslate bool
	UpdatedAt     int64 `gorm:"autoUpdateTime:false"`
}

// TableName implements gorm's Tabler.
func (Preferences) TableName() string { return "release_preferences" }

// Store keeps accounts and preferences.
type Store struct {
	store *store.Store
	ring  *secret.Keyring
}

// NewStore makes the store. The migrations of the service have run.
func NewStore(s *store.Store, ring *secret.Keyring) *Store { return &Store{store: s, ring: ring} }

const (
	tokenTable  = "release_accounts"
	tokenColumn = "token"
)

// Find returns the account of a user. It reports false if there is none.
func (s *Store) Find(ctx context.Context, userID string) (a Account, ok bool, err error) {
	err = s.store.DB(ctx).Where("user_id = ?", userID).Take(&a).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return a, false, nil
	}
	return a, err == nil, err
}

// Token returns the token of an account.
func (s *Store) Token(a Account) (schema.Secret, error) {
	plain, err := s.ring.Open(a.Token, tokenTable, a.UserID, tokenColumn)
	return schema.Secret(plain), err
}

// Save keeps the account to which a token belongs, in the place of the user's former one. The account is read at the next chance.
func (s *Store) Save(ctx context.Context, userID, host string, token schema.Secret, owner codehost.Account, now time.Time) (Account, error) {
	a := Account{
		UserID: userID, Host: host, RemoteID: owner.ID, Login: owner.Login, LoginKey: repo.KeyOf(owner.Login), AvatarURL: owner.AvatarURL,
		Token: s.ring.Seal([]byte(token.Reveal()), tokenTable, userID, tokenColumn), Masked: maskToken(token.Reveal()),
		State: Valid, CheckedAt: store.Millis(now), CreatedAt: store.Millis(now),
	}
	err := s.store.Tx(ctx, "save code host account", func(ctx context.Context) error {
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

// Delete forgets the account of a user.
func (s *Store) Delete(ctx context.Context, userID string) error {
	return s.store.Tx(ctx, "delete code host account", func(ctx context.Context) error {
		return s.store.Writer(ctx).Where("user_id = ?", userID).Delete(&Account{}).Error
	})
}

// SetState notes what the code host said of a token.
func (s *Store) SetState(ctx context.Context, userID string, state State, message string, now time.Time) error {
	return s.store.Tx(ctx, "note token state", func(ctx context.Context) error {
		return s.store.Writer(ctx).Model(&Account{}).Where("user_id = ?", userID).Updates(map[string]any{"state": state, "message": message, "checked_at": store.Millis(now)}).Error
	})
}

// SetDue sets when an account is read next.
func (s *Store) SetDue(ctx context.Context, userID string, at time.Time) error {
	return s.store.Tx(ctx, "schedule account", func(ctx context.Context) error {
		return s.store.Writer(ctx).Model(&Account{}).Where("user_id = ?", userID).Update("due_at", store.Millis(at)).Error
	})
}

// Due returns accounts that are to be read, those that wait longest first.
func (s *Store) Due(ctx context.Context, now time.Time, limit int) (found []Account, err error) {
	err = s.store.DB(ctx).Where("due_at <= ? AND state = ?", store.Millis(now), Valid).Order("due_at, user_id").Limit(limit).Find(&found).Error
	return found, err
}

// WatchersOf returns the valid accounts at a host whose users see a repository, the latest checked first.
func (s *Store) WatchersOf(ctx context.Context, host string, repoID int64) (found []Account, err error) {
	err = s.store.DB(ctx).Where("host = ? AND state = ? AND EXISTS (SELECT 1 FROM release_links l WHERE l.user_id = release_accounts.user_id AND l.repo_id = ?)", host, Valid, repoID).
		Order("checked_at DESC, user_id").Find(&found).Error
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

// SavePreferences keeps what a user has chosen.
func (s *Store) SavePreferences(ctx context.Context, p Preferences) error {
	return s.store.Tx(ctx, "save preferences", func(ctx context.Context) error {
		return s.store.Writer(ctx).Clauses(clause.OnConflict{UpdateAll: true}).Create(&p).Error
	})
}

// WantingReleases returns the preferences of users who want the channels to hear of a new release, or have it translated, and see
// it.
func (s *Store) WantingReleases(ctx context.Context, releaseID int64) (found []Preferences, err error) {
	err = s.store.DB(ctx).Table("release_preferences AS p").Select("p.*").
		Joins("JOIN release_entries e ON e.id = ?", releaseID).Where("(p.notify_releases OR p.auto_translate)").
		Where("EXISTS (SELECT 1 FROM release_links l WHERE l.user_id IN (p.user_id, '') AND l.repo_id = e.repo_id AND l.visible)").
		Where("NOT EXISTS (SELECT 1 FROM release_filters f WHERE f.user_id = p.user_id AND f.repo_id = e.repo_id AND (f.muted OR f.no_prereleases AND e.prerelease " +
			"OR f.min_level > e.level AND e.level > 0 OR f.keyword <> '' AND REPLACE(e.search_text, f.keyword, '') = e.search_text))").
		Order("p.user_id").Find(&found).Error
	return found, err
}
