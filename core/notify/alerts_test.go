package notify_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/store"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

func TestRaiseAndResolve(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		e := newEnv(t, st)
		ctx, channels := context.Background(), []string{"notify.ops"}
		raise := func(key string) bool {
			t.Helper()
			a := alert("a")
			a.DedupKey = key
			told, err := e.sender.Raise(ctx, a, time.Hour, channels)
			if err != nil {
				t.Fatal(err)
			}
			return told
		}
		resolve := func(key string) bool {
			t.Helper()
			a := alert("over")
			a.DedupKey = key
			told, err := e.sender.Resolve(ctx, a, channels)
			if err != nil {
				t.Fatal(err)
			}
			return told
		}
		steps := []bool{resolve("x"), raise("x"), raise("x"), raise("y")}
		e.ahead.Store(int64(59 * time.Minute))
		steps = append(steps, raise("x"))
		e.start() // another process knows as much
		steps = append(steps, raise("x"))
		e.ahead.Store(int64(61 * time.Minute))
		steps = append(steps, raise("x"), resolve("x"), resolve("x"), raise("x"))
		want := []bool{false, true, false, true, false, false, true, true, false, true}
		if fmt.Sprint(steps) != fmt.Sprint(want) {
			t.Errorf("told %v, want %v", steps, want)
		}
		keys, err := e.sender.Active(ctx, "search")
		if err != nil || fmt.Sprint(keys) != "[x y]" {
			t.Errorf("active %v, %v", keys, err)
		}
		e.settle(5)
		resolved := 0
		for _, s := range e.ops.Sent() {
			if strings.Contains(string(s.Notification.Payload), `"status":"resolved"`) {
				resolved++
				if s.Notification.Severity != sdk.Success {
					t.Errorf("the end of an alert has the severity %s", s.Notification.Severity)
				}
			}
		}
		if resolved != 1 {
			t.Errorf("%d notices say resolved", resolved)
		}
	})
}
