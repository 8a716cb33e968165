package github

import (
	"encoding/json"
	"net/http"
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

// refusalError returns the error that an answer without success means.
func (h *apiClient) refusalError(c call, res *httpx.Response) error {
	text := c.redactSecrets(errorMessage(res.Body))
	code, reason := classifyStatus(res.Status)
	after, limited := h.readLimit(res, text)
	if limited {
		code = codes.ResourceExhausted
	}
	message := "status " + strconv.Itoa(res.Status)
	if text != "" {
		message += ": " + text
	}
	e := errs.New(errs.Upstream, code, reason, "%s %s%s: %s", c.method, c.url.Host, c.url.Path, message)
	e.Upstream = &sharedv1.UpstreamError{HttpStatus: int32(res.Status), Host: c.url.Host,
		RequestId: printableText(res.Header.Get("X-Github-Request-Id"))}
	if limited || code == codes.Unavailable {
		e.RetryAfter = after
	}
	return e
}

// redactSecrets returns a text without the secrets of a request.
func (c call) redactSecrets(text string) string {
	for _, s := range []schema.Secret{c.token, c.secret} {
		if s != "" {
			text = strings.ReplaceAll(text, s.Reveal(), schema.Redacted)
		}
	}
	return text
}

func classifyStatus(status int) (codes.Code, string) {
	switch status {
	case http.StatusUnauthorized:
		return codes.Unauthenticated, errs.ReasonStatus
	case http.StatusForbidden, http.StatusUnavailableForLegalReasons:
		return codes.PermissionDenied, errs.ReasonStatus
	case http.StatusNotFound, http.StatusGone:
		return codes.NotFound, errs.ReasonStatus
	case http.StatusTooManyRequests:
		return codes.ResourceExhausted, errs.ReasonStatus
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusConflict:
		return codes.InvalidArgument, errs.ReasonStatus
	}
	if status >= 500 || status == http.StatusRequestTimeout {
		return codes.Unavailable, errs.ReasonStatus
	}
	return codes.Unavailable, errs.ReasonProtocol
}

// secondaryPause is how long to wait where a secondary limit names no time.
const secondaryPause = time.Minute

// readLimit reports whether an answer says that a limit is used up, and when it is worth asking again.
func (h *apiClient) readLimit(res *httpx.Response, text string) (after time.Duration, limited bool) {
	after = httpx.RetryAfter(res.Header.Get("Retry-After"), h.now())
	if res.Status != http.StatusForbidden && res.Status != http.StatusTooManyRequests {
		return after, false
	}
	used := res.Header.Get("X-Ratelimit-Remaining") == "0"
	secondary := strings.Contains(strings.ToLower(text), "secondary rate limit") || strings.Contains(strings.ToLower(text), "abuse detection")
	switch {
	case after != 0:
	case used:
		after = h.untilReset(res.Header)
	case secondary:
		after = secondaryPause
	}
	return after, res.Status == http.StatusTooManyRequests || used || secondary || res.Header.Get("Retry-After") != ""
}

// errorMessage returns the message in the body of an error.
func errorMessage(raw []byte) string {
	var body struct {
		Message string            `json:"message"`
		Errors  []json.RawMessage `json:"errors"`
	}
	if json.Unmarshal(raw, &body) != nil {
		return ""
	}
	message := body.Message
	for _, e := range body.Errors {
		var detail struct{ Message, Field, Code string }
		if json.Unmarshal(e, &detail.Message) == nil || json.Unmarshal(e, &detail) == nil {
			message += "; " + strings.TrimSpace(strings.Join([]string{detail.Field, detail.Code, detail.Message}, " "))
		}
	}
	return printableText(message)
}

// maxSaid is how much of the host's own words goes into an error, in bytes.
const maxSaid = 300

// printableText returns words of the host that are safe to show.
func printableText(words string) string { return texts.Truncate(texts.Printable(words), maxSaid) }
