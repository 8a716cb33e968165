package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm/clause"

	"github.com/patchbay-dev/patchbay/core/notify/card"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/store"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

// Message is what a service has written for people and machines.
type Message struct {
	// Schema names the payload's schema. A payload without one is that of an alert.
	Kind, Schema string
	Version      int
	Severity     Severity
	// Title is one line. Detail may be empty.
	Title, Summary, Detail sdk.Text
	// Links are absolute, the primary one first.
	Links []sdk.Link
	// Payload is a JSON object, without what differs from channel to channel.
	Payload json.RawMessage
	// Card is the picture for channels that show images; nil for none.
	Card *card.Card
}

// Channels knows the settings of channels. Their secrets are never stored with messages.
type Channels interface {
	// AlertRecipients returns where an alert goes through channels, by their references.
	AlertRecipients(ctx context.Context, channels []string) ([]Recipient, error)
	// Target returns where a recipient is reached, with its secrets. It is asked for each attempt. An error of NoRecipient
	// ends the delivery; after any other it is tried again.
	Target(ctx context.Context, r Recipient) (sdk.Target, error)
	// CheckEnabled returns an error if messages of a kind must not go to a recipient any more. It is asked before each
	// attempt, but not for a message that is sent once. The error is treated as one of Target.
	CheckEnabled(ctx context.Context, kind string, r Recipient) error
	// Locale returns the language of messages, "zh" or "en".
	Locale() string
	// RecipientGone runs in the transaction in which a delivery ends whose recipient does not exist any more.
	RecipientGone(ctx context.Context, r Recipient) error
}

// UseChannels has the sender ask c where messages go. Without it they go where the configuration of the channels says.
func (s *Sender) UseChannels(c Channels) { s.channels = c }

// Locale returns the language of those who are told, "zh" or "en".
func (s *Sender) Locale() string {
	if s.channels == nil {
		return "en"
	}
	return s.channels.Locale()
}

// Owner is a service that writes payloads of its own and wants to know what became of its messages.
type Owner interface {
	// Wanted reports whether a message is still worth sending. It is asked before each attempt, but not for a message that
	// is sent once. An error is treated as one of Channels.Target.
	Wanted(ctx context.Context, messageID string) (bool, error)
	// Ended runs in the transaction in which a delivery reaches its final state. Its error undoes the state, and both are
	// tried again.
	Ended(ctx context.Context, d Delivery) error
	// PayloadFor returns a message's payload as a channel gets it.
	PayloadFor(payload json.RawMessage, channel string) (json.RawMessage, error)
	// ShortenPayload returns a payload of at most max bytes that is still valid, or an error.
	ShortenPayload(payload json.RawMessage, max int64) (json.RawMessage, error)
}

// Serve makes o the owner of a service's messages. It is called before the queue starts.
func (s *Sender) Serve(service string, o Owner) { s.owners[service] = o }

// noRecipient is the error for a recipient that cannot be reached.
type noRecipient struct{ why string }

func (e *noRecipient) Error() string { return e.why }

// NoRecipient returns the error of Channels.Target for a recipient that cannot be reached now or later.
func NoRecipient(why string) error { return &noRecipient{why} }

// Post is a message for some recipients.
type Post struct {
	Service string
	// Key makes a message the same as another of the service, which is stored once. Empty means it is like no other.
	Key     string
	Message *Message
	To      []Recipient
	// Once allows one attempt for each recipient, now.
	Once bool
	// Time is when it was found; the zero time is now.
	Time time.Time
}

// Post stores a message with a delivery and its job for each recipient, in the transaction of ctx if there is one. fresh
// is false if the message was stored before: then nothing is added.
func (s *Sender) Post(ctx context.Context, p Post) (id string, fresh bool, err error) {
	if p.Message == nil || p.Service == "" {
		return "", false, errors.New("post a message: it needs a service and a content")
	}
	if p.Time.IsZero() {
		p.Time = s.cfg.Now()
	}
	err = s.cfg.Store.Tx(ctx, "post message", func(ctx context.Context) error {
		id, fresh, err = s.storeMessage(ctx, p)
		if err != nil || !fresh {
			return err
		}
		for _, to := range p.To {
			if err := s.submitDelivery(ctx, id, p, to); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return "", false, fmt.Errorf("post the message %s: %w", p.Message.Kind, err)
	}
	return id, fresh, nil
}

// storeMessage stores the message unless there is one with its key. fresh reports whether it was stored.
func (s *Sender) storeMessage(ctx context.Context, p Post) (id string, fresh bool, err error) {
	m := p.Message
	id = s.ids.New("ntm")
	row := message{
		ID: id, Service: p.Service, Key: p.Key, Kind: m.Kind, Schema: m.Schema, Version: m.Version, Severity: int(m.Severity),
		Title: validText(m.Title.Plain), Summary: validText(m.Summary.Plain), Detail: validText(m.Detail.Plain), Payload: string(m.Payload),
		CreatedAt: store.Millis(p.Time),
		Rich: rich{
			Markdown: rendering{m.Title.Markdown, m.Summary.Markdown, m.Detail.Markdown},
			HTML:     rendering{m.Title.HTML, m.Summary.HTML, m.Detail.HTML},
			Links:    m.Links, Card: m.Card,
		},
	}
	if row.Key == "" {
		row.Key = id
	}
	if row.Title == "" { // no channel takes one without
		row.Title = m.Kind
	}
	// On PostgreSQL this waits for another transaction that stores the same.
	done := s.cfg.Store.Writer(ctx).Clauses(clause.OnConflict{DoNothing: true}).Create(&row)
	if done.Error != nil {
		return "", false, fmt.Errorf("store the message: %w", done.Error)
	}
	if done.RowsAffected > 0 {
		return id, true, nil
	}
	var found message
	if err := s.cfg.Store.Writer(ctx).Select("id").Where("service = ? AND key = ?", row.Service, row.Key).Take(&found).Error; err != nil {
		return "", false, fmt.Errorf("find the message that is stored: %w", err)
	}
	return found.ID, false, nil
}

// validText returns s as valid UTF-8 without NUL, which every database and channel accepts.
func validText(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\x00", "")
}

// submitDelivery stores one delivery and its job. The caller has a transaction.
func (s *Sender) submitDelivery(ctx context.Context, messageID string, p Post, to Recipient) error {
	d := delivery{
		ID: s.ids.New("ntf"), MessageID: messageID, Service: p.Service, Channel: to.Channel, Name: to.channelName(), Recipient: to.Key,
		Once:  p.Once,
		State: Waiting, CreatedAt: store.Millis(p.Time),
	}
	if err := s.cfg.Store.Writer(ctx).Create(&d).Error; err != nil {
		return fmt.Errorf("store the delivery: %w", err)
	}
	return s.submitJob(ctx, &d)
}

// submitJob submits the job of a delivery unless it has one.
func (s *Sender) submitJob(ctx context.Context, d *delivery) error {
	_, _, err := s.queue.Submit(ctx, queue.Submission{Type: jobDeliver, DedupKey: d.ID, Payload: deliverPayload{ID: d.ID}, Actor: d.Service})
	return err
}

// payloadFor returns a message's payload for one delivery.
func (s *Sender) payloadFor(m *message, d *delivery) (json.RawMessage, error) {
	if o := s.owners[m.Service]; o != nil && m.Schema != "" {
		return o.PayloadFor(json.RawMessage(m.Payload), d.Name)
	}
	return json.RawMessage(strings.Replace(m.Payload, `{"id":""`, `{"id":"`+d.ID+`"`, 1)), nil
}

// notificationFor returns the notification for one delivery, with everything that any channel could use but the
// image.
func (s *Sender) notificationFor(m *message, d *delivery) (*sdk.Notification, error) {
	payload, err := s.payloadFor(m, d)
	if err != nil {
		return nil, fmt.Errorf("write the payload: %w", err)
	}
	text := func(plain string, of func(rendering) string) sdk.Text {
		return sdk.Text{Plain: plain, Markdown: of(m.Rich.Markdown), HTML: of(m.Rich.HTML)}
	}
	return &sdk.Notification{
		ID: d.ID, Kind: m.Kind, Version: m.Version, SentAt: store.FromMillis(m.CreatedAt), Severity: Severity(m.Severity),
		Title:   text(m.Title, func(t rendering) string { return t.Title }),
		Summary: text(m.Summary, func(t rendering) string { return t.Summary }),
		Detail:  text(m.Detail, func(t rendering) string { return t.Detail }),
		Links:   m.Rich.Links, Payload: payload,
	}, nil
}
