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
	// Describe tells what the channel can do.
	Describe() (*notify.Descriptor, error)
	// Send delivers n. notify.OutcomeOf tells from the error what became of n, and the fault when to try again: the
	// channel itself never does.
	Send(ctx context.Context, n *notify.Notification, to notify.Target) (*notify.Receipt, error)
	// ValidateTarget checks a recipient and sends nothing.
	ValidateTarget(ctx context.Context, to notify.Target) (schema.Diagnostics, error)
	// Configured are the attributes that the configuration sets to something, with their values where those are texts and
	// no secrets.
	Configured() (map[string]string, error)
}

type notifyFacade struct {
	handle  *catalog.Handle
	observe Observer
}

// NewNotifier makes the facade for a handle. observe may be nil; it hears of each Send, as the operation "send".
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

// use makes one call: it finds the instance and its client, and bounds how many calls there are and how long they take.
// An error before the call says that nothing was sent.
func (n *notifyFacade) use(ctx context.Context, call func(context.Context, *notify.Client) error) error {
	in, release, err := n.handle.Acquire(ctx)
	if err != nil {
		return unsent(ctx, err)
	}
	defer release()
	c, err := in.Client(func(conn grpc.ClientConnInterface, id string) io.Closer { return notify.NewClient(conn, id) })
	if err != nil {
		return unsent(ctx, err)
	}
	ctx, cancel := bound(ctx, in, 0)
	defer cancel()
	leave, err := in.Slot(ctx)
	if err != nil {
		return unsent(ctx, err)
	}
	defer leave()
	if err := call(ctx, c.(*notify.Client)); err != nil {
		return callFault(ctx, err)
	}
	return nil
}

// unsent is the fault of a call that never reached the plugin: it may be made again.
func unsent(ctx context.Context, err error) error {
	out := fault.New(fault.PluginUnavailable, "The provider that sends this is not available.")
	var f *fault.Error
	if err = callFault(ctx, err); errors.As(err, &f) {
		out = f
	}
	cause := errors.Join(notify.Temporary(out.RetryAfter, "NOT_SENT", "nothing was sent: %s", strings.TrimSuffix(out.Message, ".")), err)
	return fault.Wrap(cause, out.Code, "%s", out.Message).WithRetryAfter(out.RetryAfter)
}

func (n *notifyFacade) Send(ctx context.Context, msg *notify.Notification, to notify.Target) (receipt *notify.Receipt, err error) {
	began := time.Now()
	err = n.use(ctx, func(ctx context.Context, c *notify.Client) (err error) {
		receipt, err = c.Send(ctx, msg, to)
		return err
	})
	n.observe(n.handle.Ref(), "send", time.Since(began), 0, err)
	return receipt, err
}

func (n *notifyFacade) ValidateTarget(ctx context.Context, to notify.Target) (ds schema.Diagnostics, err error) {
	err = n.use(ctx, func(ctx context.Context, c *notify.Client) (err error) {
		ds, err = c.ValidateTarget(ctx, to)
		return err
	})
	return ds, err
}
