package containers

import (
	"context"
	"slices"
	"time"

	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/deploycheck"
	"github.com/patchbay-dev/patchbay/core/services/containers/host"
	"github.com/patchbay-dev/patchbay/core/services/containers/notice"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

// jobHousekeeping is the housekeeping that the API does not show.
const jobHousekeeping = work.Prefix + "housekeeping"

// Jobs are the handlers of the service's work.
func (s *Service) Jobs() []queue.Handler {
	now := s.cfg.Now
	withSettling := func(h queue.Handler) queue.Handler {
		h.Settles = true
		return h
	}
	shown := []queue.Handler{
		work.NewHandler(now, work.JobDiscovery, 1, 30*time.Minute, s.RunDiscovery),
		work.NewHandler(now, work.JobCheck, 2, 2*time.Hour, s.RunCheck),
		work.NewHandler(now, work.JobRuntimeScan, 1, 30*time.Minute, s.RunRuntimeScan),
		withSettling(work.NewHandler(now, work.JobUpdate, 3, 12*time.Hour, host.WatchingOutages(s.Host, s.RunUpdate))),
		withSettling(work.NewHandler(now, work.JobRollback, 3, 2*time.Hour, host.WatchingOutages(s.Host, s.RunRollback))),
		work.NewHandler(now, work.JobServiceLifecycle, 4, time.Hour, host.WatchingOutages(s.Host, s.RunLifecycle)),
		work.NewHandler(now, work.JobStackLifecycle, 2, time.Hour, host.WatchingOutages(s.Host, s.RunLifecycle)),
		withSettling(work.NewHandler(now, work.JobRestore, 1, 12*time.Hour, host.WatchingOutages(s.Host, s.RunRestore))),
		work.NewHandler(now, work.JobHook, 1, time.Hour, s.Webhooks.RunHook),
		work.NewHandler(now, work.JobHookSyncAll, 1, 2*time.Hour, s.Webhooks.RunHookSyncAll),
		work.NewHandler(now, work.JobHookSyncRepo, 5, 30*time.Minute, s.Webhooks.RunHookSyncRepo),
	}
	for i := range shown {
		shown[i].Finished = s.jobEnded
	}
	return s.places.applyTo(append(shown,
		queue.Handler{Type: jobHousekeeping, Safe: true, Deletes: true, Limit: 1, Timeout: time.Hour, Run: s.purgeOldRecords},
		// What cannot be announced within a few hours is no news any more.
		queue.Handler{Type: notice.JobType, Safe: true, Limit: 2, Timeout: 2 * time.Minute, MaxAttempts: 40, Run: s.Notices.RunAnnounce},
		queue.Handler{Type: deploycheck.JobType, Safe: true, Limit: 1, Timeout: 5 * time.Minute, Run: s.RunReport}))
}

// Schedules say when work is due that nobody asks for. People's own schedules are in the system settings; discovery and
// the scan of what runs go by themselves, without a job each.
func (s *Service) Schedules() []queue.Schedule {
	return []queue.Schedule{{Name: jobHousekeeping, Cron: "23 * * * *", Type: jobHousekeeping}}
}

// jobEnded runs in the transaction in which a job ends: the changes that it has left open are ended, so is news whose version is no
// candidate any more, and a job is made that tells people.
func (s *Service) jobEnded(ctx context.Context, job queue.Job) error {
	if slices.Contains([]string{work.JobUpdate, work.JobRollback}, work.PublicType(job.Type)) {
		if err := s.EndAbandoned(ctx, &job); err != nil {
			s.log.Error("cannot close changes of a finished job; housekeeping retries", "job", job.ID, "error", err)
		}
	}
	if slices.Contains([]string{work.JobCheck, work.JobUpdate, work.JobRollback, work.JobDiscovery, work.JobRuntimeScan},
		work.PublicType(job.Type)) {
		// It is done again before anything is sent, and must not keep the announcement from being made.
		if err := s.Notices.DropOutdated(ctx); err != nil {
			s.log.Warn("cannot close old notices", "job", job.ID, "error", err)
		}
	}
	return s.Notices.Submit(ctx, &job)
}

// Housekeeping are the types of jobs, as the queue has them, that clean up or serve others.
func Housekeeping() []string { return []string{jobHousekeeping, deploycheck.JobType, notice.JobType} }
