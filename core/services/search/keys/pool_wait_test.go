package keys

import (
	"testing"
	"time"

	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

// TestPoolTellsWhenAKeyComesBack: with no usable key the client is told when the first of the resting ones can be used.
func TestPoolTellsWhenAKeyComesBack(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	p := newPool(func() time.Time { return now }, func(string, KeyState, string, time.Time, time.Time) {})
	p.loadKeys([]*key{{id: "a", state: KeyActive}, {id: "b", state: KeyActive}, {id: "c", state: KeyInvalid}}, nil)
	if got := p.UsableAfter(""); got != retrySoon {
		t.Fatalf("with usable keys: %s", got)
	}
	p.ApplyVerdict("a", sdk.KeyVerdict{State: sdk.KeyRateLimited, RetryAfter: 40 * time.Second})
	p.ApplyVerdict("b", sdk.KeyVerdict{State: sdk.KeyExhausted})
	if got := p.UsableAfter(""); got != 40*time.Second {
		t.Fatalf("the nearest is %s away", got)
	}
	now = now.Add(time.Minute)
	if got := p.UsableAfter(""); got != retrySoon {
		t.Fatalf("with a usable key: %s", got)
	}
	p.ApplyVerdict("a", sdk.KeyVerdict{State: sdk.KeyInvalid})
	if got := p.UsableAfter(""); got < 9*24*time.Hour {
		t.Fatalf("the exhausted one comes back in %s", got)
	}
	p.loadKeys(nil, map[string]int64{"b": now.UnixMilli()})
	if got := p.UsableAfter(""); got != 0 {
		t.Fatalf("nothing comes back by itself, yet %s", got)
	}
}
