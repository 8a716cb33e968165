package containers

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/store"
)

// What was decided about a delivery.
const (
	deliveryProcessed = "processed"
	deliveryIgnored   = "ignored"
	deliveryRejected  = "rejected"
)

// topicDeliveries is where news of deliveries is published; its data is a deliveryEvent.
const topicDeliveries = "containers.deliveries"

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

// HookDelivery is a webhook that was received.
type HookDelivery struct {
	DeliveryID      string   `json:"deliveryId" example:"72d3162e-cc78-11e3-81ab-4c9367dc0958"`
	ReceivedAt      api.Time `json:"receivedAt" doc:"When it came last."`
	FirstReceivedAt api.Time `json:"firstReceivedAt"`
	Owner           string   `json:"owner,omitempty" example:"ann"`
	Repo            string   `json:"repo,omitempty" example:"blog"`
	FullName        string   `json:"fullName,omitempty" example:"ann/blog"`
	Event           string   `json:"event,omitempty" example:"package"`
	Action          string   `json:"action,omitempty" example:"published"`
	Decision        string   `json:"decision" enum:"processed,ignored,rejected"`
	Reason          string   `json:"reason,omitempty" example:"repo_not_selected"`
	ResponseStatus  int      `json:"responseStatus,omitempty" example:"202"`
	JobID           string   `json:"jobId,omitempty"`
	JobIDs          []string `json:"jobIds"`
	AttemptCount    int      `json:"attemptCount" doc:"How often it came."`
}

func (d *deliveryRecord) toDelivery() HookDelivery {
	out := HookDelivery{
		DeliveryID: d.DeliveryID, ReceivedAt: api.TimeOfMillis(d.LastAt), FirstReceivedAt: api.TimeOfMillis(d.FirstAt), Owner: d.Owner, FullName: d.FullName, Event: d.Event, Action: d.Action,
		Decision: d.Decision, Reason: d.Reason, ResponseStatus: d.Status, JobIDs: append([]string{}, d.JobIDs...), AttemptCount: d.Attempts,
	}
	_, out.Repo, _ = strings.Cut(d.FullName, "/")
	if len(d.JobIDs) > 0 {
		out.JobID = d.JobIDs[0]
	}
	return out
}

const sqlReceive = `INSERT INTO containers_deliveries (delivery_id, first_at, last_at, decision, status, attempts) VALUES (?, ?, ?, 'ignored', 0, 1)
	ON CONFLICT (delivery_id) DO UPDATE SET attempts = containers_deliveries.attempts + 1, last_at = excluded.last_at RETURNING *`

// receiveDelivery inserts the row of a delivery, or counts another attempt in it. Concurrent attempts wait for each other.
func (r *repository) receiveDelivery(ctx context.Context, id string, now int64) (*deliveryRecord, error) {
	var rows []deliveryRecord
	if err := r.Writer(ctx).Raw(sqlReceive, id, now, now).Scan(&rows).Error; err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("the delivery was not stored")
	}
	return &rows[0], nil
}

// deliveryEvent is an event of the inbox as it is stored and published.
type deliveryEvent struct {
	ID   int64
	At   int64
	Data string
}

// deliveryNews is the data of such an event.
type deliveryNews struct {
	Type string `json:"type"`
	HookDelivery
}

// tellDelivery writes an event of the inbox, and publishes it after the commit. The transaction has called lockHooks.
func (s *Service) tellDelivery(ctx context.Context, kind string, d *deliveryRecord) error {
	raw, err := json.Marshal(deliveryNews{kind, d.toDelivery()})
	if err != nil {
		return fmt.Errorf("encode the event of a delivery: %w", err)
	}
	ev := deliveryEvent{At: d.LastAt, Data: string(raw)}
	err = s.cfg.Store.Writer(ctx).Raw("INSERT INTO containers_delivery_events (at, data) VALUES (?, ?) RETURNING id", ev.At, ev.Data).Scan(&ev.ID).Error
	if err != nil {
		return fmt.Errorf("write the event of a delivery: %w", err)
	}
	s.cfg.Store.AfterCommit(ctx, func() { s.live.Publish(topicDeliveries, event.Event{Seq: ev.ID, Type: kind, Data: ev}) })
	return nil
}

// deliverySlice is how many events one query reads.
const deliverySlice = 500

func (r *repository) deliveryEvents(ctx context.Context, after int64) (out []deliveryEvent, err error) {
	err = r.DB(ctx).Raw("SELECT id, at, data FROM containers_delivery_events WHERE id > ? ORDER BY id"+store.Limit(deliverySlice), after).Scan(&out).Error
	return out, err
}

func (r *repository) lastDeliveryEvent(ctx context.Context) (id int64, err error) {
	err = r.DB(ctx).Raw("SELECT COALESCE(max(id), 0) FROM containers_delivery_events").Scan(&id).Error
	return id, err
}

// DeliveryFilter selects deliveries; zero members select all.
type DeliveryFilter struct {
	// Decision is processed, ignored or rejected.
	Decision string
	// Query is looked for in ids, repositories, owners and reasons.
	Query string
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

// DeliveryPage is a page of the inbox.
type DeliveryPage struct {
	Page       int            `json:"page"`
	PerPage    int            `json:"perPage"`
	Total      int64          `json:"total" doc:"All deliveries that are kept."`
	Filtered   int64          `json:"filteredTotal" doc:"Those that fit the filter."`
	Summary    DeliveryCounts `json:"summary"`
	Deliveries []HookDelivery `json:"deliveries"`
}

// DeliveryCounts are all deliveries that are kept, by what was decided.
type DeliveryCounts struct {
	Processed int64 `json:"processed"`
	Ignored   int64 `json:"ignored"`
	Rejected  int64 `json:"rejected"`
}

// Deliveries reads a page of the inbox, the newest first. Pages count from 1.
func (s *Service) Deliveries(ctx context.Context, f DeliveryFilter, page, perPage int) (DeliveryPage, error) {
	out := DeliveryPage{Page: page, PerPage: perPage, Deliveries: []HookDelivery{}}
	var counts []struct {
		Decision string
		N        int64
	}
	db := s.repo.DB(ctx)
	if err := db.Raw("SELECT decision, count(*) AS n FROM containers_deliveries GROUP BY decision").Scan(&counts).Error; err != nil {
		return out, fmt.Errorf("count the deliveries: %w", err)
	}
	for _, c := range counts {
		out.Total += c.N
		switch c.Decision {
		case deliveryProcessed:
			out.Summary.Processed = c.N
		case deliveryIgnored:
			out.Summary.Ignored = c.N
		case deliveryRejected:
			out.Summary.Rejected = c.N
		}
	}
	if err := f.applyFilter(db.Model(&deliveryRecord{})).Count(&out.Filtered).Error; err != nil {
		return out, fmt.Errorf("count the deliveries of a filter: %w", err)
	}
	var rows []deliveryRecord
	if err := f.applyFilter(db).Order("last_at DESC, delivery_id DESC").Offset((page - 1) * perPage).Limit(perPage).Find(&rows).Error; err != nil {
		return out, fmt.Errorf("read the deliveries: %w", err)
	}
	for i := range rows {
		out.Deliveries = append(out.Deliveries, rows[i].toDelivery())
	}
	return out, nil
}
