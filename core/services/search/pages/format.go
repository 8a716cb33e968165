package pages

import (
	"encoding/json"
	"time"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/keys"
)

// millisText is a latency of a chart.
func millisText(v *ui.View, n float64) string {
	return v.Millis(time.Duration(n * float64(time.Millisecond)))
}

// formatListTime is a moment in a list: the time of day, with the date unless it is today's, in UTC.
func formatListTime(v *ui.View, t time.Time) string {
	if t.UTC().Format(time.DateOnly) == v.Now.UTC().Format(time.DateOnly) {
		return v.Clock(t)
	}
	return v.Minute(t)
}

func totalKeys(keys map[keys.KeyState]int) (n int) {
	for _, k := range keys {
		n += k
	}
	return n
}

// tokenState is the word for a token: that of its switch, of its expiry, or of the window that is used up.
func tokenState(v *ui.View, t access.AuthToken) string {
	switch {
	case !t.Enabled:
		return "disabled"
	case t.ExpiresAt != nil && !t.ExpiresAt.OrZero().After(v.Now):
		return "expired"
	case len(t.UsedUp()) > 0:
		return "exhausted"
	}
	return "active"
}

func ownerName(t access.AuthToken) string {
	if t.Owner.Of == nil {
		return "–"
	}
	return t.Owner.Of.DisplayName
}

// probeWords are the words for what an upstream says about a key, for the script.
func probeWords(v *ui.View) string {
	words := map[string]string{}
	for _, status := range []string{
		keys.ProbeOK, keys.ProbeExhausted, keys.ProbeUnauthorized, keys.ProbeInvalid, keys.ProbeError, keys.ProbeExists, keys.ProbeDuplicate,
	} {
		words[status] = v.State(status)
	}
	raw, err := json.Marshal(words)
	if err != nil {
		return "{}"
	}
	return string(raw)
}

func textOrDash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}

// limitText is a limit of a token's own in its field of the form; empty for the service's default.
func limitText(n *int64) string {
	if n == nil {
		return ""
	}
	return itoa(*n)
}
