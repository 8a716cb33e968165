package notify

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm/clause"

	"github.com/patchbay-dev/patchbay/core/store"
)

// alertRecord is an alert that lasts, or has lasted.
type alertRecord struct {
	Service  string `gorm:"primaryKey"`
	DedupKey string `gorm:"primaryKey"`
	Kind     string
	Active   bool
	// RaisedAt is when it began, ToldAt when the channels last heard of it, EndedAt when it ended.
	RaisedAt, ToldAt, EndedAt int64
}

// TableName implements gorm's Tabler.
func (alertRecord) TableName() string { return "notify_alerts" }

// find reads the state of an alert. The caller has a transaction.
func (s *Sender) find(ctx context.Context, service, key string) (*alertRecord, error) {
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

// Raise tells the channels of something that lasts until Resolve: not again before repeat has passed while it does. told
// says whether it told them now. The state is stored, so that a restart repeats nothing.
func (s *Sender) Raise(ctx context.Context, a Alert, repeat time.Duration, channels []string) (told bool, err error) {
	now := s.cfg.Now()
	err = s.cfg.Store.Tx(ctx, "raise alert", func(ctx context.Context) error {
		// The row is there before it is locked, so that of several that find the same at once one tells.
		none := alertRecord{Service: a.Service, DedupKey: a.key(), Kind: a.Kind}
		if err := s.cfg.Store.Writer(ctx).Clauses(clause.OnConflict{DoNothing: true}).Create(&none).Error; err != nil {
			return err
		}
		r, err := s.find(ctx, a.Service, a.key())
		if err != nil {
			return err
		}
		if r != nil && r.Active && now.Sub(store.FromMillis(r.ToldAt)) < repeat {
			return nil
		}
		next := alertRecord{Service: a.Service, DedupKey: a.key(), Kind: a.Kind, Active: true, RaisedAt: store.Millis(now), ToldAt: store.Millis(now)}
		if r != nil && r.Active {
			next.RaisedAt = r.RaisedAt
		}
		if err := s.cfg.Store.Writer(ctx).Clauses(clause.OnConflict{UpdateAll: true}).Create(&next).Error; err != nil {
			return err
		}
		told = true
		return s.send(ctx, a, statusRaised, channels)
	})
	if err != nil {
		return false, fmt.Errorf("raise the alert %s.%s: %w", a.Service, a.Kind, err)
	}
	return told, nil
}

// Resolve tells the channels that what Raise told of is over, if it is not known to be. told says whether it did.
func (s *Sender) Resolve(ctx context.Context, a Alert, channels []string) (told bool, err error) {
	now := s.cfg.Now()
	err = s.cfg.Store.Tx(ctx, "resolve alert", func(ctx context.Context) error {
		r, err := s.find(ctx, a.Service, a.key())
		if err != nil || r == nil || !r.Active {
			return err
		}
		r.Active, r.EndedAt = false, store.Millis(now)
		if err := s.cfg.Store.Writer(ctx).Save(r).Error; err != nil {
			return err
		}
		told = true
		return s.send(ctx, a, statusResolved, channels)
	})
	if err != nil {
		return false, fmt.Errorf("resolve the alert %s.%s: %w", a.Service, a.Kind, err)
	}
	return told, nil
}

// Active are the dedup keys of the alerts of a service that last.
func (s *Sender) Active(ctx context.Context, service string) (keys []string, err error) {
	err = s.cfg.Store.DB(ctx).Model(&alertRecord{}).Where("service = ? AND active = ?", service, true).Order("dedup_key").Pluck("dedup_key", &keys).Error
	if err != nil {
		return nil, fmt.Errorf("read the active alerts: %w", err)
	}
	return keys, nil
}
