// Package search is what the author of a search backend implements, and what a caller of one uses.
//
// A backend answers operations over whole JSON bodies and passes its upstream's answer through untouched. Key pool,
// quota, retries and audit are the host's.
package search

import (
	"context"
	"time"

	"github.com/patchbay-dev/patchbay/sdk/framework"
	searchv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/search/v1"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Instance is what the host tells about a configured instance.
type Instance = framework.Instance

// Kind is the word for this kind in plugin.hcl; Service is its gRPC service.
const (
	Kind    = "search"
	Service = "patchbay.search.v1.Search"
)

// Capabilities of a backend.
const (
	// CapStream: the backend implements Streamer.
	CapStream = "STREAM"
	// CapKeyStatus: the backend implements KeyChecker.
	CapKeyStatus = "KEY_STATUS"
	// CapIndex: the backend implements Indexer.
	CapIndex = "INDEX"
	// CapExchange: Invoke is also offered over pooled streams. The SDK adds it by itself.
	CapExchange = "EXCHANGE"
	// CapDataDir and CapExclusive: see Definition.
	CapDataDir   = framework.CapDataDir
	CapExclusive = framework.CapExclusive
)

// Operations that the host knows.
const (
	OpSearch         = "search"
	OpExtract        = "extract"
	OpCrawl          = "crawl"
	OpMap            = "map"
	OpResearch       = "research"
	OpResearchResult = "research_result"
)

// MaxBody is the largest answer that Invoke may return, in bytes.
const MaxBody = 15 << 20

// Backend performs operations.
type Backend interface {
	// Invoke performs one operation. An answer of the upstream, also an error status, is a Response; an error
	// (package errs) means that there was no usable answer.
	Invoke(ctx context.Context, req *Request) (*Response, error)
}

// Streamer is a backend that can answer with server-sent events.
type Streamer interface {
	// Stream performs one operation: it calls Start once, then Write for each chunk. It returns the credits that became
	// known at the end, or nil.
	Stream(ctx context.Context, req *Request, w StreamWriter) (*Usage, error)
}

// StreamWriter takes a streamed answer. Start comes first; Write keeps no reference to p.
type StreamWriter interface {
	Start(head *Head) error
	Write(p []byte) (int, error)
}

// KeyChecker is a backend whose upstream reports on a credential.
type KeyChecker interface {
	KeyStatus(ctx context.Context, credential schema.Secret) (*KeyStatus, error)
}

// Request is one call. Body is the client's JSON without its token. It is valid until Invoke or Stream returns, and the
// backend must not change it in place.
type Request struct {
	Operation  string
	ResourceID string
	Query      string
	Body       []byte
	Credential schema.Secret
	RequestID  string
	// Timeout is for the caller's side: it bounds the call and does not cross the wire, where the deadline does. 0 leaves
	// it to the context.
	Timeout time.Duration
}

// Response is the upstream's answer. Body must not be changed once it is returned.
type Response struct {
	Head
	Body []byte
}

// Head is what the host must know of an answer besides its bytes.
type Head struct {
	// Status is the upstream's HTTP status; a backend without an upstream uses the same codes.
	Status      int
	ContentType string
	// RetryAfter is the header's raw value, or empty.
	RetryAfter string
	// Usage is what the upstream charged; nil where it did not say.
	Usage *Usage
	// Key is what the answer says about the credential.
	Key KeyVerdict
	// ResourceID is the id under which OpResearchResult will ask for the result.
	ResourceID string
	// Upstream is the time that the upstream took.
	Upstream time.Duration
}

// Usage counts credits.
type Usage struct{ Credits int64 }

// KeyState is what an answer says about the credential.
type KeyState int32

// The states, in the words of the .proto file.
const (
	KeyUnknown     = KeyState(searchv1.KeyState_KEY_STATE_UNSPECIFIED)
	KeyOK          = KeyState(searchv1.KeyState_KEY_STATE_OK)
	KeyInvalid     = KeyState(searchv1.KeyState_KEY_STATE_INVALID)
	KeyRateLimited = KeyState(searchv1.KeyState_KEY_STATE_RATE_LIMITED)
	KeyExhausted   = KeyState(searchv1.KeyState_KEY_STATE_EXHAUSTED)
)

// KeyVerdict is a KeyState with the time and the reason that the upstream gave.
type KeyVerdict struct {
	State      KeyState
	RetryAfter time.Duration
	Reason     string
}

// KeyStatus is an upstream's report on a credential. Limit 0 means unknown; ResetsAt may be zero.
type KeyStatus struct {
	Key      KeyVerdict
	Plan     string
	Used     int64
	Limit    int64
	ResetsAt time.Time
}

// Operation describes one thing that a backend can do.
type Operation struct {
	Name        string
	Title       string
	Description string
	// InputSchema is a JSON Schema (2020-12) of the body.
	InputSchema string
	Price       []PriceTerm
	// Stream: answers with events when the body's "stream" member is true.
	Stream bool
	// Required are members without which the host refuses the call.
	Required []string
	// Timeout bounds one call; 0 leaves it to the host.
	Timeout time.Duration
	// Tool is the name that MCP clients see; empty hides the operation.
	Tool string
}

// PriceTerm is ceil(count/unit)*rate credits, see the .proto file.
type PriceTerm struct {
	CountField   string
	DefaultCount int64
	Unit         int64
	Rate         int64
	Cases        []PriceCase
}

// PriceCase replaces a term's rate if the member Field equals the string Equals, or, with Equals empty, is there at
// all.
type PriceCase struct {
	Field  string
	Equals string
	Rate   int64
}

// Definition declares a search plugin whose config block is a C.
type Definition[C any] struct {
	// Credential reports whether calls carry a key of the host's pool.
	Credential bool
	Operations []Operation
	// Stream, KeyStatus and Index tell whether what New returns implements Streamer, KeyChecker and Indexer.
	Stream    bool
	KeyStatus bool
	Index     bool
	// DataDir: an instance needs a directory of its own. Exclusive: two instances may not have it open at once, so that
	// a reload closes the old one before it opens the new one.
	DataDir   bool
	Exclusive bool
	// Build checks a configuration and returns what makes the backend. It is pure: no network, no files written. Both
	// Validate and Configure call it.
	Build func(inst Instance, cfg C) (Open, schema.Diagnostics)
}

// Open makes a backend ready for calls. A backend that is an io.Closer is closed when its instance is removed.
type Open func(ctx context.Context) (Backend, error)
