// Package notify is what the author of a notification channel implements, and what a caller of one uses.
//
// A channel delivers one notification at a time and says what became of it. Texts, recipients, repetition and
// deduplication are the host's.
package notify

import (
	"context"
	"time"

	"github.com/patchbay-dev/patchbay/sdk/framework"
	notifyv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/notify/v1"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Instance is what the host tells about a configured instance.
type Instance = framework.Instance

// Kind is the word for this kind in plugin.hcl; Service is its gRPC service.
const (
	Kind    = "notify"
	Service = "patchbay.notify.v1.Channel"
)

// Capabilities of a channel.
const (
	// CapImage: the channel shows Notification.Image.
	CapImage = "IMAGE"
	// CapMarkdown and CapHTML: the channel uses these renderings of the texts.
	CapMarkdown = "MARKDOWN"
	CapHTML     = "HTML"
	// CapPerUserTarget: a call may name its own recipient. Without it the SDK refuses calls that do.
	CapPerUserTarget = "PER_USER_TARGET"
	// CapIdempotent: the receiver knows a repetition by Notification.ID, so that the host may send again where it does not
	// know whether the first time arrived.
	CapIdempotent = "IDEMPOTENT"
)

// MaxID is the greatest length of Notification.ID in bytes.
const MaxID = 128

// Channel delivers notifications. Calls come concurrently.
type Channel interface {
	// Send delivers n. It does not try again: an error made with Temporary, Permanent or Unknown tells the host what
	// became of n; any other error counts as unknown. n and to are valid until Send returns and must not be changed.
	Send(ctx context.Context, n *Notification, to Target) (*Receipt, error)
}

// TargetValidator is a channel that can check a recipient. A channel with PerUserTarget implements it.
type TargetValidator interface {
	// ValidateTarget checks a target, which may be empty. It is pure: no network. The SDK calls it before each Send, and
	// refuses a JSON that is no object by itself. Paths are within Target.JSON.
	ValidateTarget(to Target) schema.Diagnostics
}

// Severity says how much a notification matters.
type Severity int32

// The severities, in the words of the .proto file. The zero value counts as info.
const (
	Info    = Severity(notifyv1.Severity_SEVERITY_INFO)
	Success = Severity(notifyv1.Severity_SEVERITY_SUCCESS)
	Warning = Severity(notifyv1.Severity_SEVERITY_WARNING)
	Error   = Severity(notifyv1.Severity_SEVERITY_ERROR)
)

// String is the severity in lower case.
func (s Severity) String() string {
	switch s {
	case Success:
		return "success"
	case Warning:
		return "warning"
	case Error:
		return "error"
	}
	return "info"
}

// Text is one block of text. Markdown (CommonMark) and HTML (a fragment without scripts and remote content) are optional
// renderings of Plain.
type Text struct{ Plain, Markdown, HTML string }

// Link leads to more. URL is absolute, http or https.
type Link struct{ Label, URL string }

// Notification is what is delivered.
type Notification struct {
	// ID stays the same when the host tries again: hand it on wherever a receiver can tell a repetition by it. 1 to
	// MaxID of A-Z, a-z, 0-9, dot, underscore and hyphen.
	ID string
	// Kind names the event, such as "search.key_invalid"; Version is that of its payload, from 1.
	Kind    string
	Version int
	// SentAt is when the host made the notification; it stays the same when the host tries again.
	SentAt   time.Time
	Severity Severity
	// Title is one line; Summary and Detail may be empty.
	Title, Summary, Detail Text
	Links                  []Link
	// Payload is one JSON value for machines, or empty.
	Payload []byte
	// Image is a PNG for people, or empty.
	Image []byte
}

// Target is the recipient of one call. The zero value means that of the instance's configuration, which goes before what
// a target says.
type Target struct {
	// JSON is an object of the channel's own form, or empty.
	JSON   []byte
	Secret schema.Secret
}

// Empty reports whether the call names no recipient.
func (t Target) Empty() bool { return len(t.JSON) == 0 && t.Secret == "" }

// Part is a part of a notification.
type Part int32

// The parts, in the words of the .proto file.
const (
	PartTitle   = Part(notifyv1.Part_PART_TITLE)
	PartSummary = Part(notifyv1.Part_PART_SUMMARY)
	PartDetail  = Part(notifyv1.Part_PART_DETAIL)
	PartLinks   = Part(notifyv1.Part_PART_LINKS)
	PartPayload = Part(notifyv1.Part_PART_PAYLOAD)
	PartImage   = Part(notifyv1.Part_PART_IMAGE)
)

// Receipt tells what went out.
type Receipt struct {
	// MessageIDs are the other side's names for what was sent, in order.
	MessageIDs []string
	// Delivered are the parts that went out; those that the channel cannot carry are missing.
	Delivered []Part
	// Warnings are for the operator: what was shortened or left out, and why. They hold no secret.
	Warnings []string
}

// TextParts are the parts that a text of title, summary, detail and links carries: those of them that n has.
func (n *Notification) TextParts() []Part {
	out := []Part{PartTitle}
	if n.Summary != (Text{}) {
		out = append(out, PartSummary)
	}
	if n.Detail != (Text{}) {
		out = append(out, PartDetail)
	}
	if len(n.Links) > 0 {
		out = append(out, PartLinks)
	}
	return out
}

// Definition declares a notify plugin whose config block is a C.
type Definition[C any] struct {
	// Image, Markdown, HTML, PerUserTarget and Idempotent are the capabilities of the same names. What New returns
	// implements TargetValidator if PerUserTarget is set.
	Image, Markdown, HTML, PerUserTarget, Idempotent bool
	// MaxTextBytes bounds title, summary and detail together; 0 means no bound of the channel's own.
	MaxTextBytes int64
	// MaxPayloadBytes bounds Notification.Payload; 0 means no bound of the channel's own. The host shortens the payload.
	MaxPayloadBytes int64
	// TargetSchema is a JSON Schema (2020-12) of Target.JSON; only with PerUserTarget.
	TargetSchema string
	// Role is the part that the channel can play for a host which keeps the recipient, or empty; only with PerUserTarget.
	Role string
	// Build checks a configuration and returns what makes the channel. It is pure: no network, no files written. Both
	// Validate and Configure call it.
	Build func(inst Instance, cfg C) (Open, schema.Diagnostics)
}

// Open makes a channel ready for calls. A channel that is an io.Closer is closed when its instance is removed.
type Open func(ctx context.Context) (Channel, error)
