package catalog

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"google.golang.org/grpc"

	"github.com/patchbay-dev/patchbay/core/plugin/host"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
)

// ErrRetired is returned by Acquire on a handle whose instance is no longer part of the configuration. The caller gets a
// new handle from the catalog.
var ErrRetired = errors.New("the instance was taken out of the configuration")

// Instance is one configured instance in one process. It is in use between Acquire and release.
type Instance struct {
	Desired
	// ID is the instance's id in the plugin.
	ID string
	// About is the plugin's description of the kind.
	About *pluginv1.Kind

	process *host.Process
	calls   sync.WaitGroup
	slots   chan struct{}

	mu        sync.Mutex
	retired   bool
	link      *host.Link
	client    io.Closer
	condition Condition
}

// Process returns the process that serves the instance.
func (in *Instance) Process() *host.Process { return in.process }

// beginCall counts one more call, unless the instance was retired.
func (in *Instance) beginCall() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.retired {
		return false
	}
	in.calls.Add(1)
	return true
}

// defaultSlots is the number of calls at once where the configuration has none.
const defaultSlots = 128

func newInstance(d Desired, about *pluginv1.Kind, p *host.Process) *Instance {
	n := d.Concurrency
	if n <= 0 {
		n = defaultSlots
	}
	return &Instance{Desired: d, ID: newID(d), About: about, process: p, slots: make(chan struct{}, n)}
}

// Slot waits until one more call may be made, and returns the function that ends it. Calls over pooled streams, which are
// bounded by the pool, need none. The error is that of ctx.
func (in *Instance) Slot(ctx context.Context) (leave func(), err error) {
	select {
	case in.slots <- struct{}{}:
		return func() { <-in.slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Client returns the typed client of the instance, made by build for each start of the process. The error is a
// fault.PluginUnavailable.
func (in *Instance) Client(build func(conn grpc.ClientConnInterface, instance string) io.Closer) (io.Closer, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	l, err := in.process.Link()
	if err != nil {
		return nil, err
	}
	if in.link != l {
		if in.client != nil {
			_ = in.client.Close()
		}
		in.link, in.client = l, build(l.Conn, in.ID)
	}
	return in.client, nil
}

// retireAfterCalls refuses new calls, waits for those under way for at most drain, and removes the instance from its
// process.
func (in *Instance) retireAfterCalls(drain time.Duration) {
	in.mu.Lock()
	in.retired = true
	in.mu.Unlock()
	idle := make(chan struct{})
	go func() {
		in.calls.Wait()
		close(idle)
	}()
	select {
	case <-idle:
	case <-time.After(drain):
	}
	in.mu.Lock()
	if in.client != nil {
		_ = in.client.Close()
	}
	in.mu.Unlock()
	in.removeFromProcess(context.Background(), drain)
	in.process.Release()
}

// removeFromProcess closes the instance in its process and waits for that for at most drain.
func (in *Instance) removeFromProcess(ctx context.Context, drain time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, drain)
	defer cancel()
	_ = in.process.Remove(ctx, in.ID)
}

// Handle stands for an instance by its name, such as search.docs, across reloads.
type Handle struct {
	ref string

	mu      sync.RWMutex
	current *Instance
	// opening is closed when an exclusive instance has been replaced. It is nil unless one is being replaced.
	opening chan struct{}
}

// Ref returns the kind and the name of the instance, joined by a dot.
func (h *Handle) Ref() string { return h.ref }

// Acquire returns the instance for one call and the function that ends the call. It waits while an exclusive instance is
// being replaced.
func (h *Handle) Acquire(ctx context.Context) (*Instance, func(), error) {
	for {
		h.mu.RLock()
		in, opening := h.current, h.opening
		h.mu.RUnlock()
		switch {
		case opening != nil:
			select {
			case <-opening:
			case <-ctx.Done():
				return nil, nil, ctx.Err()
			}
		case in == nil:
			return nil, nil, ErrRetired
		case in.beginCall():
			return in, in.calls.Done, nil
		}
	}
}

// Current returns the instance of the handle, or nil.
func (h *Handle) Current() *Instance {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.current
}

// replaceInstance makes in the instance of the handle, releases the calls that wait, and returns the former instance.
func (h *Handle) replaceInstance(in *Instance) (old *Instance) {
	h.mu.Lock()
	defer h.mu.Unlock()
	old, h.current = h.current, in
	if h.opening != nil {
		close(h.opening)
		h.opening = nil
	}
	return old
}

// holdCalls makes Acquire wait until replaceInstance.
func (h *Handle) holdCalls() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.opening = make(chan struct{})
}
