// Package notify tells people and machines what services find worth telling. A message becomes one delivery for each
// recipient, stored together with the job that sends it; the job tries until the channel has taken it, has refused it for
// good, or a day has passed. What is delivered is never sent again. How a message is rendered follows from what its
// channel can do.
package notify

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/store"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

//go:embed migrations
var migrations embed.FS

// Migrations is the schema of this module.
func Migrations() store.Migrations {
	return store.EmbeddedMigrations("notify", migrations,
		store.StoredTime{Table: "notify_alerts", Column: "raised_at", Where: "active"},
		store.StoredTime{Table: "notify_alerts", Column: "told_at", Where: "active"},
		store.StoredTime{Table: "notify_pauses", Column: "until_at", Longest: maxRequestedPause})
}

// Severity is how serious an alert is.
type Severity = sdk.Severity

// Alert is a condition that operators are told of. It must hold no secret: it is stored and sent as it is.
type Alert struct {
	// Kind names the event within the service, such as "pool_empty".
	Kind     string
	Severity Severity
	Service  string
	// Title is one line; Text may have more.
	Title, Text string
	// Fields are for machines.
	Fields map[string]any
	// DedupKey is the same for alerts of a service that are the same news. Empty means Kind.
	DedupKey string
	// Time is when it was found; the zero time is now.
	Time time.Time
}

func (a Alert) dedupKey() string {
	if a.DedupKey == "" {
		return a.Kind
	}
	return a.DedupKey
}

// Topic is where alerts are published on the bus, after commit, with their payload as data.
const Topic = "alerts"

// Queue is what the sender needs of the job queue.
type Queue interface {
	Submit(ctx context.Context, sub queue.Submission) (job queue.Job, reused bool, err error)
}

// Config is what a Sender needs.
type Config struct {
	Store *store.Store
	// Channel finds a channel by its reference, such as notify.ops. It is asked for each attempt.
	Channel func(ref string) (client.Notifier, error)
	// Bus gets each alert; nil means none.
	Bus    *event.Bus
	Logger hclog.Logger
	// Cluster has the nodes that share the database; nil is this process alone.
	Cluster *cluster.Cluster
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Backoff is the pause after the given failed attempt (1, 2, …); nil means 5 s, doubled each time up to an hour, give
	// or take a fifth.
	Backoff func(attempt int) time.Duration
	// Timeout bounds one attempt (100 s): more than any channel of ours may be told to take.
	Timeout time.Duration
	// Ended is called after the end of each delivery has been stored, with the channel's reference; nil for nothing.
	Ended func(channel string, state State)
	// Retention is how long deliveries that have ended are kept (30 days).
	Retention time.Duration
}

// Sender sends alerts. Its handlers belong into the queue that it is given with Use.
type Sender struct {
	*history
	relay   *cluster.Relay
	cfg     Config
	ids     *store.IDs
	queue   Queue
	gates   gates
	pending pendingOutcomes
	// owners are the services that serve their messages, by name. channels may be nil.
	owners   map[string]Owner
	channels Channels
}

// New makes a sender. Before Use nothing can be sent.
func New(cfg Config) (*Sender, error) {
	if cfg.Store == nil || cfg.Channel == nil {
		return nil, errors.New("make the sender: it needs a store and channels")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = hclog.NewNullLogger()
	}
	if cfg.Backoff == nil {
		cfg.Backoff = defaultBackoff
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = 100 * time.Second
	}
	if cfg.Retention <= 0 {
		cfg.Retention = 30 * 24 * time.Hour
	}
	live := event.NewBus()
	return &Sender{
		history: &history{cfg.Store, live}, relay: cfg.Cluster.Relay("notify", live), cfg: cfg, ids: store.NewIDs(cfg.Now), owners: map[string]Owner{},
	}, nil
}

// Use gives the sender the queue that runs its handlers. It is called once, before anything is sent.
func (s *Sender) Use(q Queue) { s.queue = q }

const (
	firstPause = 5 * time.Second
	maxPause   = time.Hour
)

// defaultBackoff returns the pause after a failed attempt. It spreads the attempts of several deliveries, so that
// they do not all reach a channel that is back at once.
func defaultBackoff(attempt int) time.Duration {
	d := maxPause
	if attempt < 12 {
		d = min(firstPause<<max(0, attempt-1), maxPause)
	}
	return d - d/5 + rand.N(2*d/5)
}

// Payload is what a machine gets of an alert, as JSON.
type Payload struct {
	ID string `json:"id"`
	// Kind is service and kind, such as "search.pool_empty".
	Kind          string `json:"kind"`
	SchemaVersion int    `json:"schemaVersion"`
	SentAt        string `json:"sentAt"`
	Service       string `json:"service"`
	Severity      string `json:"severity"`
	// Status is "raised", or "resolved" when what was raised is over.
	Status string `json:"status"`
	Title  string `json:"title"`
	Text   string `json:"text"`
	// Fields depend on the kind.
	Fields map[string]any `json:"fields"`
}

const (
	statusRaised   = "raised"
	statusResolved = "resolved"
	payloadVersion = 1
)

// Send tells the channels once, in the transaction of ctx if there is one. Each channel gets a delivery and its job.
func (s *Sender) Send(ctx context.Context, a Alert, channels []string) error {
	return s.sendAlert(ctx, a, statusRaised, channels)
}

// sendAlert posts an alert with a status and publishes it on the bus after commit.
func (s *Sender) sendAlert(ctx context.Context, a Alert, status string, channels []string) error {
	if a.Time.IsZero() {
		a.Time = s.cfg.Now()
	}
	payload := alertPayload(a, status)
	raw, err := json.Marshal(payload)
	if err != nil {
		return fmt.Errorf("encode the payload of the alert %s.%s: %w", a.Service, a.Kind, err)
	}
	p := Post{Service: a.Service, Time: a.Time, Message: &Message{
		Kind: payload.Kind, Version: payloadVersion, Severity: a.Severity, Title: sdk.Text{Plain: a.Title}, Summary: sdk.Text{Plain: a.Text},
		Payload: raw,
	}}
	return s.cfg.Store.Tx(ctx, "send alert", func(ctx context.Context) error {
		if p.To, err = s.alertRecipients(ctx, channels); err != nil {
			return err
		}
		if _, _, err := s.Post(ctx, p); err != nil {
			return err
		}
		if s.cfg.Bus != nil {
			s.cfg.Store.AfterCommit(ctx, func() { s.cfg.Bus.Publish(Topic, event.Event{Type: payload.Kind, Data: payload}) })
		}
		return nil
	})
}

func (s *Sender) alertRecipients(ctx context.Context, channels []string) (to []Recipient, err error) {
	if s.channels != nil {
		return s.channels.AlertRecipients(ctx, channels)
	}
	for _, ref := range channels {
		to = append(to, Recipient{Channel: ref})
	}
	return to, nil
}

// alertPayload returns the payload of an alert. Its id is that of a delivery and is set for each.
func alertPayload(a Alert, status string) Payload {
	p := Payload{
		Kind: a.Service + "." + a.Kind, SchemaVersion: payloadVersion, SentAt: store.FormatTime(a.Time), Service: a.Service,
		Severity: a.Severity.String(), Status: status, Title: a.Title, Text: a.Text, Fields: a.Fields,
	}
	if p.Fields == nil {
		p.Fields = map[string]any{}
	}
	return p
}
