package tavily

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

const (
	// streamIdle is how long a stream may be silent; the API's quiet phases last up to five minutes.
	streamIdle  = 330 * time.Second
	streamChunk = 32 << 10
)

// Stream implements search.Streamer: events are passed on as they arrive. An answer that is no event stream, such as
// an error, is passed on whole.
func (b *backend) Stream(ctx context.Context, req *search.Request, w search.StreamWriter) (*search.Usage, error) {
	if req.Operation != search.OpResearch {
		return nil, errs.New(errs.Host, codes.Unimplemented, errs.ReasonUnsupported, "operation %q does not stream", req.Operation)
	}
	out, err := b.newOutgoing(req.Credential, http.MethodPost, b.endpoints[search.OpResearch], req.Body, typeEvents)
	if err != nil {
		return nil, err
	}
	s, err := b.client.Stream(ctx, out, streamIdle)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if isSuccess(s.Status) && mediaType(s.Header.Get("Content-Type")) == typeEvents {
		head := b.newHead(s.Status, s.Header, nil, s.Took)
		if err := w.Start(&head); err != nil {
			return nil, err
		}
		return nil, passChunks(s, w)
	}
	return nil, b.readWhole(s, w)
}

// passChunks hands on each chunk as soon as it is there.
func passChunks(s *httpx.Stream, w search.StreamWriter) error {
	buf := make([]byte, streamChunk)
	for {
		n, err := s.Read(buf)
		if n > 0 {
			if _, werr := w.Write(buf[:n]); werr != nil {
				return werr
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (b *backend) readWhole(s *httpx.Stream, w search.StreamWriter) error {
	body, err := s.ReadAll()
	if err != nil {
		return err
	}
	head := b.newHead(s.Status, s.Header, body, s.Took)
	if err := checkHead(head, typeEvents, typeJSON); err != nil {
		return err
	}
	if isSuccess(head.Status) {
		if head.ResourceID, err = requestID(body); err != nil {
			return errs.Unavailable(errs.ReasonProtocol, "read answer to research: %v", err)
		}
	}
	if err := w.Start(&head); err != nil {
		return err
	}
	_, err = w.Write(body)
	return err
}
