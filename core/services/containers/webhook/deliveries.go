package webhook

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
	DecisionProcessed = "processed"
	DecisionIgnored   = "ignored"
	DecisionRejected  = "rejected"
)

// TopicDeliveries is the topic of the events of deliveries. Their data is a DeliveryEvent.
const TopicDeliveries = "containers.deliveries"

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
		DeliveryID: d.DeliveryID, ReceivedAt: api.TimeOfMillis(d.LastAt), FirstReceivedAt: api.TimeOfMillis(d.FirstAt), Owner: d.Owner,
		FullName: d.FullName, Event: d.Event, Action: d.Action,
		Decision: d.Decision, Reason: d.Reason, ResponseStatus: d.Status, JobIDs: append([]string{}, d.JobIDs...), AttemptCount: d.Attempts,
	}
	_, out.Repo, _ = strings.Cut(d.FullName, "/")
	if len(d.JobIDs) > 0 {
		out.JobID = d.JobIDs[0]
	}
	return out
}

// deliveryNews is the data of such an event.
type deliveryNews struct {
	Type string `json:"type"`
	HookDelivery
}

// Inbox takes the deliveries of package webhooks and remembers what became of them.
type Inbox struct {
	hooks *Webhooks
	cfg   Config
	store *hookStore
}

// NewInbox returns the inbox of the deliveries of webhooks.
func NewInbox(hooks *Webhooks) *Inbox {
	return &Inbox{hooks: hooks, cfg: hooks.cfg, store: hooks.store}
}

// tellDelivery writes an event of the inbox, and publishes it after the commit. The transaction has called lockHooks.
func (i *Inbox) tellDelivery(ctx context.Context, kind string, d *deliveryRecord) error {
	raw, err := json.Marshal(deliveryNews{kind, d.toDelivery()})
	if err != nil {
		return fmt.Errorf("encode the event of a delivery: %w", err)
	}
	ev := DeliveryEvent{At: d.LastAt, Data: string(raw)}
	ev.ID, err = i.store.addDeliveryEvent(ctx, ev)
	if err != nil {
		return fmt.Errorf("write the event of a delivery: %w", err)
	}
	i.store.AfterCommit(ctx, func() { i.cfg.Relay.Publish(TopicDeliveries, event.Event{Seq: ev.ID, Type: kind, Data: ev}) })
	return nil
}

// DeliverySlice is how many events one query reads.
const DeliverySlice = 500

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
func (i *Inbox) Deliveries(ctx context.Context, f DeliveryFilter, page, perPage int) (DeliveryPage, error) {
	out := DeliveryPage{Page: page, PerPage: perPage, Deliveries: []HookDelivery{}}
	counts, err := i.store.countDeliveries(ctx)
	if err != nil {
		return out, fmt.Errorf("count the deliveries: %w", err)
	}
	out.Summary = DeliveryCounts{Processed: counts[DecisionProcessed], Ignored: counts[DecisionIgnored], Rejected: counts[DecisionRejected]}
	for _, n := range counts {
		out.Total += n
	}
	rows, filtered, err := i.store.pageDeliveries(ctx, f, (page-1)*perPage, perPage)
	if err != nil {
		return out, err
	}
	out.Filtered = filtered
	for n := range rows {
		out.Deliveries = append(out.Deliveries, rows[n].toDelivery())
	}
	return out, nil
}

const (
	// deliveriesKeep is for how long deliveries and their events are kept, deleteSlice how many of each are deleted in one go.
	deliveriesKeep = 30 * 24 * time.Hour
	deleteSlice    = 10_000
)

// DeleteOld deletes deliveries that are old, and their events.
func (i *Inbox) DeleteOld(ctx context.Context) error {
	return i.store.deleteOld(ctx, i.cfg.Now().Add(-deliveriesKeep).UnixMilli(), deleteSlice)
}

// LastEventID returns the id of the newest event of the inbox, 0 without one.
func (i *Inbox) LastEventID(ctx context.Context) (int64, error) {
	return i.store.lastDeliveryEvent(ctx)
}

// EventsAfter returns the events of the inbox after one, at most a slice of them.
func (i *Inbox) EventsAfter(ctx context.Context, after int64) ([]DeliveryEvent, error) {
	return i.store.deliveryEvents(ctx, after)
}

// LiveDeliveries tells of every webhook that is received. Close it when it is no longer needed.
func (i *Inbox) LiveDeliveries() *event.Subscription { return i.cfg.Live.Subscribe(TopicDeliveries) }
