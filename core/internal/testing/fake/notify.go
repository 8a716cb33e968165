package fake

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/sdk/notify"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Notifier is a double of client.Notifier. It is safe for concurrent use.
type Notifier struct {
	mu         sync.Mutex
	descriptor *notify.Descriptor
	errors     []error
	validate   func(notify.Target) schema.Diagnostics
	configured map[string]string
	sent       []Sent
}

var _ client.Notifier = (*Notifier)(nil)

// Sent is one call of Send, also one that failed.
type Sent struct {
	Notification notify.Notification
	Target       notify.Target
	Err          error
}

// NewNotifier makes a double with a descriptor. It delivers title and payload.
func NewNotifier(d notify.Descriptor) *Notifier { return &Notifier{descriptor: &d} }

// Fail appends what the next calls of Send end with, one each; nil delivers. After them all are delivered.
func (n *Notifier) Fail(errs ...error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.errors = append(n.errors, errs...)
}

// OnValidate sets what ValidateTarget answers.
func (n *Notifier) OnValidate(f func(notify.Target) schema.Diagnostics) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.validate = f
}

// Sent are the calls of Send so far, in order.
func (n *Notifier) Sent() []Sent {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.sent)
}

// Describe implements client.Notifier.
func (n *Notifier) Describe() (*notify.Descriptor, error) { return n.descriptor, nil }

// Send implements client.Notifier.
func (n *Notifier) Send(ctx context.Context, msg *notify.Notification, to notify.Target) (*notify.Receipt, error) {
	if ctx.Err() != nil {
		return nil, fault.FromPlugin("notify.fake", ctx.Err())
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	var err error
	if len(n.errors) > 0 {
		err, n.errors = n.errors[0], n.errors[1:]
	}
	n.sent = append(n.sent, Sent{Notification: *msg, Target: to, Err: err})
	if err != nil {
		return nil, err
	}
	return &notify.Receipt{MessageIDs: []string{msg.ID}, Delivered: []notify.Part{notify.PartTitle, notify.PartPayload}}, nil
}

// ValidateTarget implements client.Notifier. Without OnValidate every target is good.
func (n *Notifier) ValidateTarget(_ context.Context, to notify.Target) (schema.Diagnostics, error) {
	n.mu.Lock()
	f := n.validate
	n.mu.Unlock()
	if f == nil {
		return nil, nil
	}
	return f(to), nil
}

// Configure sets what Configured answers.
func (n *Notifier) Configure(attributes map[string]string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.configured = attributes
}

// Configured implements client.Notifier.
func (n *Notifier) Configured() (map[string]string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return maps.Clone(n.configured), nil
}
