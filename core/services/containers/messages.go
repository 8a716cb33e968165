package containers

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/notify/kinds"
)

// Sender is what the service needs of the core's notifications.
type Sender interface {
	Post(ctx context.Context, p notify.Post) (id string, fresh bool, err error)
	Wait(ctx context.Context, messageID string) ([]notify.Delivery, error)
	DeliveriesOf(ctx context.Context, messageID string) ([]notify.Delivery, error)
	History(ctx context.Context, service, before string, limit int) ([]notify.Sent, error)
	Latest(ctx context.Context, service string) (map[string]notify.Delivery, error)
}

const (
	// maxTestText bounds the text of a test, in characters.
	maxTestText = 500
	// testWait is how long a test is waited for: with the channels' own limits as they are by default an attempt takes less.
	testWait = 35 * time.Second
)

// TestResult is what became of a test at one channel.
type TestResult struct {
	OK       bool     `json:"ok"`
	State    string   `json:"state" enum:"waiting,sending,delivered,failed,unknown,superseded"`
	Error    string   `json:"error,omitempty" example:"the server refuses user and password"`
	Warnings []string `json:"warnings,omitempty" doc:"What was shortened, left out or replaced."`
}

// TestNotification sends a test to one channel, also one that is switched off, or to all that are switched on, once each,
// and waits for the outcomes.
func (s *Service) TestNotification(ctx context.Context, name, text string) (map[string]TestResult, error) {
	if n := utf8.RuneCountInString(text); n > maxTestText {
		return nil, invalid("message", "The message must have at most %d characters, it has %d.", maxTestText, n)
	}
	set, err := s.storedNotifications(ctx)
	if err != nil {
		return nil, err
	}
	to, err := s.recipients(ctx, set)
	if name != "" {
		to, err = s.testRecipients(ctx, set, name)
	}
	if err != nil {
		return nil, err
	}
	if len(to) == 0 {
		return map[string]TestResult{}, nil
	}
	m, err := s.writer(ctx).Test(kinds.TestEvent{Channel: name, Message: text})
	if err != nil {
		return nil, fmt.Errorf("write the notification: %w", err)
	}
	id, _, err := s.cfg.Sender.Post(ctx, notify.Post{Service: ServiceName, Message: m, To: to, Once: true})
	if err != nil {
		return nil, err
	}
	wait, cancel := context.WithTimeout(ctx, testWait)
	defer cancel()
	all, err := s.cfg.Sender.Wait(wait, id)
	if err != nil {
		return nil, err
	}
	return results(all), nil
}

func (s *Service) testRecipients(ctx context.Context, set storedNotifications, name string) ([]notify.Recipient, error) {
	all, err := s.channels()
	if err != nil {
		return nil, err
	}
	c := find(all, name)
	if c == nil {
		return nil, invalid("channel", "There is no channel %q: the configuration names no instance for it.", name)
	}
	if c.role != "" {
		if err := s.complete(ctx, &set, all, c.role); err != nil {
			return nil, err
		}
	}
	return s.recipientsOf(ctx, *c)
}

// results are those of the channels: a channel with several recipients is as good as its best one.
func results(all []notify.Delivery) map[string]TestResult {
	out := map[string]TestResult{}
	for _, d := range all {
		r := TestResult{OK: d.State == notify.Delivered, State: string(d.State), Error: d.Error, Warnings: d.Warnings}
		if !d.State.Final() {
			r.Error = "it has not ended yet: the history tells how it ends"
		}
		if known, ok := out[d.Recipient.Name]; !ok || r.OK && !known.OK {
			out[d.Recipient.Name] = r
		}
	}
	return out
}

// SentMessage is a notification with what became of it.
type SentMessage struct {
	ID         string            `json:"id" example:"ntm_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
	Kind       string            `json:"kind" example:"job_finished"`
	Title      string            `json:"title"`
	Summary    string            `json:"summary"`
	Severity   string            `json:"severity" enum:"info,success,warning,error"`
	CreatedAt  string            `json:"createdAt" format:"date-time"`
	Payload    json.RawMessage   `json:"payload" doc:"Without the members that differ from channel to channel."`
	Deliveries []MessageDelivery `json:"deliveries"`
}

// MessageDelivery is a notification on its way to one recipient.
type MessageDelivery struct {
	ID       string   `json:"id" example:"ntf_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
	Channel  string   `json:"channel" example:"email"`
	Instance string   `json:"instance" example:"notify.mail"`
	State    string   `json:"state" enum:"waiting,sending,delivered,failed,unknown,superseded" doc:"unknown: it may have arrived, and is not sent again."`
	Attempts int      `json:"attempts"`
	Error    string   `json:"error,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
	EndedAt  string   `json:"endedAt,omitempty" format:"date-time"`
}

func deliveryView(d notify.Delivery) MessageDelivery {
	out := MessageDelivery{
		ID: d.ID, Channel: d.Recipient.Name, Instance: d.Recipient.Channel, State: string(d.State), Attempts: d.Attempts, Error: d.Error, Warnings: d.Warnings,
	}
	if !d.EndedAt.IsZero() {
		out.EndedAt = formatTime(d.EndedAt)
	}
	return out
}

// NotificationHistory are the notifications before one, or the newest for an empty id: newest first.
func (s *Service) NotificationHistory(ctx context.Context, before string, limit int) ([]SentMessage, error) {
	rows, err := s.cfg.Sender.History(ctx, ServiceName, before, limit)
	if err != nil {
		return nil, err
	}
	out := make([]SentMessage, 0, len(rows))
	for _, r := range rows {
		m := SentMessage{
			ID: r.ID, Kind: r.Kind, Title: r.Title, Summary: r.Summary, Severity: r.Severity.String(), CreatedAt: formatTime(r.CreatedAt), Payload: r.Payload,
			Deliveries: []MessageDelivery{},
		}
		for _, d := range r.Deliveries {
			m.Deliveries = append(m.Deliveries, deliveryView(d))
		}
		out = append(out, m)
	}
	return out, nil
}

// LastDeliveries are the newest deliveries by channel.
func (s *Service) LastDeliveries(ctx context.Context) (map[string]MessageDelivery, error) {
	last, err := s.latest(ctx)
	if err != nil {
		return nil, err
	}
	out := map[string]MessageDelivery{}
	for name, d := range last {
		out[name] = deliveryView(d)
	}
	return out, nil
}

// latest are the newest deliveries by channel. Of a channel with several recipients it is the best one of the newest message.
func (s *Service) latest(ctx context.Context) (map[string]notify.Delivery, error) {
	last, err := s.cfg.Sender.Latest(ctx, ServiceName)
	if err != nil {
		return nil, err
	}
	for name, d := range last {
		if d.Recipient.Key == "" || d.State == notify.Delivered {
			continue
		}
		all, err := s.cfg.Sender.DeliveriesOf(ctx, d.MessageID)
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(all, func(o notify.Delivery) bool { return o.Recipient.Name == name && o.State == notify.Delivered }); i >= 0 {
			last[name] = all[i]
		}
	}
	return last, nil
}
