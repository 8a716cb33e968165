package proxy

import (
	"context"
	"fmt"
	"io"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

// Answer is what the client gets. Exactly one of reply and stream is set.
type Answer struct {
	Head   sdk.Head
	Reply  *sdk.Reply
	Stream client.SearchStream
	// Cached says that it was kept from an earlier call; policy, that the token has a policy for the call.
	Cached, CachePolicy bool
	// Finish ends the audit of a streamed answer.
	Finish func(written int, err error)
}

// Body returns the body of a whole answer. It is nil for a stream.
func (a *Answer) Body() []byte {
	if a.Reply == nil {
		return nil
	}
	return a.Reply.Body
}

// discardStream releases the memory of the answer and closes its stream.
func (a *Answer) discardStream() {
	a.Reply.Release()
	if a.Stream != nil {
		a.Stream.Close()
	}
}

// newKeyVerdict returns what an answer says about its upstream key: the backend's verdict, else the meaning of a
// status that concerns keys alone and that no client may see.
func newKeyVerdict(h *sdk.Head) sdk.KeyVerdict {
	switch h.Key.State {
	case sdk.KeyInvalid, sdk.KeyRateLimited, sdk.KeyExhausted:
		return h.Key
	}
	switch h.Status {
	case 401, 429:
		return sdk.KeyVerdict{State: sdk.KeyRateLimited, RetryAfter: h.Key.RetryAfter, Reason: fmt.Sprintf("status %d", h.Status)}
	case 432, 433:
		return sdk.KeyVerdict{State: sdk.KeyExhausted, Reason: fmt.Sprintf("status %d", h.Status)}
	}
	return sdk.KeyVerdict{}
}

// validateHead returns an error for an answer that cannot be passed on. It clears a research id that no client could
// ask for.
func validateHead(h *sdk.Head) error {
	if h.Status < 200 || h.Status > 599 {
		return fault.New(fault.UpstreamUnavailable, "The search backend gave an unusable answer.")
	}
	if !plainID(h.ResourceID) {
		h.ResourceID = ""
	}
	return nil
}

// CopyStream passes a streamed answer to write, chunk by chunk. After the client has gone it reads the rest all the
// same, so that the cost of the answer is known.
func CopyStream(st client.SearchStream, write func([]byte) error) (written int, err error) {
	var gone error
	for {
		p, err := st.Next()
		if err == io.EOF {
			return written, gone
		}
		if err != nil {
			return written, err
		}
		if gone != nil {
			continue
		}
		written += len(p)
		if err := write(p); err != nil {
			gone = fault.Wrap(err, fault.ClientClosedRequest, "The client closed the connection.")
		}
	}
}

// chargedCredits returns the credits of an answer: the usage that the upstream states, else the price for a success.
// A stream that broke off costs its price too, since the upstream has worked for it.
func chargedCredits(ans *Answer, price int64) int64 {
	usage := ans.Head.Usage
	if ans.Stream != nil {
		usage = ans.Stream.Usage()
	}
	switch {
	case usage != nil:
		return min(max(usage.Credits, 0), maxCount)
	case ans.Head.Status < 300:
		return price
	}
	return 0
}

// boundStream releases the deadline of its context when it is closed.
type boundStream struct {
	client.SearchStream
	cancel context.CancelFunc
}

func (b *boundStream) Close() {
	b.SearchStream.Close()
	b.cancel()
}
