package proxy

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

// OpSearch is the operation that every search backend has.
const OpSearch = sdk.OpSearch

// Operation is what clients may ask for, as a backend describes it.
type Operation struct {
	Name, Title, Description string
	// InputSchema is a JSON Schema of the body; Required are members without which a call is refused.
	InputSchema string
	Required    []string
}

// Operations are what clients may ask for, without research results; sorted by name.
func (p *Proxy) Operations() []Operation {
	var out []Operation
	for name, op := range p.state.Load().Operations {
		if name != sdk.OpResearchResult {
			out = append(out, Operation{op.Name, op.Title, op.Description, op.InputSchema, op.Required})
		}
	}
	slices.SortFunc(out, func(a, b Operation) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Trial is a call that somebody makes from a page, in the name of a token: it counts and costs as any other.
type Trial struct {
	TokenID, Operation string
	// Body is a JSON object.
	Body []byte
	// RequestID and Client are those of the page's request.
	RequestID, Client string
}

// TrialAnswer is what the proxy would have answered.
type TrialAnswer struct {
	Status      int
	ContentType string
	Body        []byte
	Took        time.Duration
	Cached      bool
}

// Try makes a call from a page. Errors are those of the proxy.
func (p *Proxy) Try(ctx context.Context, t Trial) (TrialAnswer, error) {
	st := p.state.Load()
	tok := p.tokens.Get(t.TokenID)
	if tok == nil || !p.tokens.Usable(tok) {
		return TrialAnswer{}, fault.New(fault.NotFound, "There is no such access token, or it cannot be used.")
	}
	op, known := st.Operations[t.Operation]
	if !known {
		return TrialAnswer{}, fault.New(fault.NotFound, "The search backend does not offer %s.", t.Operation)
	}
	in, err := ParseInput(bytes.Clone(t.Body), op.Want)
	if err != nil {
		return TrialAnswer{}, err
	}
	if err := in.Validate(op.Operation, "", in.Token); err != nil {
		return TrialAnswer{}, err
	}
	if in.Stream {
		return TrialAnswer{}, fault.InvalidField("stream", "The playground cannot stream: leave stream out.")
	}
	began := time.Now()
	ans, err := p.Perform(ctx, st, &Call{Token: tok, Op: op, In: in, RequestID: t.RequestID, Client: t.Client, Size: len(t.Body)})
	if err != nil {
		return TrialAnswer{}, err
	}
	defer ans.discardStream()
	return TrialAnswer{ans.Head.Status, ans.Head.ContentType, bytes.Clone(ans.Body()), time.Since(began), ans.Cached}, nil
}

// OperationNames returns the names of all operations that some backend offers, sorted.
func (p *Proxy) OperationNames() []string {
	names := slices.Sorted(maps.Keys(p.state.Load().Operations))
	if names == nil {
		names = []string{}
	}
	return names
}
