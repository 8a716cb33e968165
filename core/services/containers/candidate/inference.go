package candidate

import (
	"context"
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
	// snapshotFor is for how long a snapshot holds, snapshotKeep when it is
	// deleted.
	snapshotFor = 7 * 24 * time.Hour
	// FailedFor is the pause after a snapshot that failed whole.
	FailedFor    = 10 * time.Minute
	snapshotKeep = 30 * 24 * time.Hour
	// RingSize is how many events can be replayed.
	RingSize = 2000
	// EventsTopic is where they are published.
	EventsTopic = "containers.inference"
	// inferPause is the least time between two reports of progress of a task.
	inferPause = 250 * time.Millisecond
	// digestsFor is for how long it is remembered what a tag that looks final stands for.
	digestsFor = 24 * time.Hour
)

// VersionKey is the subject of a task.
type VersionKey struct{ Repo, Digest, Platform string }

// String returns the key of a task.
func (k VersionKey) String() string { return k.Repo + "@" + k.Digest + "#" + k.Platform }

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
	s *Candidates

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

func newInference(s *Candidates) *inference {
	return &inference{s: s, tasks: map[VersionKey]*inferTask{}, wake: make(chan struct{}, 1), known: map[string]knownTag{},
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
	if at, ok := f.failed[key]; ok && reason != "force" && f.s.cfg.Now().Sub(at) < FailedFor {
		f.mu.Unlock()
		return "failed"
	}
	now := api.TimeOf(f.s.cfg.Now())
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
	ev := InferenceEvent{ID: f.last, Type: kind, Resolved: resolved, TS: api.TimeOf(f.s.cfg.Now())}
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
	f.s.cfg.Events.Publish(EventsTopic, event.Event{Seq: ev.ID, Type: kind, Data: ev})
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

// FindVersions runs the search for the versions behind digests until ctx ends.
func (f *inference) FindVersions(ctx context.Context) {
	slots := make(chan struct{}, inferWorkers)
	var workers sync.WaitGroup
	defer workers.Wait()
	for {
		key, t := f.nextTask()
		if t == nil {
			select {
			case <-ctx.Done():
				return
			case <-f.wake:
			}
			continue
		}
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		workers.Go(func() {
			defer func() { <-slots }()
			f.runTask(ctx, key, t)
		})
	}
}

func (f *inference) nextTask() (VersionKey, *inferTask) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.queue) == 0 {
		return VersionKey{}, nil
	}
	key := f.queue[0]
	f.queue = f.queue[1:]
	return key, f.tasks[key]
}

func (f *inference) runTask(ctx context.Context, key VersionKey, t *inferTask) {
	f.mu.Lock()
	t.Status, t.StartedAt = "running", api.TimeOf(f.s.cfg.Now())
	t.UpdatedAt = t.StartedAt
	f.publishEvent("task_started", t, "", nil)
	f.mu.Unlock()
	snap, err := f.inferVersion(ctx, key, t)
	if err == nil {
		err = f.s.store.storeSnapshot(ctx, snap)
	}
	resolved := ""
	if snap != nil {
		resolved = snap.Version
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rememberFailure(key, err != nil && ctx.Err() == nil)
	delete(f.tasks, key)
	t.UpdatedAt = api.TimeOf(f.s.cfg.Now())
	f.publishEvent("task_finished", t, resolved, err)
	close(t.done)
}

// maxFailed is how many searches that failed are remembered.
const maxFailed = 10_000

// rememberFailure stores whether the last task of key failed. The caller holds the mutex.
func (f *inference) rememberFailure(key VersionKey, failed bool) {
	if !failed {
		delete(f.failed, key)
		return
	}
	if len(f.failed) >= maxFailed {
		clear(f.failed)
	}
	f.failed[key] = f.s.cfg.Now()
}
