package notify

import (
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/notify/card"
	"github.com/patchbay-dev/patchbay/core/store"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

// message is what is sent, stored once for all channels.
type message struct {
	ID      string `gorm:"primaryKey"`
	Service string
	// Key is the ID, or what makes the message the same as another of the service.
	Key      string
	Kind     string
	Schema   string
	Version  int
	Severity int
	Title    string
	Summary  string
	Detail   string
	Rich     rich `gorm:"serializer:json"`
	Payload  string
	// CreatedAt is what receivers get to know as the time of the news.
	CreatedAt int64 `gorm:"autoCreateTime:false"`
}

// TableName implements gorm's Tabler.
func (message) TableName() string { return "notify_messages" }

// rich is the part of a message that only some channels can show.
type rich struct {
	Markdown rendering  `json:"markdown,omitzero"`
	HTML     rendering  `json:"html,omitzero"`
	Links    []sdk.Link `json:"links,omitempty"`
	Card     *card.Card `json:"card,omitempty"`
}

type rendering struct {
	Title   string `json:"title,omitempty"`
	Summary string `json:"summary,omitempty"`
	Detail  string `json:"detail,omitempty"`
}

// Recipient is where a message goes.
type Recipient struct {
	// Channel is the reference of an instance, such as notify.ops.
	Channel string
	// Name is what payloads call the channel; empty means the instance's name.
	Name string
	// Key tells several recipients of one channel apart; empty where there is one.
	Key string
}

func (r Recipient) channelName() string {
	if r.Name != "" {
		return r.Name
	}
	_, name, _ := strings.Cut(r.Channel, ".")
	return name
}

// State is the state of a delivery.
type State string

// The states. The last four are final.
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
	// Superseded: it was not sent, since what it tells was no longer so.
	Superseded State = "superseded"
)

// Final reports whether a delivery in this state never changes again.
func (s State) Final() bool { return s != Waiting && s != Sending }

// delivery is one message on its way to one recipient.
type delivery struct {
	ID        string `gorm:"primaryKey"`
	MessageID string
	Service   string
	// Channel, Name and Recipient are what Recipient has.
	Channel   string
	Name      string
	Recipient string
	Once      bool
	State     State
	Attempts  int
	// Error is what the last attempt that failed ended with.
	Error       string
	Warnings    []string `gorm:"serializer:json"`
	CreatedAt   int64    `gorm:"autoCreateTime:false"`
	AttemptedAt int64
	EndedAt     int64
	// attempted says that this process has passed the delivery to the channel.
	attempted bool
	// gone says that the channel does not know the recipient any more.
	gone bool
}

// TableName implements gorm's Tabler.
func (delivery) TableName() string { return "notify_deliveries" }

func (d *delivery) toRecipient() Recipient {
	return Recipient{Channel: d.Channel, Name: d.Name, Key: d.Recipient}
}

// abandonedState returns the state of a delivery that is abandoned. It is Unknown if an earlier process was sending
// it.
func (d *delivery) abandonedState() State {
	if d.State == Sending && !d.attempted {
		return Unknown
	}
	return Failed
}

// Delivery is a copy of a delivery as it was when it was read.
type Delivery struct {
	ID, MessageID string
	Recipient
	State    State
	Attempts int
	// Error is what the last attempt that failed ended with, without secrets.
	Error string
	// Warnings are what was shortened, left out or replaced in what was delivered.
	Warnings  []string
	CreatedAt time.Time
	// AttemptedAt is zero before the first attempt, EndedAt until the state is final.
	AttemptedAt, EndedAt time.Time
}

func (d *delivery) toDelivery() Delivery {
	return Delivery{
		ID: d.ID, MessageID: d.MessageID, Recipient: d.toRecipient(), State: d.State, Attempts: d.Attempts, Error: d.Error, Warnings: d.Warnings,
		CreatedAt: store.FromMillis(d.CreatedAt), AttemptedAt: store.FromMillis(d.AttemptedAt), EndedAt: store.FromMillis(d.EndedAt),
	}
}
