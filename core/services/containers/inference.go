package containers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/services/containers/image"
	"github.com/patchbay-dev/patchbay/core/services/containers/version"
	"github.com/patchbay-dev/patchbay/sdk/registry"
)

const (
	inferWorkers = 4
	// inferTags is how many tags of a repository are looked at for one digest at most.
	inferTags = 200
	// snapshotFor is for how long a snapshot holds, failedFor the pause after one that failed whole, snapshotKeep when it is
	// deleted.
	snapshotFor  = 7 * 24 * time.Hour
	failedFor    = 10 * time.Minute
	snapshotKeep = 30 * 24 * time.Hour
	// ringSize is how many events can be replayed.
	ringSize = 2000
	// topicInference is where they are published.
	topicInference = "containers.inference"
	// inferPause is the least time between two reports of progress of a task.
	inferPause = 250 * time.Millisecond
	// digestsFor is for how long it is remembered what a tag that looks final stands for.
	digestsFor = 24 * time.Hour
)

// inferKey is the subject of a task.
type inferKey struct{ repo, digest, platform string }

func (k inferKey) String() string { return k.repo + "@" + k.digest + "#" + k.platform }

// InferenceTask is a task that waits or runs.
type InferenceTask struct {
	Key          string             `json:"key"`
	ImageRepo    string             `json:"imageRepo"`
	Digest       string             `json:"digest"`
	HostPlatform string             `json:"hostPlatform"`
	Status       string             `json:"status" enum:"queued,running"`
	Reason       string             `json:"reason"`
	EnqueuedAt   string             `json:"enqueuedAt" format:"date-time"`
	StartedAt    string             `json:"startedAt,omitempty" format:"date-time"`
	UpdatedAt    string             `json:"updatedAt" format:"date-time"`
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
	Resolved string `json:"resolvedTag,omitempty"`
	Error    string `json:"error,omitempty"`
	TS       string `json:"ts" format:"date-time"`
}

// inference finds the versions behind digests: which tags of a repository stand for the same image.
type inference struct {
	s *Service

	mu    sync.Mutex
	tasks map[inferKey]*inferTask
	queue []inferKey
	wake  chan struct{}
	ring  []InferenceEvent
	last  int64
	gc    GCState
	// known is what tags stood for when they were asked last.
	known map[string]knownTag
}

type knownTag struct {
	digest, platform string
	at               time.Time
}

type inferTask struct {
	InferenceTask
	ref  image.Ref
	done chan struct{}
}

func newInference(s *Service) *inference {
	return &inference{s: s, tasks: map[inferKey]*inferTask{}, wake: make(chan struct{}, 1), known: map[string]knownTag{}}
}

// want queues a task unless there is one already, and tells its state: "running" or "force" after research, "queued" for a new one.
func (f *inference) want(ref image.Ref, digest string, platform Platform, reason string) (status string) {
	if digest == "" {
		return ""
	}
	key := inferKey{ref.Repo(), digest, platform.String()}
	f.mu.Lock()
	if t := f.tasks[key]; t != nil {
		status = t.Status
		f.mu.Unlock()
		return status
	}
	now := formatTime(f.s.cfg.Now())
	t := &inferTask{ref: ref, done: make(chan struct{}), InferenceTask: InferenceTask{
		Key: key.String(), ImageRepo: key.repo, Digest: digest, HostPlatform: key.platform, Status: "queued", Reason: reason, EnqueuedAt: now, UpdatedAt: now,
	}}
	f.tasks[key] = t
	f.queue = append(f.queue, key)
	f.publish("task_enqueued", t, "", nil)
	f.mu.Unlock()
	select {
	case f.wake <- struct{}{}:
	default:
	}
	return "queued"
}

// publish needs the mutex.
func (f *inference) publish(kind string, t *inferTask, resolved string, failure error) {
	f.last++
	ev := InferenceEvent{ID: f.last, Type: kind, Resolved: resolved, TS: formatTime(f.s.cfg.Now())}
	if t != nil {
		task := t.InferenceTask
		ev.Task = &task
	}
	if failure != nil {
		ev.Error = reason(failure)
	}
	if f.ring = append(f.ring, ev); len(f.ring) > ringSize {
		f.ring = slices.Clone(f.ring[len(f.ring)-ringSize:])
	}
	f.s.live.Publish(topicInference, event.Event{Seq: ev.ID, Type: kind, Data: ev})
}

// since are the events after a number; ok is false if some of them are no longer kept.
func (f *inference) since(after int64) (events []InferenceEvent, ok bool) {
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

func (f *inference) lastID() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

// run works on the tasks until ctx ends.
func (f *inference) run(ctx context.Context) {
	slots := make(chan struct{}, inferWorkers)
	var workers sync.WaitGroup
	defer workers.Wait()
	for {
		key, t := f.next()
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
			f.work(ctx, key, t)
		})
	}
}

func (f *inference) next() (inferKey, *inferTask) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.queue) == 0 {
		return inferKey{}, nil
	}
	key := f.queue[0]
	f.queue = f.queue[1:]
	return key, f.tasks[key]
}

func (f *inference) work(ctx context.Context, key inferKey, t *inferTask) {
	f.mu.Lock()
	t.Status, t.StartedAt = "running", formatTime(f.s.cfg.Now())
	t.UpdatedAt = t.StartedAt
	f.publish("task_started", t, "", nil)
	f.mu.Unlock()
	snap, err := f.infer(ctx, key, t)
	if err == nil {
		err = f.s.keepSnapshot(ctx, snap)
	}
	resolved := ""
	if snap != nil {
		resolved = snap.Version
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.tasks, key)
	t.UpdatedAt = formatTime(f.s.cfg.Now())
	f.publish("task_finished", t, resolved, err)
	close(t.done)
}

// Scan counts what was looked at for a snapshot.
type Scan struct {
	TagsTotal  int `json:"repoTagsTotal"`
	Considered int `json:"repoTagsConsidered"`
	OK         int `json:"manifestsOk"`
	Timeout    int `json:"manifestsTimeout"`
	Error      int `json:"manifestsError"`
}

// infer finds the tags that stand for a digest: the newest versions first, until one fits and its shorter spellings were
// looked at.
func (f *inference) infer(ctx context.Context, key inferKey, t *inferTask) (*snapshotRecord, error) {
	snap := &snapshotRecord{Repo: key.repo, Digest: key.digest, Platform: key.platform, Tags: []string{}, CheckedAt: f.s.now()}
	all, err := f.s.registry.tags(ctx, t.ref, tagsFor)
	if err != nil {
		return nil, err
	}
	platform, err := ParsePlatform(key.platform)
	if err != nil {
		return nil, err
	}
	tags := candidates(t.ref.Tag, all, inferTags)
	snap.Scan = Scan{TagsTotal: len(all), Considered: len(tags)}
	var last time.Time
	for i := 0; i < len(tags); i++ {
		fits, err := f.stands(ctx, t.ref.WithTag(tags[i]), t.ref, tags[i], key.digest, platform)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.Is(err, context.DeadlineExceeded):
			snap.Scan.Timeout++
		case err != nil:
			snap.Scan.Error++
			if _, busy := limited(err); busy || errors.Is(err, errCooling) {
				return nil, fmt.Errorf("ask what %s stands for: %w", tags[i], err)
			}
		default:
			snap.Scan.OK++
		}
		if fits {
			snap.Tags = append(snap.Tags, tags[i])
			if version.Strict(tags[i]) {
				tags = append(tags[:i+1], aliases(tags[i], tags[i+1:])...)
			}
		}
		if now := time.Now(); now.Sub(last) >= inferPause || i == len(tags)-1 {
			last = now
			f.progress(t, i+1, len(tags))
		}
	}
	snap.Failed = snap.Scan.Considered > 0 && snap.Scan.OK == 0
	snap.Version = version.Resolve(snap.Tags, t.ref.Tag)
	if snap.Version == "" && !snap.Failed {
		snap.Version = f.label(ctx, t.ref.WithDigest(key.digest), t.ref.Host, key.platform)
	}
	return snap, nil
}

func (f *inference) progress(t *inferTask, current, total int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t.Progress = &InferenceProgress{Current: current, Total: total, Percent: 100 * current / max(1, total)}
	t.UpdatedAt = formatTime(f.s.cfg.Now())
	f.publish("task_progress", t, "", nil)
}

// stands tells whether a tag stands for a digest, that of the index or of the platform within it.
func (f *inference) stands(ctx context.Context, name string, ref image.Ref, tag, digest string, platform Platform) (bool, error) {
	f.mu.Lock()
	k, ok := f.known[name]
	f.mu.Unlock()
	if !ok || f.s.cfg.Now().Sub(k.at) > digestsFor || !version.Strict(tag) {
		res, err := ask(ctx, f.s.registry, ref.Host, func(ctx context.Context, in client.Registry, a registry.Access) (*registry.Resolved, error) {
			return in.Resolve(ctx, registry.ResolveRequest{Access: a, Ref: name, Platform: platform.String(), DigestOnly: true})
		})
		if err != nil {
			return false, err
		}
		k = knownTag{digest: res.Digest, at: f.s.cfg.Now()}
		f.mu.Lock()
		if len(f.known) > 50000 {
			f.known = map[string]knownTag{}
		}
		f.known[name] = k
		f.mu.Unlock()
	}
	return k.digest == digest || f.s.runs(ctx, []string{digest}, k.digest), nil
}

// label is the version that the image names itself; empty if it does not, or cannot be read.
func (f *inference) label(ctx context.Context, ref, host, platform string) string {
	cfg, err := ask(ctx, f.s.registry, host, func(ctx context.Context, in client.Registry, a registry.Access) (*registry.ImageConfig, error) {
		return in.Config(ctx, registry.ConfigRequest{Access: a, Ref: ref, Platform: platform})
	})
	if err != nil {
		return ""
	}
	return strings.TrimSpace(cfg.Labels[labelVersion])
}

// wait waits until nothing is queued or running for some digests, at most for a time.
func (f *inference) wait(ctx context.Context, digests []string, most time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	for {
		var pending chan struct{}
		f.mu.Lock()
		for key, t := range f.tasks {
			if slices.Contains(digests, key.digest) {
				pending = t.done
			}
		}
		f.mu.Unlock()
		if pending == nil {
			return
		}
		select {
		case <-pending:
		case <-ctx.Done():
			return
		}
	}
}
