package access

import (
	"testing"

	"github.com/patchbay-dev/patchbay/core/services/search/audit"
	"github.com/patchbay-dev/patchbay/core/services/search/internal/searchtest"
)

// TestRefusalsAreTrue: what a 429 says is so, whether a limit is used up or a reservation does not fit, in each window.
func TestRefusalsAreTrue(t *testing.T) {
	const much = 1 << 20
	for _, tt := range []struct {
		name   string
		limits Limits
		// used is spent before, reserved held by a call under way.
		used, reserved, price int64
		want                  string
		needed                int64
	}{
		{"requests", Limits{RequestsHour: 0, CreditsHour: much, CreditsDay: much, CreditsMonth: much}, 0, 0, 1,
			"The access token has used its hourly limit of 0 requests.", 0},
		{"hour, used up", Limits{much, 10, much, much, 0}, 10, 0, 1, "The access token has used its hourly limit of 10 credits.", 0},
		{"hour, does not fit", Limits{much, 100, much, much, 0}, 90, 0, 40,
			"The call reserves 40 credits, and 90 are used or reserved of the access token's hourly limit of 100 credits.", 40},
		{"hour, held by others", Limits{much, 100, much, much, 0}, 10, 80, 40,
			"The call reserves 40 credits, and 90 are used or reserved of the access token's hourly limit of 100 credits.", 40},
		{"hour, all held by others", Limits{much, 100, much, much, 0}, 0, 100, 2,
			"The call reserves 2 credits, and 100 are used or reserved of the access token's hourly limit of 100 credits.", 2},
		{"hour, never fits", Limits{much, 30, much, much, 0}, 0, 0, 40,
			"The call reserves 40 credits, more than the access token's hourly limit of 30 credits.", 40},
		{"day", Limits{much, much, 100, much, 0}, 90, 0, 40,
			"The call reserves 40 credits, and 90 are used or reserved of the access token's daily limit of 100 credits.", 40},
		{"month", Limits{much, much, much, 100, 0}, 90, 0, 40,
			"The call reserves 40 credits, and 90 are used or reserved of the access token's monthly limit of 100 credits.", 40},
		{"minute", Limits{much, much, much, much, 1}, 1, 0, 1, "The access token has used its limit by the minute of 1 requests.", 0},
	} {
		var c counter
		free := Limits{much, much, much, much, 0}
		if c.reserve(searchtest.Noon, tt.used, free) != nil || c.reserve(searchtest.Noon, tt.reserved, free) != nil {
			t.Fatal("the use before was refused")
		}
		c.settleReservation(searchtest.Noon, searchtest.Noon, tt.used, tt.used, audit.Success)
		x := c.reserve(searchtest.Noon, tt.price, tt.limits)
		if x == nil || x.ReachedLimit().RefusalText() != tt.want || x.Needed != tt.needed {
			t.Errorf("%s: %+v", tt.name, x)
			continue
		}
	}
}
