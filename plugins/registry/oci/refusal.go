package oci

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/plugins/internal/texts"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	sharedv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/shared/v1"
)

// refusal is an answer with a status besides 200.
type refusal struct {
	code   int
	header http.Header
	// host answered; what was asked of it, and text is what it said.
	host, what, text string
	reader           *reader
}

// hasStatus reports whether r is a refusal with a status; a nil r is none.
func (r *refusal) hasStatus(status int) bool { return r != nil && r.code == status }

func (s *session) toRefusal(q question, st *httpx.Stream) *refusal {
	r := &refusal{code: st.Status, header: st.Header, host: s.host, what: s.key.domain + "/" + q.repo + "/" + q.path, reader: s.reader}
	if q.method != http.MethodHead {
		raw, _ := io.ReadAll(io.LimitReader(st, maxError))
		r.text = registryErrors(raw)
	}
	return r
}

// maxSaid is how much of a registry's own words goes into an error, in bytes.
const maxSaid = 200

// registryErrors returns the errors in a registry's answer, safe to show.
func registryErrors(raw []byte) string {
	var body struct {
		Errors []struct{ Code, Message string }
	}
	if json.Unmarshal(raw, &body) != nil || len(body.Errors) == 0 {
		return ""
	}
	return texts.Truncate(texts.Printable(strings.TrimSpace(body.Errors[0].Code+" "+body.Errors[0].Message)), maxSaid)
}

// orError returns err, or, if it is nil, the error that a refusal means.
func (r *refusal) orError(err error) error {
	if err != nil || r == nil {
		return err
	}
	code, reason, text := r.classifyRefusal()
	if r.text != "" {
		text += ": " + r.text
	}
	e := errs.New(errs.Upstream, code, reason, "%s: %s", r.what, text)
	if code == codes.ResourceExhausted || code == codes.Unavailable {
		e.RetryAfter = httpx.RetryAfter(r.header.Get("Retry-After"), r.reader.now())
	}
	e.Upstream = &sharedv1.UpstreamError{HttpStatus: int32(r.code), Host: r.host}
	return e
}

func (r *refusal) classifyRefusal() (codes.Code, string, string) {
	limited := r.code == http.StatusTooManyRequests || r.code == http.StatusForbidden &&
		strings.HasPrefix(strings.ToUpper(r.text), "TOOMANYREQUESTS")
	switch {
	case limited:
		return codes.ResourceExhausted, errs.ReasonStatus, r.host + " is rate limited"
	case r.code == http.StatusUnauthorized:
		return codes.Unauthenticated, errs.ReasonStatus, r.host + " wants other credentials"
	case r.code == http.StatusForbidden:
		return codes.PermissionDenied, errs.ReasonStatus, r.host + " denies access"
	case r.code == http.StatusNotFound, r.code == http.StatusGone:
		return codes.NotFound, errs.ReasonStatus, "does not exist, or is hidden from these credentials"
	case r.code >= 500, r.code == http.StatusRequestTimeout:
		return codes.Unavailable, errs.ReasonStatus, fmt.Sprintf("%s answered with status %d", r.host, r.code)
	}
	return codes.Unavailable, errs.ReasonProtocol, fmt.Sprintf("%s answered with status %d", r.host, r.code)
}
