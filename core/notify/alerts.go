package notify

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm/clause"

	"github.com/patchbay-dev/patchbay/core/store"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

// alertRecord is the stored state of an alert, active or over.
type alertRecord struct {
	Service  string `gorm:"primaryKey"`
	DedupKey string `gorm:"primaryKey"`
	Kind     string
	Active   bool
	// RaisedAt is when the alert was raised, ToldAt when the channels were last told, EndedAt when it was resolved.
	RaisedAt, ToldAt, EndedAt int64
}

// TableName implements gorm's Tabler.
func (alertRecord) TableName() string { return "notify_alerts" }

// findAlert returns the state of an alert and locks it, or nil. The caller has a transaction.
func (s *Sender) findAlert(ctx context.Context, service, key string) (*alertRecord, error) {
	w := s.cfg.Store.Writer(ctx)
	if s.cfg.Store.Dialect() == store.Postgres {
		w = w.Clauses(clause.Locking{Strength: "UPDATE"})
	}
	var found []alertRecord
	if err := w.Where("service = ? AND dedup_key = ?", service, key).Find(&found).Error; err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, nil
	}
	return &found[0], nil
}

// Raise tells the channels of a condition that lasts until Resolve. While it lasts they are told again only after
// repeat has passed. told reports whether they were told now. The state is stored, so that a restart repeats nothing.
func (s *Sender) Raise(ctx context.Context, a Alert, repeat time.Duration, channels []string) (told bool, err error) {
	now := s.cfg.Now()
	err = s.cfg.Store.Tx(ctx, "raise alert", func(ctx context.Context) error {
		// The row is there before it is locked, so that of several that find the same at once one tells.
		none := alertRecord{Service: a.Service, DedupKey: a.dedupKey(), Kind: a.Kind}
		if err := s.cfg.Store.Writer(ctx).Clauses(clause.OnConflict{DoNothing: true}).Create(&none).Error; err != nil {
			return err
		}
		r, err := s.findAlert(ctx, a.Service, a.dedupKey())
		if err != nil {
			return err
		}
		if r != nil && r.Active && store.IsWithin(now, r.ToldAt, repeat) {
			return nil
		}
		next := alertRecord{Service: a.Service, DedupKey: a.dedupKey(), Kind: a.Kind, Active: true, RaisedAt: store.Millis(now),
			ToldAt: store.Millis(now)}
		if r != nil && r.Active {
			next.RaisedAt = r.RaisedAt
		}
		if err := s.cfg.Store.Writer(ctx).Clauses(clause.OnConflict{UpdateAll: true}).Create(&next).Error; err != nil {
			return err
		}
		told = true
		return s.sendAlert(ctx, a, statusRaised, channels)
	})
	if err != nil {
		return false, fmt.Errorf("raise the alert %s.%s: %w", a.Service, a.Kind, err)
	}
	return told, nil
}

// Resolve tells the channels that the condition of a raised alert is over, as a success. told reports whether they were told: not if the
// alert is not active.
func (s *Sender) Resolve(ctx context.Context, a Alert, channels []string) (told bool, err error) {
	now := s.cfg.Now()
	a.Severity = sdk.Success
	err = s.cfg.Store.Tx(ctx, "resolve alert", func(ctx context.Context) error {
		r, err := s.findAlert(ctx, a.Service, a.dedupKey())
		if err != nil || r == nil || !r.Active {
			return err
		}
		r.Active, r.EndedAt = false, store.Millis(now)
		if err := s.cfg.Store.Writer(ctx).Save(r).Error; err != nil {
			return err
		}
		told = true
		return s.sendAlert(ctx, a, statusResolved, channels)
	})
	if err != nil {
		return false, fmt.Errorf("resolve the alert %s.%s: %w", a.Service, a.Kind, err)
	}
	return told, nil
}

// Active returns the dedup keys of a service's active alerts.
func (s *Sender) Active(ctx context.Context, service string) (keys []string, err error) {
	err = s.cfg.Store.DB(ctx).Model(&alertRecord{}).Where("service = ? AND active = ?", service, true).Order("dedup_key").Pluck("dedup_key",
		&keys).Error
	if err != nil {
		return nil, fmt.Errorf("read the active alerts: %w", err)
	}
	return keys, nil
}
