package webhook

import (
	"context"
	"fmt"
	"strings"

	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/store"
)

// deliveryRecord is a webhook that was received with a good signature.
type deliveryRecord struct {
	DeliveryID string `gorm:"primaryKey"`
	FirstAt    int64
	LastAt     int64
	Owner      string
	FullName   string
	Event      string
	Action     string
	Decision   string
	Reason     string
	Status     int
	JobIDs     []string `gorm:"column:job_ids;serializer:json"`
	Attempts   int
}

// TableName implements gorm's Tabler.
func (deliveryRecord) TableName() string { return "containers_deliveries" }

// DeliveryEvent is an event of the inbox as it is stored and published.
type DeliveryEvent struct {
	ID   int64
	At   int64
	Data string
}

// DeliveryFilter selects deliveries; zero members select all.
type DeliveryFilter struct {
	// Decision is processed, ignored or rejected.
	Decision string
	// Query is looked for in ids, repositories, owners and reasons.
	Query string
}

var sqlReceive = `INSERT INTO containers_deliveries (delivery_id, first_at, last_at, decision, status, attempts) VALUES (?, ?, ?, 'ignored', 0, 1)
	ON CONFLICT (delivery_id) DO UPDATE SET attempts = containers_deliveries.attempts + 1, last_at = excluded.last_at RETURNING ` +
	store.Columns(deliveryRecord{}, "")

// receiveDelivery inserts the row of a delivery, or counts another attempt in it. Concurrent attempts wait for each other.
func (r *hookStore) receiveDelivery(ctx context.Context, id string, now int64) (*deliveryRecord, error) {
	var rows []deliveryRecord
	if err := r.Writer(ctx).Raw(sqlReceive, id, now, now).Scan(&rows).Error; err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("the delivery was not stored")
	}
	return &rows[0], nil
}

func (r *hookStore) deliveryEvents(ctx context.Context, after int64) (out []DeliveryEvent, err error) {
	err = r.DB(ctx).Raw("SELECT id, at, data FROM containers_delivery_events WHERE id > ? ORDER BY id"+store.Limit(DeliverySlice),
		after).Scan(&out).Error
	return out, err
}

func (r *hookStore) lastDeliveryEvent(ctx context.Context) (id int64, err error) {
	err = r.DB(ctx).Raw("SELECT COALESCE(max(id), 0) FROM containers_delivery_events").Scan(&id).Error
	return id, err
}

func (f DeliveryFilter) applyFilter(db *gorm.DB) *gorm.DB {
	if f.Decision != "" {
		db = db.Where("decision = ?", f.Decision)
	}
	if q := strings.TrimSpace(f.Query); q != "" {
		db = store.WhereContains(db, q, "full_name", "owner", "delivery_id", "reason")
	}
	return db
}

// saveDelivery stores what became of a delivery. The caller has a transaction.
func (r *hookStore) saveDelivery(ctx context.Context, row *deliveryRecord) error {
	return r.Writer(ctx).Save(row).Error
}

// addDeliveryEvent stores an event and returns its id. The caller has a transaction.
func (r *hookStore) addDeliveryEvent(ctx context.Context, ev DeliveryEvent) (id int64, err error) {
	err = r.Writer(ctx).Raw("INSERT INTO containers_delivery_events (at, data) VALUES (?, ?) RETURNING id", ev.At, ev.Data).Scan(&id).Error
	return id, err
}

// countDeliveries returns the number of deliveries by what was decided.
func (r *hookStore) countDeliveries(ctx context.Context) (map[string]int64, error) {
	var counts []struct {
		Decision string
		N        int64
	}
	err := r.DB(ctx).Raw("SELECT decision, count(*) AS n FROM containers_deliveries GROUP BY decision").Scan(&counts).Error
	out := map[string]int64{}
	for _, c := range counts {
		out[c.Decision] = c.N
	}
	return out, err
}

// pageDeliveries reads a page, the newest first, and how many there are in all of them.
func (r *hookStore) pageDeliveries(ctx context.Context, f DeliveryFilter, offset,
	limit int) (out []deliveryRecord, filtered int64, err error) {
	if err = f.applyFilter(r.DB(ctx).Model(&deliveryRecord{})).Count(&filtered).Error; err != nil {
		return nil, 0, fmt.Errorf("count the deliveries of a filter: %w", err)
	}
	if err = f.applyFilter(r.DB(ctx)).Order("last_at DESC, delivery_id DESC").Offset(offset).Limit(limit).Find(&out).Error; err != nil {
		return nil, 0, fmt.Errorf("read the deliveries: %w", err)
	}
	return out, filtered, nil
}

// deleteOld deletes the oldest events and deliveries that are older than a time, in milliseconds, at most limit of each.
func (r *hookStore) deleteOld(ctx context.Context, before int64, limit int) error {
	for table, t := range map[string][2]string{"containers_delivery_events": {"id", "at"},
		"containers_deliveries": {"delivery_id", "last_at"}} {
		err := r.Write(ctx, "delete old rows", func(_ context.Context, w *gorm.DB) error {
			return w.Exec(fmt.Sprintf("DELETE FROM %[1]s WHERE (%[2]s) IN (SELECT %[2]s FROM %[1]s WHERE %[3]s < ? ORDER BY %[3]s LIMIT ?)", table,
				t[0], t[1]), before, limit).Error
		})
		if err != nil {
			return fmt.Errorf("delete from %s: %w", table, err)
		}
	}
	return nil
}
