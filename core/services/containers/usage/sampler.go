package usage

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

const (
	// TopicSamples is where new samples are published, followed by the service's id.
	TopicSamples = "containers.samples/"
	// watchPause is the pause between two samples while somebody watches.
	watchPause = time.Second
	// breakAfter is the number of failures in a row after which the engine is not asked for a pause, from breakMin doubling up
	// to breakMax.
	breakAfter = 2
	breakMin   = 5 * time.Second
	breakMax   = time.Minute
)

// Usage measures all services of the host by the clock, with one list and one call for the samples.
type Usage struct {
	cfg   Config
	store *sampleStore
	poked chan struct{}
	// storing says that samples are stored here.
	storing atomic.Bool

	mu       sync.Mutex
	failures int
	watchers map[string]int
}

// Engine is what the room asks of the container engine.
type Engine interface {
	Stats(ctx context.Context, containerIDs []string) ([]engine.Sample, error)
}

// Containers tells whose containers run.
type Containers interface {
	// RunningContainers returns the ids of the managed services, by those of their containers that run.
	RunningContainers(ctx context.Context) (map[string]string, error)
}

// Config is what the room needs.
type Config struct {
	Store      *record.Store
	Containers Containers
	// Engine returns the engine in use.
	Engine func() Engine
	// Settings returns what people have set.
	Settings func(context.Context) (MonitorSettings, error)
	// Live is where samples are published as they are taken.
	Live *event.Bus
	Log  hclog.Logger
	Now  func() time.Time
}

// New returns what measures the services once Run is called.
func New(cfg Config) *Usage {
	return &Usage{cfg: cfg, store: &sampleStore{cfg.Store}, poked: make(chan struct{}, 1), watchers: map[string]int{}}
}

// Wake makes it read the settings and the watchers again.
func (u *Usage) Wake() {
	select {
	case u.poked <- struct{}{}:
	default:
	}
}

// Watch registers a live watcher of a service. The function that it returns removes it.
func (u *Usage) Watch(id string) (leave func()) {
	u.mu.Lock()
	u.watchers[id]++
	u.mu.Unlock()
	u.Wake()
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		if u.watchers[id]--; u.watchers[id] <= 0 {
			delete(u.watchers, id)
		}
	}
}

// StoreUntil has Run store samples until ctx ends. Of the nodes that have the same engine one does.
func (u *Usage) StoreUntil(ctx context.Context) {
	u.storing.Store(true)
	u.Wake()
	<-ctx.Done()
	u.storing.Store(false)
}

// Run takes samples until ctx ends, for watchers and for StoreUntil. Late ticks are skipped.
func (u *Usage) Run(ctx context.Context) {
	var stored time.Time
	for {
		set, err := u.cfg.Settings(ctx)
		pause := time.Minute
		if err == nil && set.Enabled {
			every := time.Duration(set.SampleInterval) * time.Second
			pause = u.nextPause(every)
			if began := time.Now(); u.isDue(began, stored, every) {
				keep := u.mustStore(began, stored, every)
				if u.takeSample(ctx, keep) && keep {
					stored = began
				}
				pause = max(u.nextPause(every)-time.Since(began), 10*time.Millisecond)
			}
		}
		t := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			t.Stop()
			return
		case <-t.C:
		case <-u.poked:
			t.Stop()
		}
	}
}

// isDue reports whether a sample is to be taken, for watchers or for the store, which got the last one at stored.
func (u *Usage) isDue(now, stored time.Time, every time.Duration) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.watchers) > 0 || u.mustStore(now, stored, every)
}

// mustStore reports whether the store is to get a sample, of which it got the last one at stored.
func (u *Usage) mustStore(now, stored time.Time, every time.Duration) bool {
	return u.storing.Load() && now.Sub(stored) >= every-watchPause/2
}

// nextPause returns the time until the next sample. It is shorter while there are watchers and longer while the engine does
// not answer.
func (u *Usage) nextPause(every time.Duration) time.Duration {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.failures >= breakAfter {
		return min(breakMin<<min(u.failures-breakAfter, 8), breakMax)
	}
	if len(u.watchers) > 0 {
		return min(every, watchPause)
	}
	return every
}

// takeSample samples all containers and publishes the samples. It stores them if keep is true, and reports whether it
// succeeded.
func (u *Usage) takeSample(ctx context.Context, keep bool) bool {
	rows, err := u.measureAll(ctx)
	u.mu.Lock()
	if err != nil {
		u.failures++
		if u.failures == breakAfter {
			u.cfg.Log.Warn("cannot sample resource usage", "error", err)
		}
		u.mu.Unlock()
		return false
	}
	u.failures = 0
	u.mu.Unlock()
	for _, r := range rows {
		u.cfg.Live.Publish(TopicSamples+r.ServiceID, event.Event{Seq: r.At, Type: "resource_usage_tick", Data: r.toSample()})
	}
	if !keep || len(rows) == 0 {
		return true
	}
	if err := u.store.addSamples(ctx, rows); err != nil && ctx.Err() == nil {
		u.cfg.Log.Warn("cannot store resource samples", "error", err)
		return false
	}
	return true
}

func (u *Usage) measureAll(ctx context.Context) ([]sampleRecord, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	owner, err := u.cfg.Containers.RunningContainers(ctx)
	if err != nil || len(owner) == 0 {
		return nil, err
	}
	samples, err := u.cfg.Engine().Stats(ctx, slices.Sorted(maps.Keys(owner)))
	if err != nil {
		return nil, fmt.Errorf("sample the containers: %w", err)
	}
	at := store.Millis(u.cfg.Now())
	sums := map[string]*sampleRecord{}
	for _, x := range samples {
		id := owner[x.ContainerID]
		if id == "" {
			continue
		}
		if sums[id] == nil {
			sums[id] = &sampleRecord{ServiceID: id, At: at}
		}
		sums[id].addSample(x)
	}
	var out []sampleRecord
	for _, r := range sums {
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b sampleRecord) int { return cmp.Compare(a.ServiceID, b.ServiceID) })
	return out, nil
}
