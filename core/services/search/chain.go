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

// keyGroup is the group of the upstream keys that serve this backend alone.
func (l *link) keyGroup() string {
	_, name, _ := strings.Cut(l.ref, ".")
	return name
}

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

// chained makes the links of a chain. Refs and backends are in the same order.
func chained(refs []string, backends []client.Search) ([]*link, error) {
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

// offered are the operations of a chain: each as the first backend that has it describes it, with the members of a body
// that any of them looks at.
func offered(chain []*link) map[string]operation {
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

// route is which backends may answer an operation, in the order in which they are tried: as a whole, and as a stream.
type route struct{ whole, streamed []*link }

func routes(chain []*link) map[string]route {
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

// candidates are the backends that may answer a call. There is at least one where the operation is offered.
func (st *state) candidates(c *call) []*link {
	if c.in.stream {
		return st.routes[c.op.Name].streamed
	}
	return st.routes[c.op.Name].whole
}

// keyed is the first backend that needs credentials, or nil: the one that a key may be shown to.
func (st *state) keyed() *link {
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

// passesOn tells whether the next backend may be tried after an error. once says that the operation begins something, so
// that it must be certain that this backend has not begun it.
func passesOn(err error, once bool) bool {
	switch {
	case errors.Is(err, errNoKey), errors.Is(err, errBusy):
		return true
	case once:
		return unsent(err)
	}
	code := fault.CodeOf(err)
	return code == fault.UpstreamUnavailable || code == fault.PluginUnavailable || code == fault.AnswerTooLarge
}

// unsent reports whether an error says that nothing reached the upstream.
func unsent(err error) bool {
	if errors.Is(err, exchange.ErrUnsent) {
		return true
	}
	switch errs.From(err).Reason {
	case errs.ReasonConnect, errs.ReasonUnknownInstance:
		return true
	}
	// Without a cause it was made before there was a call: the process is not there.
	e := fault.As(err)
	return e.Code == fault.PluginUnavailable && e.Unwrap() == nil
}

// isOutcomeUnknown reports whether an error leaves open what the upstream did: the request may have reached it, and
// nobody saw the end. Such a call is charged as it was reserved.
func isOutcomeUnknown(err error) bool {
	if err == nil || errors.Is(err, errNoKey) || errors.Is(err, errBusy) || unsent(err) {
		return false
	}
	e := errs.From(err)
	switch e.Reason {
	case errs.ReasonTimeout, errs.ReasonLost, errs.ReasonPanic:
		return true
	}
	// A plugin that ended in the middle of the call leaves the bare status of its connection.
	return errors.Is(err, context.Canceled) || e.Code == codes.DeadlineExceeded || e.Code == codes.Canceled || e.Reason == codes.Unavailable.String()
}
