package httpd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/fault"
)

// eventStreamType is the media type of a stream of events.
const eventStreamType = "text/event-stream"

// isEventStream reports whether an answer with a header is a stream of events.
func isEventStream(h http.Header) bool {
	return strings.HasPrefix(h.Get("Content-Type"), eventStreamType)
}

// Heartbeat is the pause after which a stream without events sends a comment.
const Heartbeat = 15 * time.Second

// Events writes server-sent events.
type Events struct {
	c  *gin.Context
	rc *http.ResponseController
}

// NewEvents begins a stream of events.
func NewEvents(c *gin.Context) *Events {
	h := c.Writer.Header()
	h.Set("Content-Type", eventStreamType)
	StreamHeaders(h)
	c.Writer.WriteHeader(http.StatusOK)
	e := &Events{c: c, rc: http.NewResponseController(c.Writer)}
	_ = e.rc.Flush()
	return e
}

// StreamHeaders keep proxies and browsers from holding a stream back.
func StreamHeaders(h http.Header) {
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no")
}

// Send writes one event and flushes. id 0 is left out.
func (e *Events) Send(id int64, name string, data []byte) error {
	var b bytes.Buffer
	if id > 0 {
		fmt.Fprintf(&b, "id: %d\n", id)
	}
	if name != "" {
		fmt.Fprintf(&b, "event: %s\n", name)
	}
	// A carriage return ends a line of the format as well.
	data = bytes.ReplaceAll(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		fmt.Fprintf(&b, "data: %s\n", line)
	}
	b.WriteByte('\n')
	return e.writeBytes(b.Bytes())
}

// SendJSON is Send for a value as JSON.
func (e *Events) SendJSON(id int64, name string, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return e.Send(id, name, raw)
}

// Beat writes a comment that keeps the connection open.
func (e *Events) Beat() error { return e.writeBytes([]byte(": heartbeat\n\n")) }

// writeBytes writes and flushes p.
func (e *Events) writeBytes(p []byte) error {
	_ = e.rc.SetWriteDeadline(time.Now().Add(writeTimeout))
	if _, err := e.c.Writer.Write(p); err != nil {
		return err
	}
	return e.rc.Flush()
}

// LastEventID returns where a client that reconnects wants to go on: the larger one of the header Last-Event-ID and the
// query parameter afterId; 0 for the beginning. A value that is not a whole number from 0 on is a fault.InvalidArgument that
// names it as its field.
func LastEventID(c *gin.Context) (int64, error) {
	last := int64(0)
	for _, given := range []struct{ field, value string }{{"Last-Event-ID", c.GetHeader("Last-Event-ID")}, {"afterId", c.Query("afterId")}} {
		text := strings.TrimSpace(given.value)
		if text == "" {
			continue
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 {
			return 0, fault.New(fault.InvalidArgument, "%s must be the id of an event: a whole number from 0 to %d.", given.field,
				int64(math.MaxInt64)).With("field", given.field)
		}
		last = max(last, n)
	}
	return last, nil
}
