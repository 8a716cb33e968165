package httpd

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/fault"
)

// ErrorBody returns the body of an error: code, message, request_id and the fault's extension members at the top
// level.
func ErrorBody(c *gin.Context, e *fault.Error) map[string]any {
	body := make(map[string]any, len(e.Ext)+4)
	for k, v := range e.Ext {
		body[k] = v
	}
	body["code"], body["message"], body["request_id"] = e.Code, e.Message, RequestID(c)
	if e.RetryAfter > 0 {
		body["retry_after"] = RetrySeconds(e.RetryAfter)
	}
	return body
}

// RetrySeconds returns a delay in whole seconds, rounded up, at least 1.
func RetrySeconds(d time.Duration) int64 {
	return max(1, int64(math.Ceil(d.Seconds())))
}

// WriteError answers with the common error body. Internals of err go to the log only.
func WriteError(c *gin.Context, err error) {
	e := fault.As(err)
	WriteErrorBody(c, e, ErrorBody(c, e))
}

// WriteErrorBody answers with an error whose body a service has extended.
func WriteErrorBody(c *gin.Context, e *fault.Error, body map[string]any) {
	status := fault.StatusOf(e)
	if status >= http.StatusInternalServerError {
		SetError(c, e)
	}
	if c.Writer.Written() {
		c.Abort()
		return
	}
	raw, err := json.Marshal(body)
	if err != nil {
		raw = []byte(`{"code":"internal","message":"The error could not be written."}`)
	}
	h := c.Writer.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", strconv.Itoa(len(raw)))
	if status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	if e.RetryAfter > 0 {
		h.Set("Retry-After", strconv.FormatInt(RetrySeconds(e.RetryAfter), 10))
	}
	c.Writer.WriteHeader(status)
	if c.Request.Method != http.MethodHead {
		_, _ = c.Writer.Write(raw)
	}
	c.Abort()
}
