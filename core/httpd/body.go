package httpd

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/fault"
)

const (
	// bodyTimeout bounds the reading of a body, writeTimeout the writing of a large one.
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
	rc := http.NewResponseController(c.Writer)
	_ = rc.SetReadDeadline(time.Now().Add(bodyTimeout))
	body, err := readAll(r.Body, r.ContentLength)
	_ = rc.SetReadDeadline(time.Time{})
	var large *http.MaxBytesError
	switch {
	case err == nil:
		return body, nil
	case errors.As(err, &large):
		return nil, tooLarge(large.Limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		c.Header("Connection", "close")
		return nil, fault.New(fault.BadRequest, "The body did not arrive within %d seconds.", int(bodyTimeout.Seconds())).WithStatus(http.StatusRequestTimeout)
	}
	c.Header("Connection", "close")
	return nil, fault.Wrap(err, fault.BadRequest, "The body could not be read.")
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

// WriteBody answers with a whole body. A client that does not read a large one is cut off after a minute.
func WriteBody(c *gin.Context, status int, contentType string, body []byte) {
	h := c.Writer.Header()
	if contentType != "" {
		h["Content-Type"] = []string{contentType}
	}
	if len(body) > largeBody {
		rc := http.NewResponseController(c.Writer)
		_ = rc.SetWriteDeadline(time.Now().Add(writeTimeout))
		defer func() { _ = rc.SetWriteDeadline(time.Time{}) }()
	}
	c.Writer.WriteHeader(status)
	_, _ = c.Writer.Write(body)
}
