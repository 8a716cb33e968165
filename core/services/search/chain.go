package search

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/exchange"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

// link is one backend of the chain.
type link struct {
	// ref is its name, such as search.docs.
	ref        string
	search     client.Search
	credential bool
	operations map[string]operation
	desc       *sdk.Descriptor
}

// keyGroup returns the name of the group of upstream keys that serve this backend alone.
func (l *link) keyGroup() string {
	_, name, _ := strings.Cut(l.ref, ".")
	return name
}

// newLink returns the link of a backend with the operations that it describes.
func newLink(ref string, backend client.Search) (*link, error) {
	desc, err := backend.Describe()
	if err != nil {
		return nil, fmt.Errorf("describe the search backend %s: %w", ref, err)
	}
	l := &link{ref: ref, search: backend, credential: desc.Credential, operations: map[string]operation{}, desc: desc}
	for _, op := range desc.Operations {
		l.operations[op.Name] = newOperation(op)
	}
	return l, nil
}

// newChain returns the links of a chain. refs and backends must have the same order and length.
func newChain(refs []string, backends []client.Search) ([]*link, error) {
	if len(refs) == 0 || len(refs) != len(backends) {
		return nil, fmt.Errorf("the chain names %d backends and there are %d", len(refs), len(backends))
	}
	var chain []*link
	for i, ref := range refs {
		l, err := newLink(ref, backends[i])
		if err != nil {
			return nil, err
		}
		chain = append(chain, l)
	}
	return chain, nil
}

// mergeOperations returns the operations of a chain by name. Each is described as the first backend that offers it
// does, and wants the members of a body that any of them reads.
func mergeOperations(chain []*link) map[string]operation {
	out := map[string]operation{}
	for _, l := range chain {
		for name, op := range l.operations {
			first, known := out[name]
			if !known {
				op.want = maps.Clone(op.want)
				out[name] = op
				continue
			}
			maps.Copy(first.want, op.want)
			first.Stream = first.Stream || op.Stream
			out[name] = first
		}
	}
	return out
}

// route lists the backends that may answer an operation, in the order in which they are tried: for whole answers, and
// for streamed ones.
type route struct{ whole, streamed []*link }

// routesByOperation returns the routes of a chain by the name of the operation.
func routesByOperation(chain []*link) map[string]route {
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
func (st *state) candidatesFor(c *call) []*link {
	if c.in.stream {
		return st.routes[c.op.Name].streamed
	}
	return st.routes[c.op.Name].whole
}

// firstCredentialed returns the first backend that needs upstream keys, or nil.
func (st *state) firstCredentialed() *link {
	if i := slices.IndexFunc(st.chain, func(l *link) bool { return l.credential }); i >= 0 {
		return st.chain[i]
	}
	return nil
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
	return errors.Is(err, context.Canceled) || e.Code == codes.DeadlineExceeded || e.Code == codes.Canceled || e.Reason == codes.Unavailable.String()
}
