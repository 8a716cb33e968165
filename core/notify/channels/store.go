package channels

import (
	"context"
	"encoding/json"
	"fmt"

	"gorm.io/gorm/clause"

	"github.com/patchbay-dev/patchbay/core/fault"
)

const (
	settingsTable      = "notify_settings"
	subscriptionsTable = "notify_subscriptions"
	// settingsName is the name of the only row of settings.
	settingsName = "notifications"
)

// settingsRecord is the row of the settings.
type settingsRecord struct {
	Name  string `gorm:"primaryKey"`
	Value string
	// SealedAs is the table that the secrets of the row are sealed for: rows that came from elsewhere keep their seals.
	SealedAs  string
	UpdatedAt int64 `gorm:"autoUpdateTime:false"`
}

// TableName implements gorm's Tabler.
func (settingsRecord) TableName() string { return settingsTable }

// subscriptionRecord is a browser that has subscribed. P256dh and Auth are sealed.
type subscriptionRecord struct {
	ID       string `gorm:"primaryKey"`
	Endpoint string
	P256dh   string `gorm:"column:p256dh"`
	Auth     string
	// SealedAs is the table that the keys are sealed for.
	SealedAs  string
	Label     string
	CreatedBy string
	CreatedAt int64 `gorm:"autoCreateTime:false"`
	UpdatedAt int64 `gorm:"autoUpdateTime:false"`
}

// TableName implements gorm's Tabler.
func (subscriptionRecord) TableName() string { return subscriptionsTable }

// readSettings returns the stored settings, or the defaults.
func (m *Manager) readSettings(ctx context.Context) (storedSettings, error) {
	out := storedSettings{sealedAs: settingsTable}
	var rows []settingsRecord
	if err := m.cfg.Store.DB(ctx).Where("name = ?", settingsName).Find(&rows).Error; err != nil {
		return out, fmt.Errorf("read the settings of notifications: %w", err)
	}
	if len(rows) == 0 {
		return out, nil
	}
	out.sealedAs = rows[0].SealedAs
	if err := json.Unmarshal([]byte(rows[0].Value), &out); err != nil {
		return out, fmt.Errorf("decode the settings of notifications: %w", err)
	}
	return out, nil
}

// writeSettings stores settings. With endSubscriptions it deletes all subscriptions in the same transaction.
func (m *Manager) writeSettings(ctx context.Context, set storedSettings, endSubscriptions bool) error {
	raw, err := json.Marshal(set)
	if err != nil {
		return fmt.Errorf("encode the settings of notifications: %w", err)
	}
	return m.cfg.Store.Tx(ctx, "change notifications", func(ctx context.Context) error {
		w := m.cfg.Store.Writer(ctx)
		if endSubscriptions {
			if err := w.Where("1 = 1").Delete(&subscriptionRecord{}).Error; err != nil {
				return fmt.Errorf("delete the subscriptions of the former keys: %w", err)
			}
		}
		row := settingsRecord{Name: settingsName, Value: string(raw), SealedAs: set.sealedAs, UpdatedAt: m.now()}
		return w.Clauses(clause.OnConflict{UpdateAll: true}).Create(&row).Error
	})
}

func (m *Manager) readSubscriptions(ctx context.Context) (out []subscriptionRecord, err error) {
	if err = m.cfg.Store.DB(ctx).Order("id").Find(&out).Error; err != nil {
		return nil, fmt.Errorf("read the push subscriptions: %w", err)
	}
	return out, nil
}

// readSubscription returns a subscription, or nil if it does not exist.
func (m *Manager) readSubscription(ctx context.Context, id string) (*subscriptionRecord, error) {
	var rows []subscriptionRecord
	if err := m.cfg.Store.DB(ctx).Where("id = ?", id).Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read the push subscription: %w", err)
	}
	if len(rows) == 0 {
		return nil, nil
	}
	return &rows[0], nil
}

// storeSubscription stores a subscription with its keys sealed, in place of one with the same endpoint.
func (m *Manager) storeSubscription(ctx context.Context, row subscriptionRecord, keys SubscriptionKeys) error {
	return m.cfg.Store.Tx(ctx, "subscribe", func(ctx context.Context) error {
		w := m.cfg.Store.Writer(ctx)
		var found []subscriptionRecord
		if err := w.Where("endpoint = ?", row.Endpoint).Find(&found).Error; err != nil {
			return err
		}
		var n int64
		if err := w.Model(&subscriptionRecord{}).Count(&n).Error; err != nil {
			return err
		}
		switch {
		case len(found) > 0:
			row.ID, row.CreatedAt = found[0].ID, found[0].CreatedAt
		case n >= maxSubscriptions:
			return fault.New(fault.InvalidArgument, "There are %d subscriptions already, and no more are kept.", maxSubscriptions)
		}
		seal := func(plain, column string) string {
			return m.cfg.Keyring.Seal([]byte(plain), subscriptionsTable, row.ID, column)
		}
		row.P256dh, row.Auth, row.SealedAs = seal(keys.P256dh, "p256dh"), seal(keys.Auth, "auth"), subscriptionsTable
		return w.Clauses(clause.OnConflict{UpdateAll: true}).Create(&row).Error
	})
}

// deleteSubscriptions deletes the subscriptions with an endpoint or an id, and returns how many there were.
func (m *Manager) deleteSubscriptions(ctx context.Context, endpoint, id string) (n int64, err error) {
	err = m.cfg.Store.Tx(ctx, "unsubscribe", func(ctx context.Context) error {
		done := m.cfg.Store.Writer(ctx).Where("endpoint = ? AND endpoint <> '' OR id = ?", endpoint, id).Delete(&subscriptionRecord{})
		n = done.RowsAffected
		return done.Error
	})
	return n, err
}
