package auth_test

import (
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/auth/limit"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
)

// TestLimitsOfNodes: tries at one core count at the others, by the clock of the database.
func TestLimitsOfNodes(t *testing.T) {
	url := testkit.Postgres(t)
	open := func(now time.Time) *limit.Limiter {
		st := testkit.SharedStore(t, url, auth.Migrations())
		l, err := limit.New(limit.Config{Burst: 3, Every: time.Hour, Store: st, Name: "sign_in", Now: func() time.Time { return now }})
		testkit.Must(t, err)
		return l
	}
	// The clocks of machines differ.
	a, b := open(time.Now()), open(time.Now().Add(24*time.Hour))
	for i, l := range []*limit.Limiter{a, b, b} {
		if _, ok := l.Left("192.0.2.1"); !ok {
			t.Errorf("try %d: none is left", i+1)
		}
		if wait, ok := l.Take("192.0.2.1"); !ok || wait != 0 {
			t.Errorf("try %d: wait %s", i+1, wait)
		}
	}
	for _, l := range []*limit.Limiter{a, b} {
		if wait, ok := l.Take("192.0.2.1"); ok || wait < 59*time.Minute || wait > time.Hour {
			t.Errorf("a fourth try: %v, wait %s", ok, wait)
		}
		if _, ok := l.Left("192.0.2.1"); ok {
			t.Error("a fifth try is left")
		}
		if _, ok := l.Take("192.0.2.2"); !ok {
			t.Error("another client has to wait")
		}
	}
}
