package tavily

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/sdk/jsonedit"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

// takeUsage reads the credits of an answer and, with cut, removes the member that tells them. body is changed in place.
func takeUsage(body []byte, cut bool) ([]byte, *search.Usage, error) {
	var usage *search.Usage
	// The API tells it last: most answers need not be read from the beginning.
	if out, done := jsonedit.CutTail(body, memberUsage, func(raw []byte) bool {
		usage = readCredits(raw)
		return cut
	}); done {
		return out, usage, nil
	}
	out, err := jsonedit.RemoveInPlace(body, func(key []byte, m jsonedit.Member) bool {
		if string(key) != memberUsage {
			return false
		}
		usage = readCredits(m.Value(body))
		return cut
	})
	if errors.Is(err, jsonedit.ErrDepth) {
		return body, nil, nil
	}
	return out, usage, err
}

// readCredits reads {"credits": n}; a fraction counts as a whole credit.
func readCredits(raw []byte) *search.Usage {
	m, ok, err := jsonedit.Find(raw, "credits")
	if err != nil || !ok {
		return nil
	}
	n, err := strconv.ParseFloat(string(m.Value(raw)), 64)
	if err != nil || n < 0 || n > math.MaxInt32 {
		return nil
	}
	return &search.Usage{Credits: int64(math.Ceil(n))}
}

// requestID reads the id under which a research can be asked for; empty if there is none.
func requestID(body []byte) (string, error) {
	m, ok, err := jsonedit.Find(body, "request_id")
	if err != nil || !ok {
		return "", err
	}
	var id string
	if json.Unmarshal(m.Value(body), &id) != nil || !validID(id) {
		return "", nil
	}
	return id, nil
}

// The statuses that the API adds to those of HTTP.
const (
	statusPlanLimit = 432
	statusPaygLimit = 433
)

// keyVerdict tells what an answer says about the key.
func keyVerdict(status int, body []byte, retryAfter string, now time.Time) search.KeyVerdict {
	switch {
	case isSuccess(status):
		return search.KeyVerdict{State: search.KeyOK}
	case status == http.StatusUnauthorized:
		return search.KeyVerdict{State: search.KeyInvalid, Reason: "key was not accepted"}
	case status == http.StatusForbidden && saysKeyInvalid(body):
		return search.KeyVerdict{State: search.KeyInvalid, Reason: "key was revoked, deactivated or suspended"}
	case status == http.StatusTooManyRequests:
		return search.KeyVerdict{
			State: search.KeyRateLimited, RetryAfter: httpx.RetryAfter(retryAfter, now), Reason: "too many requests",
		}
	case status == statusPlanLimit:
		return search.KeyVerdict{State: search.KeyExhausted, Reason: "limit of the plan or key is reached"}
	case status == statusPaygLimit:
		return search.KeyVerdict{State: search.KeyExhausted, Reason: "pay-as-you-go limit is reached"}
	}
	return search.KeyVerdict{}
}

const maxVerdictBody = 8 << 10

// saysKeyInvalid tells a 403 that concerns the key from one that concerns the request.
func saysKeyInvalid(body []byte) bool {
	text := strings.ToLower(string(body[:min(len(body), maxVerdictBody)]))
	for _, s := range []string{"deactivated", "revoked", "suspended", "invalid api key", "api key is invalid", "invalid_api_key",
		"invalid_token"} {
		if strings.Contains(text, s) {
			return true
		}
	}
	return false
}
