package httpd

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/fault"
)

const (
	// bodyTimeout is Options.BodyTimeout when it says nothing, writeTimeout bounds the writing of a large one.
	bodyTimeout  = 30 * time.Second
	writeTimeout = 60 * time.Second
	// largeBody is more than what a socket takes without its reader.
	largeBody = 64 << 10
)

// ReadBody reads the whole body within the route's limit. The caller owns the result. Errors are faults: too large,
// too slow, or cut short.
func ReadBody(c *gin.Context) ([]byte, error) {
	r := c.Request
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	body, err := readAll(r.Body, r.ContentLength)
	var large *http.MaxBytesError
	var known *fault.Error
	switch {
	case err == nil:
		return body, nil
	case errors.As(err, &known):
		c.Header("Connection", "close")
		return nil, err
	case errors.As(err, &large):
		if b, ok := c.Value(keyBody).(*requestBody); ok {
			return nil, b.errTooLarge()
		}
		return nil, tooLarge(large.Limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		c.Header("Connection", "close")
		return nil, fault.New(fault.BadRequest, "The body did not arrive in time.").WithStatus(http.StatusRequestTimeout)
	}
	c.Header("Connection", "close")
	return nil, fault.Wrap(err, fault.BadRequest, "The body could not be read.")
}

// requestBody is the body of a request with its bounds: size, time, and the budget of callers that are not authenticated.
type requestBody struct {
	// ReadCloser is raw up to the limit.
	io.ReadCloser
	raw *countedBody
	rc  *http.ResponseController
	c   *gin.Context
	w   *wrapper
	// limit is the largest body, and declared that of the route, which is more where a token in the header is asked for.
	limit, declared int64
	// held are the bytes that are taken from the budget.
	held          int64
	authenticated bool
}

// countedBody is a body as the connection has it.
type countedBody struct {
	io.ReadCloser
	read  int64
	ended bool
}

// Read implements io.Reader.
func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	b.ended = b.ended || err != nil
	return n, err
}

// limitBody puts the bounds around the body of a request, and returns an error for one that is announced as too large. The time within
// which it must arrive applies also to a body that no handler reads, since the server reads it to its end by itself.
func (w *wrapper) limitBody(c *gin.Context, declared int64, needsHeaderToken bool) (*requestBody, error) {
	timeout := w.opts.BodyTimeout
	if timeout <= 0 {
		timeout = bodyTimeout
	}
	b := &requestBody{raw: &countedBody{ReadCloser: c.Request.Body}, rc: http.NewResponseController(c.Writer), c: c, w: w, limit: declared,
		declared: declared}
	if needsHeaderToken && declared > DefaultBodyLimit && !hasBearer(c.Request.Header) {
		b.limit = DefaultBodyLimit
	}
	b.ReadCloser = http.MaxBytesReader(c.Writer, b.raw, b.limit)
	_ = b.rc.SetReadDeadline(time.Now().Add(timeout))
	c.Request.Body = b
	c.Set(keyBody, b)
	if c.Request.ContentLength > b.limit {
		c.Header("Connection", "close")
		return b, b.errTooLarge()
	}
	return b, nil
}

// hasBearer reports whether a request has a token in its header, be it valid or not.
func hasBearer(h http.Header) bool {
	scheme, _, _ := strings.Cut(h.Get("Authorization"), " ")
	return strings.EqualFold(scheme, "Bearer")
}

// errTooLarge is the error of a body that is larger than the limit.
func (b *requestBody) errTooLarge() error {
	if b.limit == b.declared {
		return tooLarge(b.limit)
	}
	b.w.countRefusal(RefusedBodyNoToken)
	return fault.New(fault.PayloadTooLarge, "A body of more than %d bytes needs the access token in the header Authorization: Bearer, not in the body.", b.limit).
		With("limit", b.limit).With("header", "Authorization")
}

// Read implements io.Reader.
func (b *requestBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		_ = b.rc.SetReadDeadline(time.Time{})
	}
	if budget := b.w.opts.Bodies; n > 0 && budget != nil && !b.authenticated {
		if refused := budget.Reserve(ClientAddr(b.c), int64(n)); refused != "" {
			b.w.countRefusal(refused)
			return 0, errBudget()
		}
		b.held += int64(n)
	}
	return n, err
}

// setAuthenticated gives back what the body has taken from the budget.
func (b *requestBody) setAuthenticated() {
	b.authenticated = true
	if b.held > 0 {
		b.w.opts.Bodies.Release(ClientAddr(b.c), b.held)
		b.held = 0
	}
}

const (
	// serverDrains is how much of a body that nobody has read net/http reads by itself to keep the connection.
	serverDrains = 256 << 10
	// drainBeyond is how much more than the largest body of a route is read, so that the client can read the answer.
	drainBeyond = 1 << 20
)

// finish ends the body after the answer. What is left of it is read and thrown away, as far as it is not much more than the route allows
// and arrives in time: a client that is still sending when the connection closes would not see the answer.
func (b *requestBody) finish() {
	b.setAuthenticated()
	r := b.c.Request
	waits := b.raw.read == 0 && r.Header.Get("Expect") != ""
	if b.raw.ended || waits || r.ContentLength >= 0 && r.ContentLength-b.raw.read <= serverDrains {
		return
	}
	if b.rc.Flush() == nil {
		_, _ = io.CopyN(io.Discard, b.raw, b.declared+drainBeyond-b.raw.read)
	}
}

// firstRead is how much memory a body gets before any of it has come.
const firstRead = 64 << 10

// readAll reads a body, of a size unless that is negative. Its memory grows with what arrives, not with what is announced.
func readAll(r io.Reader, size int64) ([]byte, error) {
	if size < 0 {
		return io.ReadAll(r)
	}
	body := make([]byte, min(size, firstRead))
	for read := 0; ; {
		n, err := io.ReadFull(r, body[read:])
		if read += n; err != nil {
			return body[:read], err
		}
		if int64(read) == size {
			break
		}
		grown := make([]byte, min(size, 2*int64(read)))
		copy(grown, body)
		body = grown
	}
	// The end must be seen, so that the connection can be used again.
	var one [1]byte
	if n, _ := r.Read(one[:]); n > 0 {
		return body, io.ErrUnexpectedEOF
	}
	return body, nil
}

// WriteBody answers with a whole body and its length. A client that does not read a large one is cut off after a minute.
func WriteBody(c *gin.Context, status int, contentType string, body []byte) {
	h := c.Writer.Header()
	// Without a type nothing is said about the content, and nothing guessed.
	h["Content-Type"] = nil
	if contentType != "" {
		h["Content-Type"] = []string{contentType}
	}
	// Without the length the body would go in chunks, which a client reads in small pieces.
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	if len(body) > largeBody {
		rc := http.NewResponseController(c.Writer)
		_ = rc.SetWriteDeadline(time.Now().Add(writeTimeout))
		defer func() { _ = rc.SetWriteDeadline(time.Time{}) }()
	}
	c.Writer.WriteHeader(status)
	_, _ = c.Writer.Write(body)
}
