package containers

import (
	"context"
	"slices"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
)

// jobSubject is what a job is about, and why it was made. The payloads of all jobs have it.
type jobSubject struct {
	Scope     string `json:"scope,omitempty"`
	StackID   string `json:"stackId,omitempty"`
	ServiceID string `json:"serviceId,omitempty"`
	Reason    string `json:"reason,omitempty"`
}

// selectsService reports whether a job is about a service.
func (j *jobSubject) selectsService(svc *record.Service) bool {
	switch j.Scope {
	case ScopeStack:
		return svc.StackID == j.StackID
	case ScopeService:
		return svc.ID == j.ServiceID
	}
	return true
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
	// payload is one of the types that are named after their jobs.
	payload any
	// key makes jobs of a type the same work; locks are what the job needs for itself.
	key   string
	locks []string
	// services and stacks are what the job is about, for filters.
	services, stacks []string
	// actor asks for the job; "" is the caller of the context.
	actor string
}

func serviceLock(id string) string { return "containers/service/" + id }

// ServiceTag returns the tag of the jobs that are about a service.
func ServiceTag(id string) string { return "service:" + id }

// StackTag returns the tag of the jobs that are about a stack.
func StackTag(id string) string { return "stack:" + id }

// jobQueue is the queue as the service uses it: with its types, locks and tags.
type jobQueue struct{ *queue.Queue }

// submitJob queues a job, or returns the job of the same key that has not ended, and true.
func (q *jobQueue) submitJob(ctx context.Context, sub submission) (queue.Job, bool, error) {
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
	job, reused, err := q.Submit(ctx, queue.Submission{
		Type: jobPrefix + sub.kind, DedupKey: sub.key, Locks: sub.locks, Tags: slices.Compact(tags), Payload: sub.payload, Actor: sub.actor,
	})
	httpd.NoteObject(ctx, job.ID)
	for _, id := range slices.Concat(sub.services, sub.stacks) {
		httpd.NoteObject(ctx, id)
	}
	return job, reused, err
}

// submitNew is submitJob for callers who want no other's job: the same work under way is a conflict.
func (q *jobQueue) submitNew(ctx context.Context, sub submission) (string, error) {
	job, reused, err := q.submitJob(ctx, sub)
	if err != nil {
		return "", err
	}
	if reused {
		return "", fault.New(fault.Conflict, "The same work is queued or running already.").With("existingJobId", job.ID)
	}
	return job.ID, nil
}

// addLocks adds those that are not in list.
func addLocks(list, more []string) []string {
	for _, lock := range more {
		if !slices.Contains(list, lock) {
			list = append(list, lock)
		}
	}
	return list
}
