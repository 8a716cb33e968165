package containers

import (
	"context"
	"strconv"
	"sync"
	"testing"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/webhook"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
)

// TestDeliveriesBesideChecks has people ask for checks of the very services that deliveries are about.
func TestDeliveriesBesideChecks(t *testing.T) {
	hookDialects(t, func(e *hookEnv) {
		e.setUp("team/app")
		images := make([]string, 8)
		for i := range images {
			images[i] = hookImages + "/team/app:" + strconv.Itoa(i)
		}
		ids := e.manage(images...)
		ctx := context.Background()
		var all sync.WaitGroup
		for w := range 3 {
			all.Go(func() {
				for i := range 12 {
					in := &webhook.Incoming{ID: strconv.Itoa(w) + "-" + strconv.Itoa(i), Event: codehost.EventPackage,
						Hook: &codehost.Webhook{Action: "published", Owner: "team", FullName: "team/app"}}
					if out, err := e.svc.Inbox.TakeDelivery(ctx, in); err != nil || len(out.Jobs) != len(ids) {
						t.Errorf("%+v %v", out, err)
					}
				}
			})
			all.Go(func() {
				for i := range 40 {
					_, err := e.svc.Check(ctx, project.ScanRequest{Scope: work.ScopeService, ServiceID: ids[(i*3+w)%len(ids)]})
					if err != nil && fault.CodeOf(err) != fault.Conflict {
						t.Error(err)
					}
				}
			})
			all.Go(func() {
				for range 40 {
					for _, j := range e.jobs(work.JobCheck) {
						if j.State == queue.Queued {
							if _, err := e.queue.Cancel(ctx, j.ID); err != nil && fault.CodeOf(err) != fault.Conflict {
								t.Error(err)
							}
						}
					}
				}
			})
		}
		all.Wait()
	})
}
