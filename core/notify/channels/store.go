package channels

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"gorm.io/gorm/clause"

	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/schema"
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

// records keeps the settings and the subscriptions, with their secrets sealed.
type records struct{ cfg Config }

func (r *records) nowMillis() int64 { return store.Millis(r.cfg.Now()) }

// readSettings returns the stored settings, or the defaults.
func (r *records) readSettings(ctx context.Context) (storedSettings, error) {
	out := storedSettings{sealedAs: settingsTable}
	var rows []settingsRecord
	if err := r.cfg.Store.DB(ctx).Where("name = ?", settingsName).Find(&rows).Error; err != nil {
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
func (r *records) writeSettings(ctx context.Context, set storedSettings, endSubscriptions bool) error {
	raw, err := json.Marshal(set)
	if err != nil {
		return fmt.Errorf("encode the settings of notifications: %w", err)
	}
	return r.cfg.Store.Tx(ctx, "change notifications", func(ctx context.Context) error {
		if err := cluster.FenceLock(ctx); err != nil {
			return err
		}
		w := r.cfg.Store.Writer(ctx)
		if endSubscriptions {
			if err := w.Where("1 = 1").Delete(&subscriptionRecord{}).Error; err != nil {
				return fmt.Errorf("delete the subscriptions of the former keys: %w", err)
			}
		}
		row := settingsRecord{Name: settingsName, Value: string(raw), SealedAs: set.sealedAs, UpdatedAt: r.nowMillis()}
		return w.Clauses(clause.OnConflict{UpdateAll: true}).Create(&row).Error
	})
}

func (r *records) readSubscriptions(ctx context.Context) (out []subscriptionRecord, err error) {
	if err = r.cfg.Store.DB(ctx).Order("id").Find(&out).Error; err != nil {
		return nil, fmt.Errorf("read the push subscriptions: %w", err)
	}
	return out, nil
}

// readSubscription returns a subscription, or nil if it does not exist.
func (r *records) readSubscription(ctx context.Context, id string) (*subscriptionRecord, error) {
	var rows []subscriptionRecord
	if err := r.cfg.Store.DB(ctx).Where("id = ?", id).Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read the push subscription: %w", err)
	}
	if len(rows) == 0 {
		return nil, nil
	}
	return &rows[0], nil
}

// storeSubscription stores a subscription with its keys sealed, in place of one with the same endpoint.
func (r *records) storeSubscription(ctx context.Context, row subscriptionRecord, keys SubscriptionKeys) error {
	return r.cfg.Store.Tx(ctx, "subscribe", func(ctx context.Context) error {
		w := r.cfg.Store.Writer(ctx)
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
			return fault.New(fault.InvalidArgument, "There are %d subscriptions, which is the limit: delete some first.", maxSubscriptions)
		}
		seal := func(plain, column string) string {
			return r.cfg.Keyring.Seal([]byte(plain), subscriptionsTable, row.ID, column)
		}
		row.P256dh, row.Auth, row.SealedAs = seal(keys.P256dh, "p256dh"), seal(keys.Auth, "auth"), subscriptionsTable
		return w.Clauses(clause.OnConflict{UpdateAll: true}).Create(&row).Error
	})
}

// deleteSubscriptions deletes the subscriptions with an endpoint or an id, and returns how many there were.
func (r *records) deleteSubscriptions(ctx context.Context, endpoint, id string) (n int64, err error) {
	err = r.cfg.Store.Tx(ctx, "unsubscribe", func(ctx context.Context) error {
		done := r.cfg.Store.Writer(ctx).Where("endpoint = ? AND endpoint <> '' OR id = ?", endpoint, id).Delete(&subscriptionRecord{})
		n = done.RowsAffected
		return done.Error
	})
	return n, err
}

// openSecret returns a stored text of the settings in the clear.
func (r *records) openSecret(set storedSettings, sealed, column string) (schema.Secret, error) {
	if sealed == "" {
		return "", nil
	}
	plain, err := r.cfg.Keyring.Open(sealed, set.sealedAs, settingsName, column)
	if err != nil {
		field := column
		for role, all := range attributes {
			if slices.ContainsFunc(all, func(a attribute) bool { return a.member == column }) {
				field = role + "." + column
			}
		}
		return "", fault.Wrap(err, fault.InvalidArgument,
			"%s: What is stored cannot be opened with the present master key. Enter it again, or add the former key to SVC_SECRET_KEY.",
			field).With("field", field).With("reason", "key_gone")
	}
	return schema.Secret(plain), nil
}

// revealForDisplay returns a stored text in the clear, or masked if it cannot be opened: it can be entered again.
func (r *records) revealForDisplay(set storedSettings, sealed, column string) string {
	plain, err := r.openSecret(set, sealed, column)
	if err != nil {
		r.cfg.Logger.Warn("cannot decrypt a notification setting", "setting", column, "error", err)
		return masked
	}
	return plain.Reveal()
}

func (r *records) sealSecret(set *storedSettings, plain, column string) string {
	if plain == "" {
		return ""
	}
	return r.cfg.Keyring.Seal([]byte(plain), set.sealedAs, settingsName, column)
}
