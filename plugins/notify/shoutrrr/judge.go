package shoutrrr

import (
	"context"
	"errors"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"sync"

	"github.com/nicholas-fedor/shoutrrr/pkg/util/jsonclient"

	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/notify"
)

// The library tells many failures by their text alone. What was matched decides about the outcome; no text of the library
// is handed on, because addresses with tokens stand in it.
var (
	statusText = sync.OnceValue(func() []*regexp.Regexp {
		return []*regexp.Regexp{
			regexp.MustCompile(`(?i)\bstatus(?: code)?[:" ]{1,3}([1-5]\d\d)\b`),
			regexp.MustCompile(`(?i)\bHTTP ([1-5]\d\d)\b`),
			regexp.MustCompile(`notification failed: ([1-5]\d\d)\b`),
			// ntfy numbers its errors by the status and two more digits.
			regexp.MustCompile(`server response: .*\(([45]\d\d)\d\d\)`),
			regexp.MustCompile(`server responded with .*\(([45]\d\d)\):`),
		}
	})
	connectText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\bdial (tcp|udp)\b|no such host|connection refused|network is unreachable|\bx509: |\btls: |server gave HTTP response to HTTPS client`)
	})
	limitedText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)rate.?limit|too many requests|limit_exceeded`) })
	timeoutText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)deadline exceeded|timeout`) })
	// uncodedText is an answer that was no error of the service's own: a proxy's, say.
	uncodedText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`server responded with .*\(0\)`) })
	refusedText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)server response: |server responded with |response failure|\b(bad request|forbidden|unauthorized|not found): `)
	})
)

// toOutcome turns an error of the library into an outcome; who names the service.
func toOutcome(who string, err error) *errs.Error {
	var dial *net.OpError
	var start *startError
	begun := !errors.As(err, &start)
	text := err.Error()
	status := findStatus(err, text)
	switch {
	case errors.Is(err, errBusy):
		return notify.Temporary(0, "BUSY", "%s: too many sends have not ended yet", who)
	case errors.Is(err, errPanicked):
		return notify.Unknown("%s: the library failed while sending", who)
	case status != 0:
		return judgeStatus(who, status)
	case errors.As(err, &dial) && dial.Op == "dial", connectText().MatchString(text):
		return notify.Temporary(0, errs.ReasonConnect, "%s: cannot connect", who)
	case begun && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)):
		return notify.Unknown("%s: the call ended before the answer came", who)
	case limitedText().MatchString(text):
		return notify.Temporary(0, errs.ReasonStatus, "%s: the service wants fewer messages", who)
	case uncodedText().MatchString(text):
		return notify.Unknown("%s: what answered does not say whether the message was taken", who)
	case refusedText().MatchString(text):
		return notify.Permanent("SERVICE_REFUSED", "%s: the service refuses the message", who)
	case !begun && timeoutText().MatchString(text):
		return notify.Temporary(0, errs.ReasonTimeout, "%s: no answer in time", who)
	case !begun:
		return notify.Permanent("LOGIN_REFUSED", "%s: the service does not accept the name and password", who)
	}
	return notify.Unknown("%s: the service did not confirm the message", who)
}

func findStatus(err error, text string) int {
	var answer jsonclient.Error
	if errors.As(err, &answer) && answer.StatusCode >= http.StatusBadRequest {
		return answer.StatusCode
	}
	for _, pattern := range statusText() {
		if m := pattern.FindStringSubmatch(text); m != nil {
			status, _ := strconv.Atoi(m[1])
			return status
		}
	}
	return 0
}

func judgeStatus(who string, status int) *errs.Error {
	switch {
	case status == http.StatusRequestTimeout, status == http.StatusTooManyRequests, status >= 500:
		return notify.Temporary(0, errs.ReasonStatus, "%s answered with status %d", who, status)
	case status >= 400:
		return notify.Permanent(errs.ReasonStatus, "%s answered with status %d", who, status)
	}
	return notify.Unknown("%s answered with status %d, which says neither yes nor no", who, status)
}
