package channels

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/notify"
)

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

// SendTest sends a test to one channel, also one that is switched off, or to all that are switched on, once each,
// and waits for the outcomes.
func (m *Manager) SendTest(ctx context.Context, name, text string) (map[string]TestResult, error) {
	if n := utf8.RuneCountInString(text); n > maxTestText {
		return nil, invalid("message", "The message must have at most %d characters, it has %d.", maxTestText, n)
	}
	set, err := m.readSettings(ctx)
	if err != nil {
		return nil, err
	}
	to, err := m.enabledRecipients(ctx, set)
	if name != "" {
		to, err = m.testRecipients(ctx, set, name)
	}
	if err != nil {
		return nil, err
	}
	if len(to) == 0 {
		return map[string]TestResult{}, nil
	}
	message, err := m.host.WriteTest(ctx, name, text)
	if err != nil {
		return nil, fmt.Errorf("write the notification: %w", err)
	}
	id, _, err := m.cfg.Sender.Post(ctx, notify.Post{Service: m.service, Message: message, To: to, Once: true})
	if err != nil {
		return nil, err
	}
	wait, cancel := context.WithTimeout(ctx, testWait)
	defer cancel()
	all, err := m.cfg.Sender.Wait(wait, id)
	if err != nil {
		return nil, err
	}
	return resultsByChannel(all), nil
}

func (m *Manager) testRecipients(ctx context.Context, set storedSettings, name string) ([]notify.Recipient, error) {
	all, err := m.listChannels()
	if err != nil {
		return nil, err
	}
	c := findChannel(all, name)
	if c == nil {
		return nil, invalid("channel", "There is no channel %q: the configuration names no instance for it.", name)
	}
	if c.role != "" {
		if err := m.checkComplete(ctx, &set, all, c.role); err != nil {
			return nil, err
		}
	}
	return m.recipientsThrough(ctx, *c)
}

// resultsByChannel returns the outcomes by channel: a channel with several recipients is as good as its best one.
func resultsByChannel(all []notify.Delivery) map[string]TestResult {
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
	CreatedAt  api.Time          `json:"createdAt"`
	Payload    json.RawMessage   `json:"payload" doc:"Without the members that differ from channel to channel."`
	Deliveries []MessageDelivery `json:"deliveries"`
}

// MessageDelivery is a notification on its way to one recipient.
type MessageDelivery struct {
	ID       string   `json:"id" example:"ntf_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
	Channel  string   `json:"channel" example:"email"`
	Instance string   `json:"instance" example:"notify.ops"`
	State    string   `json:"state" enum:"waiting,sending,delivered,failed,unknown,superseded" doc:"unknown: it may have arrived, and is not sent again."`
	Attempts int      `json:"attempts"`
	Error    string   `json:"error,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
	EndedAt  api.Time `json:"endedAt,omitempty,omitzero"`
}

func toMessageDelivery(d notify.Delivery) MessageDelivery {
	out := MessageDelivery{
		ID: d.ID, Channel: d.Recipient.Name, Instance: d.Recipient.Channel, State: string(d.State), Attempts: d.Attempts, Error: d.Error,
		Warnings: d.Warnings,
	}
	if !d.EndedAt.IsZero() {
		out.EndedAt = api.TimeOf(d.EndedAt)
	}
	return out
}

// History returns the messages of the host before one, or the newest for an empty id: newest first.
func (m *Manager) History(ctx context.Context, before string, limit int) ([]SentMessage, error) {
	rows, err := m.cfg.Sender.History(ctx, m.service, before, limit)
	if err != nil {
		return nil, err
	}
	out := make([]SentMessage, 0, len(rows))
	for _, r := range rows {
		sent := SentMessage{
			ID: r.ID, Kind: r.Kind, Title: r.Title, Summary: r.Summary, Severity: r.Severity.String(), CreatedAt: api.TimeOf(r.CreatedAt),
			Payload:    r.Payload,
			Deliveries: []MessageDelivery{},
		}
		for _, d := range r.Deliveries {
			sent.Deliveries = append(sent.Deliveries, toMessageDelivery(d))
		}
		out = append(out, sent)
	}
	return out, nil
}

// LastDeliveries returns the newest deliveries by channel.
func (m *Manager) LastDeliveries(ctx context.Context) (map[string]MessageDelivery, error) {
	last, err := m.latestDeliveries(ctx)
	if err != nil {
		return nil, err
	}
	out := map[string]MessageDelivery{}
	for name, d := range last {
		out[name] = toMessageDelivery(d)
	}
	return out, nil
}

// latestDeliveries returns the newest deliveries by channel. Of a channel with several recipients it is the best one of the newest message.
func (m *Manager) latestDeliveries(ctx context.Context) (map[string]notify.Delivery, error) {
	last, err := m.cfg.Sender.Latest(ctx, m.service)
	if err != nil {
		return nil, err
	}
	for name, d := range last {
		if d.Recipient.Key == "" || d.State == notify.Delivered {
			continue
		}
		all, err := m.cfg.Sender.DeliveriesOf(ctx, d.MessageID)
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(all, func(o notify.Delivery) bool { return o.Recipient.Name == name && o.State == notify.Delivered }); i >= 0 {
			last[name] = all[i]
		}
	}
	return last, nil
}
