package candidate

import (
	"slices"
	"sync"
	"time"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
	"github.com/patchbay-dev/patchbay/core/services/containers/image"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
)

const (
	inferWorkers = 4
	// inferTags is how many tags of a repository are looked at for one digest at most.
	inferTags = 200
	// RingSize is how many events can be replayed.
	RingSize = 2000
	// EventsTopic is where they are published.
	EventsTopic = "containers.inference"
	// inferPause is the least time between two reports of progress of a task.
	inferPause = 250 * time.Millisecond
	// digestsFor is for how long it is remembered what a tag that looks final stands for.
	digestsFor = 24 * time.Hour
)

// InferenceTask is a task that waits or runs.
type InferenceTask struct {
	Key          string             `json:"key"`
	ImageRepo    string             `json:"imageRepo"`
	Digest       string             `json:"digest"`
	HostPlatform string             `json:"hostPlatform"`
	Status       string             `json:"status" enum:"queued,running"`
	Reason       string             `json:"reason"`
	EnqueuedAt   api.Time           `json:"enqueuedAt"`
	StartedAt    api.Time           `json:"startedAt,omitempty,omitzero"`
	UpdatedAt    api.Time           `json:"updatedAt"`
	Progress     *InferenceProgress `json:"progress,omitempty"`
}

// InferenceProgress is how many tags were looked at.
type InferenceProgress struct {
	Current int `json:"current"`
	Total   int `json:"total"`
	Percent int `json:"percent"`
}

// InferenceEvent is one event of the stream.
type InferenceEvent struct {
	ID   int64          `json:"-"`
	Type string         `json:"type" enum:"task_enqueued,task_started,task_progress,task_finished,gc_ran,resync_required"`
	Task *InferenceTask `json:"task,omitempty"`
	// Resolved is the version that a finished task has found.
	Resolved string   `json:"resolvedTag,omitempty"`
	Error    string   `json:"error,omitempty"`
	TS       api.Time `json:"ts"`
}

// inference finds the versions behind digests: which tags of a repository stand for the same image.
type inference struct {
	base
	registries *registries

	mu    sync.Mutex
	tasks map[VersionKey]*inferTask
	queue []VersionKey
	wake  chan struct{}
	ring  []InferenceEvent
	last  int64
	gc    GCState
	// known is what tags stood for when they were asked last.
	known map[string]knownTag
	// failed is when a search ended with an error. It is not repeated for a while, however often pages ask for the version.
	failed map[VersionKey]time.Time
}

type knownTag struct {
	digest string
	at     time.Time
}

type inferTask struct {
	InferenceTask
	ref  image.Ref
	done chan struct{}
}

func newInference(b base, r *registries) *inference {
	return &inference{base: b, registries: r, tasks: map[VersionKey]*inferTask{}, wake: make(chan struct{}, 1), known: map[string]knownTag{},
		failed: map[VersionKey]time.Time{}}
}

// FindVersion has the version behind a digest found out, and returns how that stands: "queued", "running", or "failed"
// shortly after a failure.
func (f *inference) FindVersion(ref image.Ref, digest string, platform record.Platform, reason string) (status string) {
	if digest == "" {
		return ""
	}
	key := VersionKey{ref.Repo(), digest, platform.String()}
	f.mu.Lock()
	if t := f.tasks[key]; t != nil {
		status = t.Status
		f.mu.Unlock()
		return status
	}
	if at, ok := f.failed[key]; ok && reason != "force" && f.cfg.Now().Sub(at) < FailedFor {
		f.mu.Unlock()
		return "failed"
	}
	now := api.TimeOf(f.cfg.Now())
	t := &inferTask{ref: ref, done: make(chan struct{}), InferenceTask: InferenceTask{
		Key: key.String(), ImageRepo: key.Repo, Digest: digest, HostPlatform: key.Platform, Status: "queued", Reason: reason, EnqueuedAt: now,
		UpdatedAt: now,
	}}
	f.tasks[key] = t
	f.queue = append(f.queue, key)
	f.publishEvent("task_enqueued", t, "", nil)
	f.mu.Unlock()
	select {
	case f.wake <- struct{}{}:
	default:
	}
	return "queued"
}

// publishEvent publishes an event about a task. The caller holds the mutex.
func (f *inference) publishEvent(kind string, t *inferTask, resolved string, failed error) {
	f.last++
	ev := InferenceEvent{ID: f.last, Type: kind, Resolved: resolved, TS: api.TimeOf(f.cfg.Now())}
	if t != nil {
		task := t.InferenceTask
		ev.Task = &task
	}
	if failed != nil {
		ev.Error = failure.Text(failed)
	}
	if f.ring = append(f.ring, ev); len(f.ring) > RingSize {
		f.ring = slices.Clone(f.ring[len(f.ring)-RingSize:])
	}
	f.cfg.Events.Publish(EventsTopic, event.Event{Seq: ev.ID, Type: kind, Data: ev})
}

// VersionEvents returns the events of the search for versions after an id. It returns false if some of them are no longer kept.
func (f *inference) VersionEvents(after int64) (events []InferenceEvent, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if after > f.last || len(f.ring) > 0 && after < f.ring[0].ID-1 {
		return nil, false
	}
	for _, ev := range f.ring {
		if ev.ID > after {
			events = append(events, ev)
		}
	}
	return events, true
}

// LastVersionEvent returns the id of the last event of the search for versions.
func (f *inference) LastVersionEvent() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

// maxFailed is how many searches that failed are remembered.
const maxFailed = 10_000

// GCState is what the removal of old snapshots did last.
type GCState struct {
	RetentionDays   int      `json:"retentionDays"`
	IntervalSeconds int      `json:"intervalSeconds"`
	LastRunAt       api.Time `json:"lastRunAt,omitempty,omitzero"`
	LastDeleted     int64    `json:"lastDeleted"`
	LastDurationMS  int64    `json:"lastDurationMs"`
	LastError       string   `json:"lastError,omitempty"`
}
