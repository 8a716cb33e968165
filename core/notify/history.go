package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/lists"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Sent is a copy of a message with its deliveries as they were when they were read.
type Sent struct {
	ID, Service, Kind, Schema string
	Severity                  Severity
	Title, Summary, Detail    string
	// Payload is what machines get, without what differs from channel to channel.
	Payload    json.RawMessage
	CreatedAt  time.Time
	Deliveries []Delivery
}

func (m *message) toSent() Sent {
	return Sent{
		ID: m.ID, Service: m.Service, Kind: m.Kind, Schema: m.Schema, Severity: Severity(m.Severity), Title: m.Title, Summary: m.Summary,
		Detail:  m.Detail,
		Payload: json.RawMessage(m.Payload), CreatedAt: store.FromMillis(m.CreatedAt), Deliveries: []Delivery{},
	}
}

// history reads messages and deliveries, and tells when deliveries have ended.
type history struct {
	store *store.Store
	// live tells of deliveries that have ended.
	live *event.Bus
}

// maxRead bounds the rows that are read at once.
const maxRead = 500

// Deliveries returns the newest deliveries of all services, newest first, at most 500.
func (h *history) Deliveries(ctx context.Context, limit int) ([]Delivery, error) {
	var rows []delivery
	if err := h.store.DB(ctx).Order("id DESC").Limit(min(max(limit, 1), maxRead)).Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read the deliveries: %w", err)
	}
	return toDeliveries(rows), nil
}

func toDeliveries(rows []delivery) []Delivery {
	return lists.ConvertAll(rows, func(r delivery) Delivery { return r.toDelivery() })
}

// History returns the messages of a service that are older than the message before, or the newest if before is empty:
// newest first, at most 500.
func (h *history) History(ctx context.Context, service, before string, limit int) ([]Sent, error) {
	db := h.store.DB(ctx).Where("service = ?", service)
	if before != "" {
		db = db.Where("id < ?", before)
	}
	var rows []message
	if err := db.Order("id DESC").Limit(min(max(limit, 1), maxRead)).Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read the messages: %w", err)
	}
	out, at, ids := make([]Sent, len(rows)), map[string]int{}, make([]string, len(rows))
	for i := range rows {
		out[i], at[rows[i].ID], ids[i] = rows[i].toSent(), i, rows[i].ID
	}
	var found []delivery
	if err := h.store.DB(ctx).Where("message_id IN ?", ids).Order("id").Find(&found).Error; err != nil {
		return nil, fmt.Errorf("read the deliveries: %w", err)
	}
	for i := range found {
		to := &out[at[found[i].MessageID]]
		to.Deliveries = append(to.Deliveries, found[i].toDelivery())
	}
	return out, nil
}

var deliveryColumns = store.Columns(delivery{}, "d")

// Latest returns the newest delivery of a service for each channel name.
func (h *history) Latest(ctx context.Context, service string) (map[string]Delivery, error) {
	var rows []delivery
	// Each step finds the next name by the index: to group by names reads all deliveries of the service.
	err := h.store.DB(ctx).Raw("WITH RECURSIVE names(name) AS (SELECT MIN(name) FROM notify_deliveries WHERE service = ? UNION ALL "+
		"SELECT (SELECT MIN(name) FROM notify_deliveries WHERE service = ? AND name > names.name) FROM names WHERE names.name IS NOT NULL) "+
		"SELECT "+deliveryColumns+" FROM names JOIN notify_deliveries d ON d.id = (SELECT MAX(id) FROM notify_deliveries WHERE service = ? AND name = names.name)", service, service, service).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("read the newest deliveries: %w", err)
	}
	out := map[string]Delivery{}
	for i := range rows {
		out[rows[i].Name] = rows[i].toDelivery()
	}
	return out, nil
}

// topicEnded is the topic on which ended deliveries are published.
const topicEnded = "notify.ended"

// pollInterval is how often Wait reads the store if no event arrives.
const pollInterval = 2 * time.Second

// Wait waits until all deliveries of a message have ended or ctx ends, and returns them. The end of ctx is no error.
func (h *history) Wait(ctx context.Context, messageID string) ([]Delivery, error) {
	ended := h.live.Subscribe(topicEnded)
	defer ended.Close()
	for {
		// A caller who has waited long enough still gets to see how far it is.
		all, err := h.DeliveriesOf(context.WithoutCancel(ctx), messageID)
		if err != nil || ctx.Err() != nil || allFinal(all) {
			return all, err
		}
		if err := h.waitForEnd(ctx, ended.Events(), messageID); err != nil {
			return all, nil
		}
	}
}

var errClosed = errors.New("the bus is closed")

// waitForEnd waits until a delivery of the message may have ended, pollInterval has passed or ctx ends.
func (h *history) waitForEnd(ctx context.Context, events <-chan event.Event, messageID string) error {
	timer := time.NewTimer(pollInterval)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
			return nil
		case ev, ok := <-events:
			if !ok {
				return errClosed
			}
			if ev.Lagged || ev.Data == messageID {
				return nil
			}
		}
	}
}

// DeliveriesOf returns the deliveries of one message, within the transaction of ctx if there is one.
func (h *history) DeliveriesOf(ctx context.Context, messageID string) ([]Delivery, error) {
	var rows []delivery
	if err := h.store.DB(ctx).Where("message_id = ?", messageID).Order("id").Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read the deliveries: %w", err)
	}
	return toDeliveries(rows), nil
}

func allFinal(all []Delivery) bool {
	return !slices.ContainsFunc(all, func(d Delivery) bool { return !d.State.Final() })
}

// readMessage returns a message, or nil if it does not exist.
func (h *history) readMessage(ctx context.Context, id string) (*message, error) {
	var found []message
	if err := h.store.DB(ctx).Where("id = ?", id).Find(&found).Error; err != nil {
		return nil, fmt.Errorf("read the message: %w", err)
	}
	if len(found) == 0 {
		return nil, nil
	}
	return &found[0], nil
}

// readDelivery returns a delivery, or nil if it does not exist.
func (h *history) readDelivery(ctx context.Context, id string) (*delivery, error) {
	var found []delivery
	if err := h.store.DB(ctx).Where("id = ?", id).Find(&found).Error; err != nil {
		return nil, fmt.Errorf("read the delivery: %w", err)
	}
	if len(found) == 0 {
		return nil, nil
	}
	return &found[0], nil
}
