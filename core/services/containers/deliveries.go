package containers

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
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
func (w *Webhooks) tellDelivery(ctx context.Context, kind string, d *deliveryRecord) error {
	raw, err := json.Marshal(deliveryNews{kind, d.toDelivery()})
	if err != nil {
		return fmt.Errorf("encode the event of a delivery: %w", err)
	}
	ev := deliveryEvent{At: d.LastAt, Data: string(raw)}
	ev.ID, err = w.store.addDeliveryEvent(ctx, ev)
	if err != nil {
		return fmt.Errorf("write the event of a delivery: %w", err)
	}
	w.store.AfterCommit(ctx, func() { w.cfg.Live.Publish(topicDeliveries, event.Event{Seq: ev.ID, Type: kind, Data: ev}) })
	return nil
}

// deliverySlice is how many events one query reads.
const deliverySlice = 500

// DeliveryFilter selects deliveries; zero members select all.
type DeliveryFilter struct {
	// Decision is processed, ignored or rejected.
	Decision string
	// Query is looked for in ids, repositories, owners and reasons.
	Query string
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
func (w *Webhooks) Deliveries(ctx context.Context, f DeliveryFilter, page, perPage int) (DeliveryPage, error) {
	out := DeliveryPage{Page: page, PerPage: perPage, Deliveries: []HookDelivery{}}
	counts, err := w.store.countDeliveries(ctx)
	if err != nil {
		return out, fmt.Errorf("count the deliveries: %w", err)
	}
	out.Summary = DeliveryCounts{Processed: counts[deliveryProcessed], Ignored: counts[deliveryIgnored], Rejected: counts[deliveryRejected]}
	for _, n := range counts {
		out.Total += n
	}
	rows, filtered, err := w.store.pageDeliveries(ctx, f, (page-1)*perPage, perPage)
	if err != nil {
		return out, err
	}
	out.Filtered = filtered
	for i := range rows {
		out.Deliveries = append(out.Deliveries, rows[i].toDelivery())
	}
	return out, nil
}

const (
	// deliveriesKeep is for how long deliveries and their events are kept, deleteSlice how many of each are deleted in one go.
	deliveriesKeep = 30 * 24 * time.Hour
	deleteSlice    = 10_000
)

// DeleteOld deletes deliveries that are old, and their events.
func (w *Webhooks) DeleteOld(ctx context.Context) error {
	return w.store.deleteOld(ctx, w.cfg.Now().Add(-deliveriesKeep).UnixMilli(), deleteSlice)
}

// LastEventID returns the id of the newest event of the inbox, 0 without one.
func (w *Webhooks) LastEventID(ctx context.Context) (int64, error) {
	return w.store.lastDeliveryEvent(ctx)
}

// EventsAfter returns the events of the inbox after one, at most a slice of them.
func (w *Webhooks) EventsAfter(ctx context.Context, after int64) ([]deliveryEvent, error) {
	return w.store.deliveryEvents(ctx, after)
}

// CodeHostConfigured reports whether there is a code host whose package webhooks can be used.
func (w *Webhooks) CodeHostConfigured() bool { return w.cfg.CodeHost() != nil }

// LiveDeliveries tells of every webhook that is received. Close it when it is no longer needed.
func (w *Webhooks) LiveDeliveries() *event.Subscription { return w.cfg.Live.Subscribe(topicDeliveries) }
