package search

import (
	"context"
	"fmt"
	"io"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

// answer is what the client gets. Exactly one of reply and stream is set.
type answer struct {
	head   sdk.Head
	reply  *sdk.Reply
	stream client.SearchStream
	// cached says that it was kept from an earlier call; policy, that the token has a policy for the call.
	cached, policy bool
	// finish ends the audit of a streamed answer.
	finish func(written int, err error)
}

func (a *answer) body() []byte {
	if a.reply == nil {
		return nil
	}
	return a.reply.Body
}

func (a *answer) discard() {
	a.reply.Release()
	if a.stream != nil {
		a.stream.Close()
	}
}

// ofKey is what an answer says about its key: what the backend made of it, else what a status says that is about keys
// alone and that no client may see.
func ofKey(h *sdk.Head) sdk.KeyVerdict {
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

// sound refuses an answer that cannot be passed on, and drops an id that nobody could ask for.
func sound(h *sdk.Head) error {
	if h.Status < 200 || h.Status > 599 {
		return fault.New(fault.UpstreamUnavailable, "The search backend gave an unusable answer.")
	}
	if !plainID(h.ResourceID) {
		h.ResourceID = ""
	}
	return nil
}

// copyStream passes a streamed answer on, chunk by chunk. When the client has gone the rest is read all the same, so that
// the cost of the answer is known.
func copyStream(st client.SearchStream, write func([]byte) error) (written int, err error) {
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

// charged returns the credits of an answer: what the upstream says, else the price of a success. An answer that broke
// off costs its price too, since the upstream has worked for it.
func charged(ans *answer, price int64) int64 {
	usage := ans.head.Usage
	if ans.stream != nil {
		usage = ans.stream.Usage()
	}
	switch {
	case usage != nil:
		return min(max(usage.Credits, 0), maxCount)
	case ans.head.Status < 300:
		return price
	}
	return 0
}

// boundStream frees its deadline when it is closed.
type boundStream struct {
	client.SearchStream
	cancel context.CancelFunc
}

func (b *boundStream) Close() {
	b.SearchStream.Close()
	b.cancel()
}
