package containers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/patchbay-dev/patchbay/core/notify/channels"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/notice"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

// announce tells of a job that has ended, as its own job does, until that works.
func (e *env) announce(id string) error {
	raw, err := json.Marshal(map[string]string{"jobId": id})
	for range 5 {
		if err != nil {
			return err
		}
		if _, err = e.svc.Notices.RunAnnounce(context.Background(), &queue.Job{ID: "job_own", Type: notice.JobType, Payload: raw},
			nil); err == nil {
			return nil
		}
	}
	return err
}

// silent runs a scheduled check that is told nobody.
func (e *env) silent() string {
	e.Helper()
	off, on := false, true
	e.must(e.svc.Channels().Change(context.Background(),
		channels.NotificationChange{Events: channels.EventChange{"newVersion": &off}}))
	job, _, err := e.svc.CheckFor(context.Background(), work.ActorSchedule,
		project.ScanRequest{Scope: work.ScopeAll, Reason: work.ReasonSchedule})
	e.must(err)
	e.ended(job.ID)
	e.announced()
	e.must(e.svc.Channels().Change(context.Background(),
		channels.NotificationChange{Events: channels.EventChange{"newVersion": &on}}))
	return job.ID
}

// TestAnnouncedTwice has announcements that a crash repeats, and two checks that find the same at once.
func TestAnnouncedTwice(t *testing.T) {
	forEach(t, func(t *testing.T, e *env) {
		e.switched()
		e.inferring()
		e.threeNew()
		first, second := e.silent(), e.silent()
		var all sync.WaitGroup
		errs := make([]error, 6)
		for i := range errs {
			all.Go(func() { errs[i] = e.announce([]string{first, second}[i%2]) })
		}
		all.Wait()
		e.must(errors.Join(errs...))
		told := e.told(1)
		if len(told[0].Deliveries) != 5 {
			t.Errorf("%+v", told)
		}
		for _, name := range []string{"web", "db"} {
			if got := fmt.Sprint(e.notices(e.serviceOf("blog", name).ID)); got != "[sent]" {
				t.Errorf("%s: %s", name, got)
			}
		}
		job, _ := e.updated("blog", "web")
		e.announced()
		e.told(2)
		e.must(e.announce(job.ID))
		e.told(2)
	}, withChannels)
}
