package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Sent is a message with its deliveries, as they were when it was read.
type Sent struct {
	ID, Service, Kind, Schema string
	Severity                  Severity
	Title, Summary, Detail    string
	// Payload is what machines get, without what differs from channel to channel.
	Payload    json.RawMessage
	CreatedAt  time.Time
	Deliveries []Delivery
}

func (m *message) view() Sent {
	return Sent{
		ID: m.ID, Service: m.Service, Kind: m.Kind, Schema: m.Schema, Severity: Severity(m.Severity), Title: m.Title, Summary: m.Summary, Detail: m.Detail,
		Payload: json.RawMessage(m.Payload), CreatedAt: store.FromMillis(m.CreatedAt), Deliveries: []Delivery{},
	}
}

// maxRead bounds what is read at once.
const maxRead = 500

// Deliveries are the newest deliveries of all services, newest first, at most 500.
func (s *Sender) Deliveries(ctx context.Context, limit int) ([]Delivery, error) {
	var rows []delivery
	if err := s.cfg.Store.DB(ctx).Order("id DESC").Limit(min(max(limit, 1), maxRead)).Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read the deliveries: %w", err)
	}
	return views(rows), nil
}

func views(rows []delivery) []Delivery {
	out := make([]Delivery, len(rows))
	for i := range rows {
		out[i] = rows[i].view()
	}
	return out
}

// History are the messages of a service before one, or the newest for an empty id: newest first, at most 500.
func (s *Sender) History(ctx context.Context, service, before string, limit int) ([]Sent, error) {
	db := s.cfg.Store.DB(ctx).Where("service = ?", service)
	if before != "" {
		db = db.Where("id < ?", before)
	}
	var rows []message
	if err := db.Order("id DESC").Limit(min(max(limit, 1), maxRead)).Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read the messages: %w", err)
	}
	out, at, ids := make([]Sent, len(rows)), map[string]int{}, make([]string, len(rows))
	for i := range rows {
		out[i], at[rows[i].ID], ids[i] = rows[i].view(), i, rows[i].ID
	}
	var found []delivery
	if err := s.cfg.Store.DB(ctx).Where("message_id IN ?", ids).Order("id").Find(&found).Error; err != nil {
		return nil, fmt.Errorf("read the deliveries: %w", err)
	}
	for i := range found {
		to := &out[at[found[i].MessageID]]
		to.Deliveries = append(to.Deliveries, found[i].view())
	}
	return out, nil
}

// Latest is the newest delivery for each channel name of a service.
func (s *Sender) Latest(ctx context.Context, service string) (map[string]Delivery, error) {
	var rows []delivery
	err := s.cfg.Store.DB(ctx).Where("id IN (SELECT MAX(id) FROM notify_deliveries WHERE service = ? GROUP BY name)", service).Find(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("read the newest deliveries: %w", err)
	}
	out := map[string]Delivery{}
	for i := range rows {
		out[rows[i].Name] = rows[i].view()
	}
	return out, nil
}

// topicEnded is where ends of deliveries are published.
const topicEnded = "notify.ended"

// lookAgain is how often Wait reads the store although nothing was heard.
const lookAgain = 2 * time.Second

// Wait waits until all deliveries of a message have ended, and returns them as they are then, or when ctx ends: both
// without an error.
func (s *Sender) Wait(ctx context.Context, messageID string) ([]Delivery, error) {
	ended := s.live.Subscribe(topicEnded)
	defer ended.Close()
	for {
		// A caller who has waited long enough still gets to see how far it is.
		all, err := s.DeliveriesOf(context.WithoutCancel(ctx), messageID)
		if err != nil || ctx.Err() != nil || allFinal(all) {
			return all, err
		}
		if err := s.hear(ctx, ended.Events(), messageID); err != nil {
			return all, nil
		}
	}
}

var errClosed = errors.New("the bus is closed")

// hear waits for news of a message, or for a while.
func (s *Sender) hear(ctx context.Context, events <-chan event.Event, messageID string) error {
	timer := time.NewTimer(lookAgain)
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

// DeliveriesOf are those of one message, within the transaction of ctx if there is one.
func (s *Sender) DeliveriesOf(ctx context.Context, messageID string) ([]Delivery, error) {
	var rows []delivery
	if err := s.cfg.Store.DB(ctx).Where("message_id = ?", messageID).Order("id").Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read the deliveries: %w", err)
	}
	return views(rows), nil
}

func allFinal(all []Delivery) bool {
	return !slices.ContainsFunc(all, func(d Delivery) bool { return !d.State.Final() })
}

// message reads one; nil if it is not there.
func (s *Sender) message(ctx context.Context, id string) (*message, error) {
	var found []message
	if err := s.cfg.Store.DB(ctx).Where("id = ?", id).Find(&found).Error; err != nil {
		return nil, fmt.Errorf("read the message: %w", err)
	}
	if len(found) == 0 {
		return nil, nil
	}
	return &found[0], nil
}
