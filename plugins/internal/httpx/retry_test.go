package httpx_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, "-7": 0, "x": 0, "NaN": 0, " 1.5 ": 1500 * time.Millisecond, "999999999999": httpx.MaxRetryAfter,
		now.Add(time.Minute).Format(http.TimeFormat):  time.Minute,
		now.Add(-time.Minute).Format(http.TimeFormat): 0,
	} {
		if got := httpx.RetryAfter(value, now); got != want {
			t.Errorf("%q: %s, want %s", value, got, want)
		}
	}
}
