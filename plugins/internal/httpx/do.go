package httpx

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/tracing"
)

// Request is one request. Nothing is sent besides what stands here, the host name, the length and Config.UserAgent.
type Request struct {
	Method string
	// URL is absolute, or comes from Endpoint. It is not changed.
	URL *url.URL
	// Header is sent as it is and not changed; its keys are in canonical form.
	Header http.Header
	// Body is sent as it is. It must not be changed afterwards: net/http may still be sending it when the answer is there
	// or the call was given up.
	Body []byte
	// Own says that the operator has named the address elsewhere than in the client's configuration: its very host and port may be private.
	Own bool
}

// Response is an answer that was read completely.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
	// URL is where the answer came from, after redirects.
	URL *url.URL
	// Took is the time from sending to the last byte.
	Took time.Duration
}

// Do performs the request and reads the whole answer. Every status is an answer. The error is an *errs.Error: its reason is ReasonConnect
// if nothing was sent, ReasonTimeout, ReasonLost if the connection ended before the whole answer was there, ReasonTooLarge if the answer
// is larger than MaxBody, ReasonProtocol if it is not HTTP, ReasonRefused where the guard forbids the address, or ReasonCanceled if ctx
// was cancelled.
func (c *Client) Do(ctx context.Context, req *Request) (_ *Response, err error) {
	ctx, span := c.startSpan(ctx, req)
	defer func() { span.EndWith(err) }()
	if c.cfg.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.cfg.Timeout)
		defer cancel()
	}
	start := time.Now()
	res, err := c.sendRequest(ctx, req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	setStatus(span, res.StatusCode)
	body, err := c.readAll(res)
	if err != nil {
		return nil, c.classifyError(ctx, req, err)
	}
	return &Response{Status: res.StatusCode, Header: res.Header, Body: body, URL: res.Request.URL, Took: time.Since(start)}, nil
}

// Check tells without sending anything whether the guard refuses an address; see Guard.CheckURL.
func (c *Client) Check(u *url.URL) error {
	if err := c.checkAddress(context.Background(), u); err != nil {
		return errs.BadInput(ReasonRefused, "%s", err)
	}
	return nil
}

func (c *Client) sendRequest(ctx context.Context, req *Request) (*http.Response, error) {
	if req.Own {
		ctx = context.WithValue(ctx, ownKey{}, hostPort(req.URL))
	}
	if err := c.checkAddress(ctx, req.URL); err != nil {
		return nil, c.classifyError(ctx, req, err)
	}
	res, err := c.roundTrip(c.newOutgoing(ctx, req))
	if err != nil {
		return nil, c.classifyError(ctx, req, err)
	}
	if enc := res.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		res.Body.Close()
		return nil, c.classifyError(ctx, req, errEncoding)
	}
	return res, nil
}

// roundTrip spares the work of http.Client where no redirect is to be followed.
func (c *Client) roundTrip(req *http.Request) (*http.Response, error) {
	if c.cfg.MaxRedirects > 0 {
		return c.http.Do(req)
	}
	res, err := c.transport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	res.Request = req
	return res, nil
}

func (c *Client) newOutgoing(ctx context.Context, req *Request) *http.Request {
	header := make(http.Header, len(req.Header)+1)
	for k, v := range req.Header {
		header[k] = v
	}
	if header["User-Agent"] == nil {
		header["User-Agent"] = []string{c.cfg.UserAgent}
	}
	out := &http.Request{
		Method: req.Method, URL: req.URL, Host: req.URL.Host, Header: header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	if len(req.Body) > 0 {
		out.ContentLength = int64(len(req.Body))
		// net/http sends header and body in one write if it knows that the body is in memory, by the type of its reader.
		out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(req.Body)), nil }
		out.Body, _ = out.GetBody()
	}
	return out.WithContext(ctx)
}

// buffer collects bodies of unknown length.
type buffer struct{ bytes.Buffer }

const keptBuffer = 1 << 20

// readAll reads an answer into a slice of exactly its length.
func (c *Client) readAll(res *http.Response) ([]byte, error) {
	switch {
	case res.ContentLength > c.cfg.MaxBody:
		return nil, errTooLarge
	case res.ContentLength == 0:
		return nil, nil
	case res.ContentLength > 0:
		body := make([]byte, res.ContentLength)
		_, err := io.ReadFull(res.Body, body)
		return body, err
	}
	buf := c.buffers.Get().(*buffer)
	defer func() {
		if buf.Cap() <= keptBuffer {
			buf.Reset()
			c.buffers.Put(buf)
		}
	}()
	n, err := buf.ReadFrom(io.LimitReader(res.Body, c.cfg.MaxBody+1))
	if err != nil {
		return nil, err
	}
	if n > c.cfg.MaxBody {
		return nil, errTooLarge
	}
	return bytes.Clone(buf.Bytes()), nil
}

// Stream is an answer whose body is still to be read. Close it.
type Stream struct {
	Status int
	Header http.Header
	// Took is the time from sending to the header.
	Took time.Duration

	client *Client
	ctx    context.Context
	cancel context.CancelCauseFunc
	req    *Request
	body   io.ReadCloser
	idle   time.Duration
	timer  *time.Timer
	span   tracing.Span
	closed atomic.Bool
}

var errIdle = errors.New("no data within the idle limit")

// Stream performs the request and returns as soon as the header is there. idle is how long the upstream may be silent,
// before the header as well as between two reads; 0 means for ever. Timeout does not apply. Errors are those of Do,
// also from Read.
func (c *Client) Stream(ctx context.Context, req *Request, idle time.Duration) (*Stream, error) {
	ctx, span := c.startSpan(ctx, req)
	ctx, cancel := context.WithCancelCause(ctx)
	s := &Stream{client: c, ctx: ctx, cancel: cancel, req: req, idle: idle, span: span}
	if idle > 0 {
		s.timer = time.AfterFunc(idle, func() { cancel(errIdle) })
	}
	start := time.Now()
	res, err := c.sendRequest(ctx, req) //nolint:bodyclose // Close of the stream closes it.
	if err != nil {
		span.EndWith(err)
		s.stopStream()
		return nil, err
	}
	setStatus(span, res.StatusCode)
	s.Status, s.Header, s.body, s.Took = res.StatusCode, res.Header, res.Body, time.Since(start)
	return s, nil
}

// Read reads what has arrived, without waiting for p to be full. It returns io.EOF at the proper end only.
func (s *Stream) Read(p []byte) (int, error) {
	if s.timer != nil {
		s.timer.Reset(s.idle)
	}
	n, err := s.body.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		return n, s.client.classifyError(s.ctx, s.req, err)
	}
	return n, err
}

// ReadAll reads the rest, at most Config.MaxBody bytes.
func (s *Stream) ReadAll() ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(s, s.client.cfg.MaxBody+1))
	if err == nil && int64(len(body)) > s.client.cfg.MaxBody {
		err = s.client.classifyError(s.ctx, s.req, errTooLarge)
	}
	if err != nil {
		return nil, errs.From(err)
	}
	return body, nil
}

// Close ends the stream; the connection is dropped unless the stream was read to its end.
func (s *Stream) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	err := s.body.Close()
	s.span.End()
	s.stopStream()
	return err
}

func (s *Stream) stopStream() {
	if s.timer != nil {
		s.timer.Stop()
	}
	s.cancel(nil)
}
