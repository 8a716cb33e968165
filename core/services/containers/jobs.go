package containers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/queue"
)

// jobPrefix stands before the service's types in the queue; the API shows them without.
const jobPrefix = "containers."

// The types of jobs that the API shows.
const (
	JobCheck            = "check"
	JobDiscovery        = "discovery"
	JobRuntimeScan      = "runtime_scan"
	JobUpdate           = "update"
	JobRollback         = "rollback"
	JobServiceLifecycle = "service_lifecycle"
	JobStackLifecycle   = "stack_lifecycle"
	JobRestore          = "backup_restore"
	JobHook             = "host_packages_webhook"
	JobHookSyncAll      = "host_packages_webhook_sync_all"
	JobHookSyncRepo     = "host_packages_webhook_sync_repo"
)

// JobTypes are all of them.
func JobTypes() []string {
	return []string{JobCheck, JobDiscovery, JobRuntimeScan, JobUpdate, JobRollback, JobServiceLifecycle, JobStackLifecycle, JobRestore, JobHook, JobHookSyncAll, JobHookSyncRepo}
}

// QueueType returns a type of job as the queue has it.
func QueueType(name string) string { return jobPrefix + name }

// queueTypes are names as the queue has them.
func queueTypes(types []string) []string {
	out := make([]string, len(types))
	for i, t := range types {
		out[i] = QueueType(t)
	}
	return out
}

// The housekeeping that the API does not show.
const (
	jobHousekeeping = jobPrefix + "housekeeping"
	jobReport       = jobPrefix + "deploy_check"
)

// What a job is about.
const (
	ScopeAll     = "all"
	ScopeStack   = "stack"
	ScopeService = "service"
)

// Why a job was made.
const (
	ReasonUI       = "ui"
	ReasonManual   = "manual"
	ReasonWebhook  = "webhook"
	ReasonSchedule = "schedule"
)

// Who makes jobs without a person.
const (
	actorSchedule = "schedule"
	actorWebhook  = "webhook"
	actorCodeHost = "code_host"
)

// jobSpec is the payload of the service's jobs; each type uses what it needs.
type jobSpec struct {
	Scope     string   `json:"scope,omitempty"`
	StackID   string   `json:"stackId,omitempty"`
	ServiceID string   `json:"serviceId,omitempty"`
	Reason    string   `json:"reason,omitempty"`
	Mode      string   `json:"mode,omitempty"`
	Targets   []Target `json:"targets,omitempty"`
	// Images go from service to the image that the project named when the job was made.
	Images            map[string]string `json:"images,omitempty"`
	AllowArchMismatch bool              `json:"allowArchMismatch,omitempty"`
	AllowDrift        bool              `json:"allowDrift,omitempty"`
	BackupMode        string            `json:"backupMode,omitempty"`
	Action            string            `json:"action,omitempty"`
	ChangeID          string            `json:"changeId,omitempty"`
	BackupIDs         []string          `json:"backupIds,omitempty"`
	Repo              string            `json:"repo,omitempty"`
	Op                string            `json:"op,omitempty"`
	Delivery          *deliverySource   `json:"delivery,omitempty"`
	Extra             map[string]string `json:"extra,omitempty"`
	// Resumes is the change that a job goes on with, which an earlier one has left because the engine did not come back.
	Resumes string `json:"resumes,omitempty"`
	// Ran are the services that ran when that earlier job began.
	Ran []string `json:"ran,omitempty"`
}

// deliverySource is the webhook that a job comes from, for its summary.
type deliverySource struct {
	DeliveryID        string   `json:"deliveryId"`
	Repo              string   `json:"repo,omitempty"`
	MatchedServiceIDs []string `json:"matchedServiceIds,omitempty"`
	FallbackReason    string   `json:"fallbackReason,omitempty"`
}

// submission is what a verb asks of the queue.
type submission struct {
	kind string
	spec jobSpec
	// key makes jobs of a type the same work; locks are what the job needs for itself.
	key   string
	locks []string
	// services and stacks are what the job is about, for filters.
	services, stacks []string
	actor            string
}

func serviceLock(id string) string { return "containers/service/" + id }

// ServiceTag returns the tag of the jobs that are about a service.
func ServiceTag(id string) string { return "service:" + id }

// StackTag returns the tag of the jobs that are about a stack.
func StackTag(id string) string { return "stack:" + id }

// submitJob queues a job, or returns the job of the same key that has not ended, and true.
func (s *Service) submitJob(ctx context.Context, sub submission) (queue.Job, bool, error) {
	if sub.actor == "" {
		sub.actor = auth.Caller(ctx)
	}
	var tags []string
	for _, id := range sub.services {
		tags = append(tags, ServiceTag(id))
	}
	for _, id := range sub.stacks {
		tags = append(tags, StackTag(id))
	}
	slices.Sort(tags)
	job, reused, err := s.queue.Submit(ctx, queue.Submission{
		Type: jobPrefix + sub.kind, DedupKey: sub.key, Locks: sub.locks, Tags: slices.Compact(tags), Payload: sub.spec, Actor: sub.actor,
	})
	httpd.NoteObject(ctx, job.ID)
	for _, id := range slices.Concat(sub.services, sub.stacks) {
		httpd.NoteObject(ctx, id)
	}
	return job, reused, err
}

// submitNew is submit for callers who want no other's job: the same work under way is a conflict.
func (s *Service) submitNew(ctx context.Context, sub submission) (string, error) {
	job, reused, err := s.submitJob(ctx, sub)
	if err != nil {
		return "", err
	}
	if reused {
		return "", fault.New(fault.Conflict, "The same work is queued or running already.").With("existingJobId", job.ID)
	}
	return job.ID, nil
}

// Jobs are the handlers of the service's work.
func (s *Service) Jobs() []queue.Handler {
	add := func(kind string, limit int, timeout time.Duration, run func(context.Context, *queue.Job, jobSpec, *report) (any, error)) queue.Handler {
		return queue.Handler{
			Type: jobPrefix + kind, Safe: true, Limit: limit, Timeout: timeout,
			Run: func(ctx context.Context, job *queue.Job, p queue.Progress) (any, error) {
				var spec jobSpec
				if err := job.Decode(&spec); err != nil {
					return nil, fmt.Errorf("read the job: %w", err)
				}
				r := newReport(s, job, p)
				out, err := run(ctx, job, spec, r)
				r.endReport(ctx, err)
				return out, explainFailure(err)
			},
			Finished: s.jobEnded,
		}
	}
	// changing is add for jobs that run compose.
	changing := func(kind string, limit int, timeout time.Duration, run func(context.Context, *queue.Job, jobSpec, *report) (any, error)) queue.Handler {
		return add(kind, limit, timeout, func(ctx context.Context, job *queue.Job, spec jobSpec, r *report) (any, error) {
			defer s.watchOutages(ctx)()
			r.outages = s.outages.Load()
			return run(ctx, job, spec, r)
		})
	}
	settles := func(h queue.Handler) queue.Handler {
		h.Settles = true
		return h
	}
	return []queue.Handler{
		add(JobDiscovery, 1, 30*time.Minute, s.runDiscovery),
		add(JobCheck, 2, 2*time.Hour, s.runCheck),
		add(JobRuntimeScan, 1, 30*time.Minute, s.runRuntimeScan),
		settles(changing(JobUpdate, 3, 12*time.Hour, s.runUpdate)),
		settles(changing(JobRollback, 3, 2*time.Hour, s.runRollback)),
		changing(JobServiceLifecycle, 4, time.Hour, s.runLifecycle),
		changing(JobStackLifecycle, 2, time.Hour, s.runLifecycle),
		settles(changing(JobRestore, 1, 12*time.Hour, s.runRestore)),
		add(JobHook, 1, time.Hour, s.runHook),
		add(JobHookSyncAll, 1, 2*time.Hour, s.runHookSyncAll),
		add(JobHookSyncRepo, 5, 30*time.Minute, s.runHookSyncRepo),
		{Type: jobHousekeeping, Safe: true, Deletes: true, Limit: 1, Timeout: time.Hour, Run: s.purgeOldRecords},
		{
			// What cannot be announced within a few hours is no news any more.
			Type: jobAnnounce, Safe: true, Limit: 2, Timeout: 2 * time.Minute, MaxAttempts: 40, Run: s.runAnnounce,
		},
		{Type: jobReport, Safe: true, Limit: 1, Timeout: 5 * time.Minute, Run: s.runReport},
	}
}

// explainFailure returns err as an error whose message is meant for people.
func explainFailure(err error) error {
	var f *fault.Error
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	if errors.As(err, &f) && f.Code != fault.Internal && f.Code != fault.UpstreamUnavailable && f.Code != fault.PluginUnavailable {
		return err
	}
	if text := failureReason(err); text != "" && f != nil {
		return fault.Wrap(err, f.Code, "%s", text)
	}
	return err
}

// Schedules say when work is due that nobody asks for. People's own schedules are in the system settings; discovery and
// the scan of what runs go by themselves, without a job each.
func (s *Service) Schedules() []queue.Schedule {
	return []queue.Schedule{{Name: jobHousekeeping, Cron: "23 * * * *", Type: jobHousekeeping}}
}
