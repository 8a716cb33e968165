package httpx

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// MaxRetryAfter bounds what RetryAfter takes from a header.
const MaxRetryAfter = 24 * time.Hour

// RetryAfter reads the value of a header Retry-After, seconds or a date; 0 means that it names no time to come.
func RetryAfter(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	var d time.Duration
	if n, err := strconv.ParseFloat(value, 64); err == nil && !math.IsNaN(n) {
		d = time.Duration(math.Max(0, math.Min(n, MaxRetryAfter.Seconds())) * float64(time.Second))
	} else if at, err := http.ParseTime(value); err == nil {
		d = at.Sub(now)
	}
	return max(0, min(d, MaxRetryAfter))
}
