package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	"google.golang.org/grpc"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
	"github.com/patchbay-dev/patchbay/sdk/notify"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Notifier is a notification channel as services see it. Errors are faults; catalog.ErrRetired is in the chain if a
// reload took the instance away.
type Notifier interface {
	// Describe returns what the channel can do.
	Describe() (*notify.Descriptor, error)
	// Send delivers n once. notify.OutcomeOf returns what an error means for n; the fault says when to try again.
	Send(ctx context.Context, n *notify.Notification, to notify.Target) (*notify.Receipt, error)
	// ValidateTarget checks a recipient and sends nothing.
	ValidateTarget(ctx context.Context, to notify.Target) (schema.Diagnostics, error)
	// Configured returns the attributes that the configuration sets, with the values of those that are texts and not secret.
	Configured() (map[string]string, error)
}

type notifyFacade struct {
	handle  *catalog.Handle
	observe Observer
}

// NewNotifier makes the facade for a handle. observe may be nil. It is called for each Send with
// the operation "send".
func NewNotifier(h *catalog.Handle, observe Observer) Notifier {
	if observe == nil {
		observe = ignoreObservation
	}
	return &notifyFacade{handle: h, observe: observe}
}

func (n *notifyFacade) Describe() (*notify.Descriptor, error) {
	in := n.handle.Current()
	if in == nil {
		return nil, catalog.ErrRetired
	}
	return notify.ParseDescriptor(in.About)
}

func (n *notifyFacade) Configured() (map[string]string, error) {
	in := n.handle.Current()
	if in == nil {
		return nil, catalog.ErrRetired
	}
	var set map[string]any
	if len(in.JSON) > 0 {
		if err := json.Unmarshal(in.JSON, &set); err != nil {
			return nil, fault.Wrap(err, fault.Internal, "The configuration of the channel cannot be read.")
		}
	}
	out := map[string]string{}
	for _, a := range in.About.GetConfig().GetAttributes() {
		switch v := set[a.GetName()].(type) {
		case nil:
		case string:
			if v != "" && !a.GetSensitive() {
				out[a.GetName()] = v
			} else if v != "" {
				out[a.GetName()] = ""
			}
		case []any:
			if len(v) > 0 {
				out[a.GetName()] = ""
			}
		default:
			out[a.GetName()] = ""
		}
	}
	return out, nil
}

// callClient makes one call to the present instance, within its concurrency and timeout. An error before the call is an
// unsentFault.
func (n *notifyFacade) callClient(ctx context.Context, operation string, call func(context.Context, *notify.Client) error) (err error) {
	ctx, span := startSpan(ctx, n.handle.Ref(), operation)
	defer func() { endSpan(span, err) }()
	in, release, err := n.handle.Acquire(ctx)
	if err != nil {
		return unsentFault(ctx, n.handle.Ref(), err)
	}
	defer release()
	c, err := in.Client(func(conn grpc.ClientConnInterface, id string) io.Closer { return notify.NewClient(conn, id) })
	if err != nil {
		return unsentFault(ctx, n.handle.Ref(), err)
	}
	ctx, cancel := withCallTimeout(ctx, in, 0)
	defer cancel()
	leave, err := in.Slot(ctx)
	if err != nil {
		return unsentFault(ctx, n.handle.Ref(), err)
	}
	defer leave()
	if err := call(ctx, c.(*notify.Client)); err != nil {
		return callFault(ctx, n.handle.Ref(), err)
	}
	return nil
}

// unsentFault returns the fault of a call that did not reach the plugin of the instance ref, which may be made again.
func unsentFault(ctx context.Context, ref string, err error) error {
	out := fault.NotRunning(ref, err)
	var f *fault.Error
	if err = callFault(ctx, ref, err); errors.As(err, &f) {
		out = f
	}
	cause := errors.Join(notify.Temporary(out.RetryAfter, "NOT_SENT", "nothing was sent: %s", strings.TrimSuffix(out.Message, ".")), err)
	return fault.Wrap(cause, out.Code, "%s", out.Message).WithRetryAfter(out.RetryAfter)
}

func (n *notifyFacade) Send(ctx context.Context, msg *notify.Notification, to notify.Target) (receipt *notify.Receipt, err error) {
	began := time.Now()
	err = n.callClient(ctx, "send", func(ctx context.Context, c *notify.Client) (err error) {
		receipt, err = c.Send(ctx, msg, to)
		return err
	})
	n.observe(n.handle.Ref(), "send", time.Since(began), 0, err)
	return receipt, err
}

func (n *notifyFacade) ValidateTarget(ctx context.Context, to notify.Target) (ds schema.Diagnostics, err error) {
	err = n.callClient(ctx, "validatetarget", func(ctx context.Context, c *notify.Client) (err error) {
		ds, err = c.ValidateTarget(ctx, to)
		return err
	})
	return ds, err
}
