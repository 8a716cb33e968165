package httpd

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
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
	switch {
	case err == nil:
		return body, nil
	case errors.As(err, &large):
		return nil, tooLarge(large.Limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		c.Header("Connection", "close")
		return nil, fault.New(fault.BadRequest, "The body did not arrive in time.").WithStatus(http.StatusRequestTimeout)
	}
	c.Header("Connection", "close")
	return nil, fault.Wrap(err, fault.BadRequest, "The body could not be read.")
}

// timedBody is a request body with a deadline, which ends with the body.
type timedBody struct {
	io.ReadCloser
	rc *http.ResponseController
}

// limitTime bounds the time in which a body must arrive. It applies also to a body that no handler reads, since the
// server reads it to its end by itself.
func (w *wrapper) limitTime(c *gin.Context, body io.ReadCloser) io.ReadCloser {
	limit := w.opts.BodyTimeout
	if limit <= 0 {
		limit = bodyTimeout
	}
	b := &timedBody{ReadCloser: body, rc: http.NewResponseController(c.Writer)}
	_ = b.rc.SetReadDeadline(time.Now().Add(limit))
	return b
}

// Read implements io.Reader.
func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		_ = b.rc.SetReadDeadline(time.Time{})
	}
	return n, err
}

func readAll(r io.Reader, size int64) ([]byte, error) {
	if size < 0 {
		return io.ReadAll(r)
	}
	body := make([]byte, size)
	_, err := io.ReadFull(r, body)
	if err == nil {
		// The end must be seen, so that the connection can be used again.
		var one [1]byte
		if n, _ := r.Read(one[:]); n > 0 {
			err = io.ErrUnexpectedEOF
		}
	}
	return body, err
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
