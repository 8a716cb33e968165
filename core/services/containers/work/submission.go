package work

import (
	"context"
	"slices"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
)

// Subject is what a job is about, and why it was made. The payloads of all jobs have it.
type Subject struct {
	Scope     string `json:"scope,omitempty"`
	StackID   string `json:"stackId,omitempty"`
	ServiceID string `json:"serviceId,omitempty"`
	Reason    string `json:"reason,omitempty"`
}

// SelectsService reports whether a job is about a service.
func (j *Subject) SelectsService(svc *record.Service) bool {
	switch j.Scope {
	case ScopeStack:
		return svc.StackID == j.StackID
	case ScopeService:
		return svc.ID == j.ServiceID
	}
	return true
}

// DeliverySource is the webhook that a job comes from, for its summary.
type DeliverySource struct {
	DeliveryID        string   `json:"deliveryId"`
	Repo              string   `json:"repo,omitempty"`
	MatchedServiceIDs []string `json:"matchedServiceIds,omitempty"`
	FallbackReason    string   `json:"fallbackReason,omitempty"`
}

// Submission is what a verb asks of the queue.
type Submission struct {
	Kind string
	// Payload is one of the types that are named after their jobs.
	Payload any
	// Key makes jobs of a type the same work; locks are what the job needs for itself.
	Key   string
	Locks []string
	// Services and stacks are what the job is about, for filters.
	Services, Stacks []string
	// Actor asks for the job; "" is the caller of the context.
	Actor string
}

// ServiceLock returns the lock of what changes a service.
func ServiceLock(id string) string { return "containers/service/" + id }

// ServiceTag returns the tag of the jobs that are about a service.
func ServiceTag(id string) string { return "service:" + id }

// StackTag returns the tag of the jobs that are about a stack.
func StackTag(id string) string { return "stack:" + id }

// Queue is the queue as the service uses it: with its types, locks and tags.
type Queue struct{ *queue.Queue }

// SubmitJob queues a job, or returns the job of the same key that has not ended, and true.
func (q *Queue) SubmitJob(ctx context.Context, sub Submission) (queue.Job, bool, error) {
	if sub.Actor == "" {
		sub.Actor = auth.Caller(ctx)
	}
	var tags []string
	for _, id := range sub.Services {
		tags = append(tags, ServiceTag(id))
	}
	for _, id := range sub.Stacks {
		tags = append(tags, StackTag(id))
	}
	slices.Sort(tags)
	job, reused, err := q.Submit(ctx, queue.Submission{
		Type: Prefix + sub.Kind, DedupKey: sub.Key, Locks: sub.Locks, Tags: slices.Compact(tags), Payload: sub.Payload, Actor: sub.Actor,
	})
	httpd.NoteObject(ctx, job.ID)
	for _, id := range slices.Concat(sub.Services, sub.Stacks) {
		httpd.NoteObject(ctx, id)
	}
	return job, reused, err
}

// SubmitNew is SubmitJob for callers who want no other's job: the same work under way is a conflict.
func (q *Queue) SubmitNew(ctx context.Context, sub Submission) (string, error) {
	job, reused, err := q.SubmitJob(ctx, sub)
	if err != nil {
		return "", err
	}
	if reused {
		return "", fault.New(fault.Conflict, "The same job is already queued or running.").With("existingJobId", job.ID)
	}
	return job.ID, nil
}

// AddLocks adds those that are not in list.
func AddLocks(list, more []string) []string {
	for _, lock := range more {
		if !slices.Contains(list, lock) {
			list = append(list, lock)
		}
	}
	return list
}
