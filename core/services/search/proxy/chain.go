package proxy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/lists"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/exchange"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

// chainedBackend is one backend of the chain.
type chainedBackend struct {
	// ref is its name, such as search.docs.
	ref        string
	search     client.Search
	credential bool
	operations map[string]Operation2
	desc       *sdk.Descriptor
}

// keyGroup returns the name of the group of upstream keys that serve this backend alone.
func (l *chainedBackend) keyGroup() string {
	_, name, _ := strings.Cut(l.ref, ".")
	return name
}

// newChainedBackend returns the link of a backend with the operations that it describes.
func newChainedBackend(ref string, backend client.Search) (*chainedBackend, error) {
	desc, err := backend.Describe()
	if err != nil {
		return nil, fmt.Errorf("describe the search backend %s: %w", ref, err)
	}
	l := &chainedBackend{ref: ref, search: backend, credential: desc.Credential, operations: map[string]Operation2{}, desc: desc}
	for _, op := range desc.Operations {
		l.operations[op.Name] = newOperation(op)
	}
	return l, nil
}

// newChain returns the links of a chain. refs and backends must have the same order and length.
func newChain(refs []string, backends []client.Search) ([]*chainedBackend, error) {
	if len(refs) == 0 || len(refs) != len(backends) {
		return nil, fmt.Errorf("the chain names %d backends and there are %d", len(refs), len(backends))
	}
	var chain []*chainedBackend
	for i, ref := range refs {
		l, err := newChainedBackend(ref, backends[i])
		if err != nil {
			return nil, err
		}
		chain = append(chain, l)
	}
	return chain, nil
}

// mergeOperations returns the operations of a chain by name. Each is described as the first backend that offers it
// does, and wants the members of a body that any of them reads.
func mergeOperations(chain []*chainedBackend) map[string]Operation2 {
	out := map[string]Operation2{}
	for _, l := range chain {
		for name, op := range l.operations {
			first, known := out[name]
			if !known {
				op.Want = maps.Clone(op.Want)
				out[name] = op
				continue
			}
			maps.Copy(first.Want, op.Want)
			first.Stream = first.Stream || op.Stream
			out[name] = first
		}
	}
	return out
}

// route lists the backends that may answer an operation, in the order in which they are tried: for whole answers, and
// for streamed ones.
type route struct{ whole, streamed []*chainedBackend }

// routesByOperation returns the routes of a chain by the name of the operation.
func routesByOperation(chain []*chainedBackend) map[string]route {
	out := map[string]route{}
	for _, l := range chain {
		for name, op := range l.operations {
			r := out[name]
			r.whole = append(r.whole, l)
			if op.Stream {
				r.streamed = append(r.streamed, l)
			}
			out[name] = r
		}
	}
	return out
}

// candidatesFor returns the backends that may answer a call. There is at least one if the operation is offered.
func (st *State) candidatesFor(c *Call) []*chainedBackend {
	if c.In.Stream {
		return st.routes[c.Op.Name].streamed
	}
	return st.routes[c.Op.Name].whole
}

// firstCredentialed returns the first backend that needs upstream keys, or nil.
func (st *State) firstCredentialed() *chainedBackend {
	if i := slices.IndexFunc(st.chain, func(l *chainedBackend) bool { return l.credential }); i >= 0 {
		return st.chain[i]
	}
	return nil
}

// backendOfGroup returns the backend that keys of a group are for; nil if no backend needs keys.
func (st *State) backendOfGroup(group string) *chainedBackend {
	for _, l := range st.chain {
		if l.credential && l.keyGroup() == group {
			return l
		}
	}
	return st.firstCredentialed()
}

// State is what a reload replaces at once.
type State struct {
	settings Settings
	chain    []*chainedBackend
	// cache belongs to the chain: what other backends, or other settings of them, have answered is forgotten.
	cache      *cache
	Operations map[string]Operation2
	routes     map[string]route
}

// NewState returns the state for backends, in the order in which they are tried, and the names that the settings have
// for them.
func NewState(set Settings, refs []string, backends []client.Search) (*State, error) {
	chain, err := newChain(refs, backends)
	if err != nil {
		return nil, err
	}
	return &State{settings: set, chain: chain, Operations: mergeOperations(chain), routes: routesByOperation(chain),
		cache: newCache(maxCacheBytes)}, nil
}

// Operation returns an operation that some backend offers.
func (st *State) Operation(name string) (op Operation2, offered bool) {
	op, offered = st.Operations[name]
	return op, offered
}

// Descriptors returns what the backends say of themselves, in their order.
func (st *State) Descriptors() []*sdk.Descriptor {
	return lists.ConvertAll(st.chain, func(l *chainedBackend) *sdk.Descriptor { return l.desc })
}

// Use puts backends into use. Calls that are under way keep the old ones.
func (p *Proxy) Use(st *State) {
	groups := make([]string, 0, len(st.chain))
	for _, l := range st.chain {
		if l.credential {
			groups = append(groups, l.keyGroup())
		}
	}
	p.pool.BindGroups(groups)
	p.state.Store(st)
}

// State returns the backends in use.
func (p *Proxy) State() *State { return p.state.Load() }

// BackendOfGroup returns the backend that keys of a group are for; nil if no backend needs keys.
func (p *Proxy) BackendOfGroup(group string) client.Search {
	if l := p.state.Load().backendOfGroup(group); l != nil {
		return l.search
	}
	return nil
}

// Backend is a backend that calls may go to.
type Backend struct {
	// Ref is its name, such as search.docs.
	Ref string
	// KeyGroup is the group of upstream keys that serve it alone; empty if it needs no key.
	KeyGroup string
	// NeedsKey reports whether it is called with an upstream key.
	NeedsKey bool
}

// Chain returns the backends in use, in the order in which they are tried.
func (p *Proxy) Chain() []Backend {
	chain := p.state.Load().chain
	out := make([]Backend, len(chain))
	for i, l := range chain {
		out[i] = Backend{Ref: l.ref, NeedsKey: l.credential}
		if l.credential {
			out[i].KeyGroup = l.keyGroup()
		}
	}
	return out
}

// SumCalls returns the calls to a backend that ended within length before now, and how many of them failed.
func (p *Proxy) SumCalls(ref string, now time.Time, length time.Duration) (calls, failed int) {
	return p.calls.sumCalls(ref, now, length)
}

// Reasons for which a call may go to the next backend.
var (
	// errNoKey: no upstream key could be used, and nothing was taken by the upstream.
	errNoKey = errors.New("no usable upstream key")
	// errBusy: an upstream that needs no key takes no requests.
	errBusy = errors.New("the upstream takes no requests")
)

// allowsNextBackend reports whether the next backend may be tried after err. once says that the operation starts
// something, so that it must be certain that this backend has not started it.
func allowsNextBackend(err error, once bool) bool {
	switch {
	case errors.Is(err, errNoKey), errors.Is(err, errBusy):
		return true
	case once:
		return isUnsent(err)
	}
	code := fault.CodeOf(err)
	return code == fault.UpstreamUnavailable || code == fault.PluginUnavailable || code == fault.AnswerTooLarge || code == fault.NotReady
}

// isUnsent reports whether err says that nothing reached the upstream.
func isUnsent(err error) bool {
	if errors.Is(err, exchange.ErrUnsent) {
		return true
	}
	switch errs.From(err).Reason {
	case errs.ReasonConnect, errs.ReasonUnknownInstance, errs.ReasonNotReady:
		return true
	}
	// Without a cause it was made before there was a call: the process is not there.
	e := fault.As(err)
	return e.Code == fault.PluginUnavailable && e.Unwrap() == nil
}

// isOutcomeUnknown reports whether err leaves open what the upstream did: the request may have reached it, and its
// end was not seen, or its answer was too large to be read. Such a call is charged what it reserved.
func isOutcomeUnknown(err error) bool {
	if err == nil || errors.Is(err, errNoKey) || errors.Is(err, errBusy) || isUnsent(err) {
		return false
	}
	e := errs.From(err)
	switch e.Reason {
	case errs.ReasonTimeout, errs.ReasonLost, errs.ReasonPanic, errs.ReasonTooLarge:
		return true
	}
	// A plugin that ended in the middle of the call leaves the bare status of its connection.
	return errors.Is(err, context.Canceled) || e.Code == codes.DeadlineExceeded || e.Code == codes.Canceled ||
		e.Reason == codes.Unavailable.String()
}
