package notify

import (
	"context"
	"fmt"
	"time"

	"github.com/patchbay-dev/patchbay/core/store"
)

// State is where a delivery stands.
type State string

// The states. The last three are final.
const (
	// Waiting for its first or next attempt.
	Waiting State = "waiting"
	// Sending: an attempt is under way.
	Sending State = "sending"
	// Delivered: the channel has taken it.
	Delivered State = "delivered"
	// Failed: it was not delivered, and will not be.
	Failed State = "failed"
	// Unknown: it may have been delivered; it is not sent again, since the receiver could not tell.
	Unknown State = "unknown"
)

// Final tells whether a delivery in this state will never change again.
func (s State) Final() bool { return s != Waiting && s != Sending }

// delivery is one alert on its way to one channel.
type delivery struct {
	ID       string `gorm:"primaryKey"`
	Channel  string
	Service  string
	Kind     string
	Severity int
	Title    string
	Text     string
	Payload  string
	State    State
	Attempts int
	// Error is what the last attempt that failed ended with.
	Error       string
	CreatedAt   int64 `gorm:"autoCreateTime:false"`
	AttemptedAt int64
	EndedAt     int64
	// tried says that this process has handed it to the channel.
	tried bool
}

// TableName implements gorm's Tabler.
func (delivery) TableName() string { return "notify_deliveries" }

// Delivery is a copy of a delivery as it was when it was read.
type Delivery struct {
	ID, Channel, Kind, Title string
	State                    State
	Attempts                 int
	// Error is what the last attempt that failed ended with, without secrets.
	Error     string
	CreatedAt time.Time
	// EndedAt is zero until the state is final.
	EndedAt time.Time
}

// maxDeliveries bounds what Deliveries returns.
const maxDeliveries = 500

// Deliveries are the newest deliveries, newest first, at most 500.
func (s *Sender) Deliveries(ctx context.Context, limit int) ([]Delivery, error) {
	var rows []delivery
	if err := s.cfg.Store.DB(ctx).Order("id DESC").Limit(min(max(limit, 1), maxDeliveries)).Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read the deliveries: %w", err)
	}
	out := make([]Delivery, 0, len(rows))
	for _, r := range rows {
		out = append(out, Delivery{
			ID: r.ID, Channel: r.Channel, Kind: r.Kind, Title: r.Title, State: r.State, Attempts: r.Attempts, Error: r.Error,
			CreatedAt: store.FromMillis(r.CreatedAt), EndedAt: store.FromMillis(r.EndedAt),
		})
	}
	return out, nil
}

// delivery reads one; nil if it is not there.
func (s *Sender) delivery(ctx context.Context, id string) (*delivery, error) {
	var found []delivery
	if err := s.cfg.Store.DB(ctx).Where("id = ?", id).Find(&found).Error; err != nil {
		return nil, fmt.Errorf("read the delivery: %w", err)
	}
	if len(found) == 0 {
		return nil, nil
	}
	return &found[0], nil
}

// change writes values of a delivery that is not final.
func (s *Sender) change(ctx context.Context, id string, values map[string]any) error {
	err := s.cfg.Store.QueueTx(ctx, "mark delivery", func(ctx context.Context) error {
		return s.cfg.Store.Writer(ctx).Model(&delivery{}).Where("id = ? AND state IN ?", id, []State{Waiting, Sending}).Updates(values).Error
	})
	if err != nil {
		return fmt.Errorf("mark the delivery: %w", err)
	}
	return nil
}

// maxError bounds what is kept of an error, in bytes.
const maxError = 1000

// end writes a final state.
func (s *Sender) end(ctx context.Context, id string, state State, reason string) error {
	return s.change(ctx, id, map[string]any{"state": state, "error": clean(reason), "ended_at": store.Millis(s.cfg.Now())})
}

// purge deletes what ended before the retention.
func (s *Sender) purge(ctx context.Context) error {
	before := store.Millis(s.cfg.Now().Add(-s.cfg.Retention))
	return s.cfg.Store.QueueTx(ctx, "delete old deliveries", func(ctx context.Context) error {
		w := s.cfg.Store.Writer(ctx)
		if err := w.Where("ended_at > 0 AND ended_at < ?", before).Delete(&delivery{}).Error; err != nil {
			return err
		}
		return w.Where("active = ? AND told_at < ?", false, before).Delete(&alertRecord{}).Error
	})
}
