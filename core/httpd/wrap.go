package httpd

import (
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/hashicorp/go-hclog"
	"github.com/oklog/ulid/v2"
	"go.opentelemetry.io/otel/trace"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/secret"
)

const (
	keyRequestID = "patchbay.request_id"
	keyError     = "patchbay.error"
	keyClient    = "patchbay.client"
	keyStreams   = "patchbay.streams"
	keyBody      = "patchbay.body"
	// HeaderRequestID carries the id of a request in both directions.
	HeaderRequestID = "X-Request-Id"
	maxRequestID    = 128
)

// Options are what all engines share.
type Options struct {
	Logger hclog.Logger
	// Guard decides on the policies that a handler does not check itself; nil allows no such route.
	Guard Guard
	// Audit writes the rows of requests that change or reveal something; nil writes none.
	Audit Audit
	// Redact cleans a request target before it is logged; nil leaves the query out.
	Redact func(target string) string
	// Clients finds the address of the client behind trusted proxies.
	Clients *Clients
	// Secure reports whether a request has come by https; its answer then keeps the browser to it. nil means it never has.
	Secure func(*http.Request) bool
	// Observe is called after each answer but a stream of events with the service, the status and how long it took; nil for nothing.
	Observe func(service string, status int, took time.Duration)
	// Tracer begins a span for each request; nil traces none. The trace of a request's header is continued if a trusted proxy
	// has sent it.
	Tracer trace.Tracer
	// Streams bounds the open streams of events; nil means no bound.
	Streams *StreamLimits
	// Bodies bounds the bodies of callers that are not authenticated; nil means no bound but the routes'.
	Bodies *BodyBudget
	// Refused is called with the reason for each request that is refused before its caller is known; nil for nothing.
	Refused func(reason string)
	// BodyTimeout is how long a request body may take to arrive, whether a handler reads it or not; 0 means 30 s.
	BodyTimeout time.Duration
}

// wrapper adds to every handler of a service what all of them need.
type wrapper struct {
	opts    Options
	service string
	errors  ErrorWriter
}

// handlerFor returns the handler of a route with its checks: query, policy and audit.
func (w *wrapper) handlerFor(r Route) gin.HandlerFunc {
	limit := r.BodyLimit
	if limit == 0 {
		limit = DefaultBodyLimit
	}
	byHandler, action := r.Policy.byHandler(), r.AuditAction(w.service)
	return w.wrapHandler(limit, r.Policy == AccessToken, func(c *gin.Context) {
		if err := checkQueryText(c.Request.URL); err != nil {
			w.errors(c, err)
			return
		}
		if byHandler {
			w.runAuditedAfter(c, action, r.Handler)
			if r.Policy != Public && c.Writer.Status() == http.StatusUnauthorized {
				w.countRefusal(RefusedUnauthenticated)
			}
			return
		}
		err := w.opts.Guard(c, w.service, r)
		if err == nil {
			SetAuthenticated(c)
			err = checkPathText(c.Request.URL)
		}
		switch {
		case err == nil:
			w.runAudited(c, action, r.Handler)
		case fault.StatusOf(fault.As(err)) == http.StatusForbidden && c.Request.Context().Value(guardedKey{}) != nil:
			w.runAudited(c, action, func(c *gin.Context) { w.errors(c, err) })
		default:
			w.errors(c, err)
		}
	})
}

// countRefusal counts a request that is refused before its caller is known.
func (w *wrapper) countRefusal(reason string) {
	if w.opts.Refused != nil {
		w.opts.Refused(reason)
	}
}

// wrapHandler returns next with request id, common headers, body limit and log line. With needsHeaderToken the limit is that of requests
// with a token in their header.
func (w *wrapper) wrapHandler(limit int64, needsHeaderToken bool, next gin.HandlerFunc) gin.HandlerFunc {
	return func(c *gin.Context) {
		began := time.Now()
		id := requestID(c.Request.Header[HeaderRequestID])
		c.Set(keyRequestID, id)
		h := c.Writer.Header()
		h[HeaderRequestID] = []string{id}
		h["X-Content-Type-Options"] = []string{"nosniff"}
		if w.opts.Clients != nil {
			c.Set(keyClient, w.opts.Clients)
		}
		if w.opts.Streams != nil {
			c.Set(keyStreams, w.opts.Streams)
		}
		if w.opts.Secure != nil && w.opts.Secure(c.Request) {
			h["Strict-Transport-Security"] = []string{"max-age=31536000"}
			h["Cross-Origin-Opener-Policy"] = []string{"same-origin"}
		}
		var body *requestBody
		var refusal error
		if c.Request.Body != nil && c.Request.Body != http.NoBody {
			body, refusal = w.limitBody(c, limit, needsHeaderToken)
			defer body.finish()
		}
		markEssential(c)
		w.startSpan(c)
		defer w.finishRequest(c, began)
		if refusal != nil {
			w.errors(c, refusal)
			return
		}
		next(c)
	}
}

// finishRequest recovers from a panic and writes the log line.
func (w *wrapper) finishRequest(c *gin.Context, began time.Time) {
	v := recover()
	if v != nil && v != http.ErrAbortHandler {
		w.opts.Logger.Error("panic in a handler",
			append(withTrace(c, "panic", fmt.Sprint(v), "request_id", RequestID(c)), "stack", string(debug.Stack()))...)
		if c.Writer.Written() {
			// Half an answer must not look like a whole one.
			v = http.ErrAbortHandler
		} else {
			w.errors(c, fault.New(fault.Internal, "Something went wrong on our side."))
		}
	}
	w.logRequest(c, began)
	endSpan(c)
	if w.opts.Observe != nil && !isEventStream(c.Writer.Header()) {
		w.opts.Observe(w.service, c.Writer.Status(), time.Since(began))
	}
	if v == http.ErrAbortHandler {
		panic(v)
	}
}

// logRequest writes the log line of a request. A failure that its answer does not show is always logged.
func (w *wrapper) logRequest(c *gin.Context, began time.Time) {
	err, failed := c.Get(keyError)
	if !failed && !w.opts.Logger.IsDebug() {
		return
	}
	args := withTrace(c,
		"method", methodName(c.Request.Method, "of this request"), "target", w.loggedTarget(c), "status", c.Writer.Status(), "bytes",
		c.Writer.Size(),
		"took", time.Since(began).Round(time.Microsecond), "request_id", RequestID(c),
	)
	if failed {
		level := hclog.Warn
		if e, ok := err.(error); ok && fault.CodeOf(e) == fault.PluginUnavailable {
			// The host has told once what happened to the plugin; a line for every request would drown it.
			level = hclog.Debug
		}
		w.opts.Logger.Log(level, "request failed", append(args, "error", err)...)
		return
	}
	w.opts.Logger.Debug("request", args...)
}

// loggedTarget returns the request's target as it may be logged.
func (w *wrapper) loggedTarget(c *gin.Context) string {
	if w.opts.Redact == nil {
		return c.Request.URL.Path
	}
	return w.opts.Redact(c.Request.URL.RequestURI())
}

func tooLarge(limit int64) error {
	return fault.New(fault.PayloadTooLarge, "The body is larger than %d bytes.", limit).With("limit", limit)
}

// RequestID returns the id of the request: the client's if it is valid and no credential, else a generated one.
func RequestID(c *gin.Context) string { return c.GetString(keyRequestID) }

// SetError has the request logged with an error that its answer does not show.
func SetError(c *gin.Context, err error) { c.Set(keyError, err) }

func requestID(sent []string) string {
	if len(sent) == 1 && len(sent[0]) > 0 && len(sent[0]) <= maxRequestID && isVisibleASCII(sent[0]) && !secret.LooksLikeCredential(sent[0]) {
		return sent[0]
	}
	return "req_" + ulid.Make().String()
}

// isVisibleASCII reports whether s holds only visible ASCII characters.
func isVisibleASCII(s string) bool {
	for i := range len(s) {
		if s[i] < 0x21 || s[i] > 0x7e {
			return false
		}
	}
	return true
}
