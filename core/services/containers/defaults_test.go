package containers

import (
	"context"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"github.com/patchbay-dev/patchbay/core/services/containers/webhook"
)

// TestChecksAreDailyByDefault: at a time that an instance draws once.
func TestChecksAreDailyByDefault(t *testing.T) {
	forEach(t, func(_ *testing.T, e *env) {
		ctx := context.Background()
		e.must(e.svc.pickCheckMinute(ctx))
		first, err := e.svc.systemSettings(ctx)
		e.must(err)
		check := first.Schedules.UpdateCheck
		if check == nil || !check.Enabled {
			e.Fatalf("%+v", check)
		}
		e.svc.checkMinute.Store(-1)
		e.must(e.svc.pickCheckMinute(ctx))
		second, err := e.svc.systemSettings(ctx)
		e.must(err)
		if second.Schedules.UpdateCheck.Cron != check.Cron {
			e.Errorf("the time was %s and is %s", check.Cron, second.Schedules.UpdateCheck.Cron)
		}
	})
}

// TestWebhooksAreMadeAtABoundedPace has room for two changes within the time of the call.
func TestWebhooksAreMadeAtABoundedPace(t *testing.T) {
	hookDialects(t, func(e *hookEnv) {
		e.setUp("t/a", "t/b", "t/c")
		e.svc.Webhooks.SetPace(rate.NewLimiter(rate.Every(time.Hour), 2))
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		results, err := e.svc.Webhooks.SyncHooks(ctx, webhook.SyncRequest{})
		hooks := 0
		for _, name := range []string{"t/a", "t/b", "t/c"} {
			list, err := e.host.Hooks(context.Background(), hookPAT, name)
			if err != nil {
				e.Fatal(err)
			}
			hooks += len(list)
		}
		if hooks != 2 {
			e.Errorf("%d webhooks: %+v, %v", hooks, results, err)
		}
	})
}
