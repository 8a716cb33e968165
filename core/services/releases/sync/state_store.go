package sync

import (
	"context"
	"encoding/json"
	"time"

	"gorm.io/gorm/clause"

	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
)

// State keeps where lists were read up to, and when code hosts may be asked again.
type State struct{ store *store.Store }

// NewState makes the store. The migrations of the service have run.
func NewState(s *store.Store) *State { return &State{store: s} }

type stateRow struct {
	UserID string `gorm:"primaryKey"`
	Name   string `gorm:"primaryKey"`
	Value  string
}

// TableName implements gorm's Tabler.
func (stateRow) TableName() string { return "release_sync_state" }

type pauseRow struct {
	Host   string `gorm:"primaryKey"`
	UserID string `gorm:"primaryKey"`
	Until  int64
}

// TableName implements gorm's Tabler.
func (pauseRow) TableName() string { return "release_pauses" }

// read reads what was kept of a user's list into v. It reports false if nothing was.
func (s *State) read(ctx context.Context, userID, name string, v any) (bool, error) {
	var rows []stateRow
	if err := s.store.DB(ctx).Where("user_id = ? AND name = ?", userID, name).Find(&rows).Error; err != nil || len(rows) == 0 {
		return false, err
	}
	return true, json.Unmarshal([]byte(rows[0].Value), v)
}

// keep keeps something of a user's list.
func (s *State) keep(ctx context.Context, userID, name string, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return s.store.Tx(ctx, "keep sync state", func(ctx context.Context) error {
		return s.store.Writer(ctx).Clauses(clause.OnConflict{UpdateAll: true}).Create(&stateRow{userID, name, string(raw)}).Error
	})
}

// Forget deletes what was kept for an account of a user.
func (s *State) Forget(ctx context.Context, userID, accountID string) error {
	return s.store.Tx(ctx, "forget sync state", func(ctx context.Context) error {
		for _, table := range []string{"release_sync_state", "release_members", "release_pauses"} {
			if err := s.store.Writer(ctx).Exec("DELETE FROM "+table+" WHERE user_id = ?", accountID).Error; err != nil {
				return err
			}
		}
		if err := s.store.Writer(ctx).Where("account_id = ?", accountID).Delete(&limitRow{}).Error; err != nil {
			return err
		}
		return s.store.Writer(ctx).Where("user_id = ? AND account_id = ?", userID, accountID).Delete(&Notification{}).Error
	})
}

// PausedUntil returns until when a host must not be asked with the token of a user, "" for none; the zero time for no pause.
func (s *State) PausedUntil(ctx context.Context, host, userID string, now time.Time) (time.Time, error) {
	var rows []pauseRow
	err := s.store.DB(ctx).Where("host = ? AND user_id = ? AND until > ?", host, userID, store.Millis(now)).Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return time.Time{}, err
	}
	return store.FromMillis(rows[0].Until), nil
}

// pauseHost stops calls to a host with the token of a user until a time.
func (s *State) pauseHost(ctx context.Context, host, userID string, until time.Time) error {
	return s.store.Tx(ctx, "pause code host", func(ctx context.Context) error {
		return s.store.Writer(ctx).Clauses(clause.OnConflict{UpdateAll: true}).Create(&pauseRow{host, userID, store.Millis(until)}).Error
	})
}

// addMembers adds logins to a list of members and returns those that were not in it.
func (s *State) addMembers(ctx context.Context, userID, list string, logins []string) (added []string, err error) {
	err = s.store.Tx(ctx, "add members", func(ctx context.Context) error {
		added = nil
		for _, login := range logins {
			res := s.store.Writer(ctx).Exec("INSERT INTO release_members (user_id, member_of, login) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
				userID, list, login)
			if res.Error != nil {
				return res.Error
			}
			if res.RowsAffected > 0 {
				added = append(added, login)
			}
		}
		return nil
	})
	return added, err
}

type limitRow struct {
	Host      string `gorm:"primaryKey"`
	AccountID string `gorm:"primaryKey"`
	CallLimit int64
	Remaining int64
	ResetAt   int64
	SeenAt    int64
}

// TableName implements gorm's Tabler.
func (limitRow) TableName() string { return "release_host_limits" }

// saveQuota stores what a host has said of its limit for an account.
func (s *State) saveQuota(ctx context.Context, host, accountID string, q codehost.Quota, now time.Time) error {
	row := limitRow{Host: host, AccountID: accountID, CallLimit: q.Limit, Remaining: q.Remaining, SeenAt: store.Millis(now)}
	if !q.ResetAt.IsZero() {
		row.ResetAt = store.Millis(q.ResetAt)
	}
	return s.store.Tx(ctx, "save quota", func(ctx context.Context) error {
		return s.store.Writer(ctx).Clauses(clause.OnConflict{UpdateAll: true}).Create(&row).Error
	})
}
