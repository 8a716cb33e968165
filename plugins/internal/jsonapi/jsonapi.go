// Package jsonapi calls an HTTP API whose bodies are JSON, and puts its refusals into the words of sdk/errs.
package jsonapi

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/plugins/internal/texts"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	sharedv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/shared/v1"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// maxSaid is how much of the API's own words goes into an error, in bytes.
const maxSaid = 300

// maxBeginning is how much of a refusal's body goes into an error, in bytes.
const maxBeginning = 8 << 10

// Client calls an API. It is safe for concurrent use.
type Client struct {
	HTTP *httpx.Client
	Base *url.URL
	// Header is sent with every request, with the credential in it; Secret is the credential, which is cut from errors.
	Header http.Header
	Secret schema.Secret
	// Message returns what the body of a refusal says to a person.
	Message func(body []byte) string
	// Pause is when to try again after a 429 that does not say it.
	Pause time.Duration
}

// Call is one request.
type Call struct {
	Method string
	// Path are the parts of the path below Base; each is escaped.
	Path  []string
	Query url.Values
	// Body is sent as JSON; nil sends none.
	Body any
}

func (c *Client) callURL(call Call) *url.URL {
	u := *c.Base
	for _, part := range call.Path {
		u.RawPath = u.EscapedPath() + "/" + url.PathEscape(part)
		u.Path += "/" + part
	}
	u.RawQuery = call.Query.Encode()
	return &u
}

// Do makes a request and decodes the answer into out. With a nil out, an answer that is neither empty nor JSON is an error
// as well. Every status that is no success is an error; its HTTP status is in Upstream, and its Message is prefixed with
// method and path.
func (c *Client) Do(ctx context.Context, call Call, out any) error {
	_, err := c.Fetch(ctx, call, out)
	return err
}

// Fetch is Do, and returns the answer as it came.
func (c *Client) Fetch(ctx context.Context, call Call, out any) (*httpx.Response, error) {
	req := &httpx.Request{Method: call.Method, URL: c.callURL(call), Header: http.Header{"Accept": {"application/json"}}}
	for name, values := range c.Header {
		req.Header[name] = values
	}
	if call.Body != nil {
		raw, err := json.Marshal(call.Body)
		if err != nil {
			return nil, err
		}
		req.Body, req.Header["Content-Type"] = raw, []string{"application/json"}
	}
	res, err := c.HTTP.Do(ctx, req)
	if err != nil {
		return nil, err
	}
	if res.Status < 200 || res.Status > 299 {
		return nil, c.refusalError(req, res)
	}
	if out == nil && (len(res.Body) == 0 || json.Valid(res.Body)) {
		return res, nil
	}
	if out == nil || json.Unmarshal(res.Body, out) != nil {
		return nil, errs.Unavailable(errs.ReasonProtocol, "%s %s%s: the answer cannot be read", req.Method, req.URL.Host, req.URL.Path)
	}
	return res, nil
}

// refusalError returns the error that an answer without success means.
func (c *Client) refusalError(req *httpx.Request, res *httpx.Response) error {
	text := texts.Truncate(texts.OneLine(texts.Printable(c.Message(res.Body))), maxSaid)
	if c.Secret != "" {
		text = strings.ReplaceAll(text, c.Secret.Reveal(), schema.Redacted)
	}
	e := Refusal(req, res, text)
	e.Upstream.Body = c.shownBeginning(res.Body)
	if e.Code == codes.ResourceExhausted && e.RetryAfter <= 0 {
		e.RetryAfter = c.Pause
	}
	return e
}

// Refusal returns the error that an answer without success means, whatever its body is. text is what the answer says to a
// person, without secrets; it may be empty.
func Refusal(req *httpx.Request, res *httpx.Response, text string) *errs.Error {
	message := "status " + strconv.Itoa(res.Status)
	if text != "" {
		message += ": " + text
	}
	code, reason := statusMeaning(res.Status)
	e := errs.New(errs.Upstream, code, reason, "%s %s%s: %s", req.Method, req.URL.Host, req.URL.Path, message)
	e.Upstream = &sharedv1.UpstreamError{HttpStatus: int32(res.Status), Host: req.URL.Host}
	if code == codes.ResourceExhausted || code == codes.Unavailable {
		e.RetryAfter = httpx.RetryAfter(res.Header.Get("Retry-After"), time.Now())
	}
	return e
}

// shownBeginning returns what may be shown of a body: without the credential, and not too much of it.
func (c *Client) shownBeginning(body []byte) []byte {
	if c.Secret != "" {
		body = bytes.ReplaceAll(body, []byte(c.Secret.Reveal()), []byte(schema.Redacted))
	}
	return body[:min(len(body), maxBeginning)]
}

func statusMeaning(status int) (codes.Code, string) {
	switch status {
	case http.StatusUnauthorized:
		return codes.Unauthenticated, errs.ReasonStatus
	case http.StatusForbidden:
		return codes.PermissionDenied, errs.ReasonStatus
	case http.StatusNotFound, http.StatusGone:
		return codes.NotFound, errs.ReasonStatus
	case http.StatusTooManyRequests:
		return codes.ResourceExhausted, errs.ReasonStatus
	case http.StatusConflict:
		return codes.AlreadyExists, errs.ReasonStatus
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return codes.InvalidArgument, errs.ReasonStatus
	}
	if status >= 500 || status == http.StatusRequestTimeout {
		return codes.Unavailable, errs.ReasonStatus
	}
	return codes.Unavailable, errs.ReasonProtocol
}
