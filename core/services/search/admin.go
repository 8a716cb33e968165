package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/store"
)

const (
	keyIDLen  = 6
	maxKeyLen = 512
	maxNote   = 500
)

// Admin changes access tokens and upstream keys. It needs no running service: a core that runs on the same database
// notices what was changed.
type Admin struct {
	store   *store.Store
	keyring *secret.Keyring
	now     func() time.Time
	repo    *repository

	// tokenChanged and keysChanged tell the service of this process.
	tokenChanged func(tokenRecord)
	keysChanged  func(context.Context) error
}

// NewAdmin makes an Admin on a database whose migrations have run; now nil means time.Now.
func NewAdmin(st *store.Store, keyring *secret.Keyring, now func() time.Time) *Admin {
	if now == nil {
		now = time.Now
	}
	return &Admin{
		store: st, keyring: keyring, now: now, repo: &repository{st},
		tokenChanged: func(tokenRecord) {}, keysChanged: func(context.Context) error { return nil },
	}
}

// NewToken describes an access token to make. Nil limits mean the service's defaults.
type NewToken struct {
	Note      string
	Group     string
	OwnerID   string
	ExpiresAt time.Time
	Limits    *Limits
	// CacheTTL is for how many seconds answers may be given again; nil takes the default.
	CacheTTL *int64
	// Own are limits one by one, unless Limits is set; nil takes the service's default.
	Own TokenLimits
}

// check returns what is wrong with a token to make.
func (n NewToken) check(now time.Time) error {
	if !n.ExpiresAt.IsZero() && !n.ExpiresAt.After(now) {
		return invalidField("expires_at", "The time of expiry lies in the past.")
	}
	return n.Own.check()
}

// CreateToken makes an access token and returns its text, which is stored sealed.
func (a *Admin) CreateToken(ctx context.Context, n NewToken) (text string, err error) {
	n.Note, n.Group = strings.TrimSpace(n.Note), strings.TrimSpace(n.Group)
	if err := checkLabels(&n.Note, &n.Group); err != nil {
		return "", err
	}
	if err := n.check(a.now()); err != nil {
		return "", err
	}
	err = a.store.Tx(ctx, "create token", func(ctx context.Context) error {
		id, err := a.freeTokenID(ctx)
		if err != nil {
			return err
		}
		text = tokenPrefix + id + "-" + secret.RandomString(tokenSecretLen, secret.Alphanumeric)
		r := a.tokenRecord(id, text, n)
		httpd.NoteObject(ctx, id)
		a.store.AfterCommit(ctx, func() { a.tokenChanged(r) })
		return a.store.Writer(ctx).Create(&r).Error
	})
	if err != nil {
		return "", fmt.Errorf("create token: %w", err)
	}
	return text, nil
}

func (a *Admin) freeTokenID(ctx context.Context) (string, error) {
	for range 16 {
		id := secret.RandomString(tokenIDLen, secret.Alphanumeric)
		_, err := a.repo.findToken(ctx, id)
		if errors.Is(err, gorm.ErrRecordNotFound) {
			return id, nil
		}
		if err != nil {
			return "", err
		}
	}
	return "", errors.New("no free token id was found")
}

func (a *Admin) tokenRecord(id, text string, n NewToken) tokenRecord {
	now := a.now().UnixMilli()
	r := tokenRecord{
		ID: id, Hash: secret.HashToken(text), Sealed: a.keyring.Seal([]byte(text), "search_tokens", id, "sealed"), Enabled: true,
		Note: n.Note, GroupName: n.Group, OwnerID: n.OwnerID, ExpiresAt: store.Millis(n.ExpiresAt), CacheTTL: n.CacheTTL, CreatedAt: now, UpdatedAt: now,
	}
	r.LimitRequests, r.LimitCreditsHour, r.LimitCreditsDay, r.LimitCreditsMonth, r.LimitRequestsMinute = n.Own.RequestsHour, n.Own.CreditsHour, n.Own.CreditsDay, n.Own.CreditsMonth, n.Own.RequestsMinute
	if l := n.Limits; l != nil {
		r.LimitRequests, r.LimitCreditsHour, r.LimitCreditsDay, r.LimitCreditsMonth, r.LimitRequestsMinute = &l.RequestsHour, &l.CreditsHour, &l.CreditsDay, &l.CreditsMonth, &l.RequestsMinute
	}
	return r
}

// SetTokenEnabled enables or disables a token.
func (a *Admin) SetTokenEnabled(ctx context.Context, id string, enabled bool) error {
	return a.changeToken(ctx, id, map[string]any{"enabled": enabled})
}

// DeleteToken makes a token unusable for good. Its requests stay in the audit.
func (a *Admin) DeleteToken(ctx context.Context, id string) error {
	return a.changeToken(ctx, id, map[string]any{"deleted_at": a.now().UnixMilli()})
}

func (a *Admin) changeToken(ctx context.Context, id string, values map[string]any) error {
	if strings.ContainsRune(id, 0) {
		// Not every database can even look for it.
		return fault.New(fault.NotFound, "There is no such access token.")
	}
	return a.store.Tx(ctx, "change token", func(ctx context.Context) error {
		now := a.now().UnixMilli()
		// Each change has a time of its own, by which the table of tokens knows the last one.
		values["updated_at"] = gorm.Expr("CASE WHEN updated_at < ? THEN ? ELSE updated_at + 1 END", now, now)
		res := a.store.Writer(ctx).Model(&tokenRecord{}).Where("id = ? AND deleted_at = 0", id).Updates(values)
		if res.Error != nil {
			return fmt.Errorf("change token: %w", res.Error)
		}
		if res.RowsAffected == 0 {
			return fault.New(fault.NotFound, "There is no such access token.")
		}
		r, err := a.repo.findToken(ctx, id)
		if err != nil {
			return err
		}
		a.store.AfterCommit(ctx, func() { a.tokenChanged(r) })
		return nil
	})
}

// AddedKey tells what became of one key of AddKeys.
type AddedKey struct {
	// ID is empty for a line that holds no key.
	ID string
	// Status is "created", "restored", "exists" or "invalid".
	Status string
	// Problem explains "invalid".
	Problem string
}

// AddKeys adds upstream keys. One that was deleted or found invalid before becomes active again.
func (a *Admin) AddKeys(ctx context.Context, group string, values []string) ([]AddedKey, error) {
	out := make([]AddedKey, 0, len(values))
	err := a.store.Tx(ctx, "add upstream keys", func(ctx context.Context) error {
		if err := a.repo.lockAdding(ctx); err != nil {
			return err
		}
		for _, v := range values {
			added, err := a.addKey(ctx, group, strings.TrimSpace(v))
			if err != nil {
				return err
			}
			httpd.NoteObject(ctx, added.ID)
			out = append(out, added)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("add upstream keys: %w", err)
	}
	return out, a.keysChanged(ctx)
}

func (a *Admin) addKey(ctx context.Context, group, value string) (AddedKey, error) {
	if problem := keyProblem(value); problem != "" {
		return AddedKey{Status: "invalid", Problem: problem}, nil
	}
	w, now := a.store.Writer(ctx), a.now().UnixMilli()
	hash := secret.HashToken(value)
	var r keyRecord
	err := w.Clauses(clause.Locking{Strength: "UPDATE"}).Where("hash = ?", hash).Take(&r).Error
	switch {
	case err == nil && r.DeletedAt == 0 && r.State != KeyInvalid:
		return AddedKey{ID: r.ID, Status: "exists"}, nil
	case err == nil:
		before := r.State
		err = w.Model(&r).Updates(map[string]any{"deleted_at": 0, "state": KeyActive, "reason": "", "until": 0, "updated_at": max(now, r.UpdatedAt+1), "state_changed_at": now}).Error
		if err == nil {
			err = a.repo.recordKeyEvent(ctx, r.ID, KeyRestored, before, KeyActive, "", now)
		}
		return AddedKey{ID: r.ID, Status: "restored"}, err
	case !errors.Is(err, gorm.ErrRecordNotFound):
		return AddedKey{}, err
	}
	id := secret.RandomString(keyIDLen, secret.Alphanumeric)
	r = keyRecord{
		ID: id, Hash: bytes.Clone(hash), Sealed: a.keyring.Seal([]byte(value), "search_keys", id, "sealed"),
		GroupName: group, State: KeyActive, CreatedAt: now, UpdatedAt: now, StateChangedAt: now,
	}
	if err := w.Create(&r).Error; err != nil {
		return AddedKey{}, err
	}
	return AddedKey{ID: id, Status: "created"}, a.repo.recordKeyEvent(ctx, id, KeyAdded, "", KeyActive, "", now)
}

func keyProblem(v string) string {
	switch {
	case v == "":
		return "the line is empty"
	case len(v) > maxKeyLen:
		return fmt.Sprintf("the key has more than %d characters", maxKeyLen)
	case strings.ContainsFunc(v, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "the key holds a space or a character that is not visible ASCII"
	}
	return ""
}
