// Package queue runs jobs: work that outlives a request. The database is the truth (jobs, their events, the locks they
// hold, the schedules); this package is the only one that writes those tables.
//
// Submitting, the check for conflicts and the locks are one transaction; so are the final state, the last event and the
// release of the locks. A claim has an owner and a heartbeat: what a dead process left behind is queued again if its
// handler is safe to repeat, and fails with the reason "interrupted" otherwise. Ids are never used again.
package queue

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.opentelemetry.io/otel/trace"

	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/queue/tickets"
	"github.com/patchbay-dev/patchbay/core/store"
)

//go:embed migrations
var migrations embed.FS

// Migrations is the queue's schema.
func Migrations() store.Migrations {
	m := store.EmbeddedMigrations("queue", migrations,
		store.StoredTime{Table: "jobs", Column: "run_at", Where: "state = 'queued'", Longest: 7 * 24 * time.Hour},
		store.StoredTime{Table: "jobs", Column: "heartbeat_at", Where: "state = 'running'"})
	m.Prepare = tickets.Prepare
	return m
}

// Config is what a queue needs. Zero values mean the defaults given.
type Config struct {
	// Store is migrated. If it holds the exclusive lock, jobs that other owners left running are recovered at start
	// without waiting for their heartbeat.
	Store *store.Store
	// Cluster is what this core is a node of; nil for a core that is alone. If other nodes share the database, a job belongs to the node in
	// its epoch: see Queue.RecoverNode.
	Cluster *cluster.Cluster
	// Bus gets every event after commit, on the topic TopicOf(job id).
	Bus *event.Bus
	// Logger may be nil.
	Logger hclog.Logger
	// Handlers by type; jobs of other types stay queued.
	Handlers []Handler
	// Schedules submit jobs by the clock.
	Schedules []Schedule
	// NoSchedules has no schedule submit a job: they are kept, and due as ever once another queue runs them.
	NoSchedules bool
	// Held reports whether no job may begin here at present; nil for never. Those that run go on.
	Held func() bool
	// Workers is how many jobs run at once (8): long ones wait for others more than they compute.
	Workers int
	// Retention is how long finished jobs and their events are kept (30 days).
	Retention time.Duration
	// Heartbeat is how often a running job's owner is confirmed (5 s). After four times as long without, by the clock of the database, it
	// counts as dead.
	Heartbeat time.Duration
	// Poll is how often the table is looked at without being woken (1 s): for jobs of other processes.
	Poll time.Duration
	// Grace is how long Stop lets running jobs end by themselves (10 s).
	Grace time.Duration
	// Now is the clock (time.Now). Where nodes share the database, that of the database counts instead.
	Now func() time.Time
	// Tracer begins a span for each run of a job; nil traces none.
	Tracer trace.Tracer
	// Ended is called after each job's end has been stored; nil for nothing.
	Ended func(Job)
}

func (c *Config) setDefaults() {
	defaultInt(&c.Workers, 8)
	defaultDuration(&c.Retention, 30*24*time.Hour)
	defaultDuration(&c.Heartbeat, 5*time.Second)
	defaultDuration(&c.Poll, time.Second)
	defaultDuration(&c.Grace, 10*time.Second)
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = hclog.NewNullLogger()
	}
}

func defaultInt(v *int, d int) {
	if *v <= 0 {
		*v = d
	}
}

func defaultDuration(v *time.Duration, d time.Duration) {
	if *v <= 0 {
		*v = d
	}
}

// dispatcher has the due jobs of a database begin in this process. Each job that begins has changed its row before, which no other process
// can do then.
type dispatcher interface {
	// ticket has a queued job begin when it is due, once the transaction in ctx has committed.
	ticket(ctx context.Context, r *row) error
	// insert stores a job with its first event and has it begin when it is due, once the transaction in ctx has committed; without one, at
	// once. It returns false if there is one with the same dedup key.
	insert(ctx context.Context, r *row) (bool, error)
	// endSucceeded ends a job that has succeeded and whose handler writes nothing at the end. It returns ErrLost if the job is not this
	// run's any more.
	endSucceeded(ctx context.Context, r *run, result string) error
	// wake looks for due jobs at once. It never waits.
	wake()
	// start begins to work. After Queue.claiming has ended, no more jobs begin.
	start(ctx context.Context) error
	// stop ends what start has begun, after the last job.
	stop(ctx context.Context)
}

// Queue is the job queue of one database. Submit, Cancel and the reading methods work without Start.
type Queue struct {
	cfg   Config
	store *store.Store
	bus   *event.Bus
	relay *cluster.Relay
	log   hclog.Logger
	ids   *store.IDs
	// processOwner is the owner of jobs of a core that is alone, and unique among processes.
	processOwner string
	handlers     map[string]*Handler
	schedules    []*schedule // under mu; replaced, never changed

	claiming context.Context // ends when Stop begins: no more claims
	endClaim context.CancelFunc
	keeping  context.Context // ends when the last job is over: no more housekeeping
	endKeep  context.CancelFunc
	runs     context.Context // the parent of every handler's context
	abort    context.CancelCauseFunc
	loops    sync.WaitGroup
	keepers  sync.WaitGroup
	feed     *feed
	dispatch dispatcher

	mu      sync.Mutex
	started bool
	running map[string]*run
	// beginnings are the jobs that are about to run.
	beginnings map[*beginning]struct{}
	idle       sync.Cond // on mu: running became smaller
}

// New checks the configuration and makes a queue. It starts nothing.
func New(cfg Config) (*Queue, error) {
	cfg.setDefaults()
	if cfg.Store == nil || cfg.Bus == nil {
		return nil, errors.New("make the queue: it needs a store and a bus")
	}
	ids := store.NewIDs(cfg.Now)
	q := &Queue{
		cfg: cfg, store: cfg.Store, bus: cfg.Bus, relay: cfg.Cluster.Relay(relayName, cfg.Bus), log: cfg.Logger, ids: ids,
		processOwner: ids.New(fmt.Sprintf("pid%d", os.Getpid())),
		handlers:     map[string]*Handler{}, running: map[string]*run{}, beginnings: map[*beginning]struct{}{},
	}
	q.idle.L = &q.mu
	q.feed = &feed{queue: q, bus: event.NewBus()}
	q.dispatch = newDispatcher(q)
	q.claiming, q.endClaim = context.WithCancel(context.Background())
	// The bookkeeping of jobs goes on while the disk is full, so that those that delete can run.
	q.keeping, q.endKeep = context.WithCancel(store.Essential(context.Background()))
	q.runs, q.abort = context.WithCancelCause(context.Background())
	if err := q.Register(cfg.Handlers, cfg.Schedules); err != nil {
		return nil, err
	}
	return q, nil
}

// Register adds handlers and schedules to those of the configuration. It must not be called after Start.
func (q *Queue) Register(handlers []Handler, schedules []Schedule) error {
	for _, h := range handlers {
		if err := h.validate(); err != nil {
			return err
		}
		if q.handlers[h.Type] != nil {
			return fmt.Errorf("register the handler %q: it is there already", h.Type)
		}
		q.handlers[h.Type] = &h
	}
	return q.addSchedules(schedules)
}

// Types returns the types of jobs that there are handlers for, sorted.
func (q *Queue) Types() []string { return slices.Sorted(maps.Keys(q.handlers)) }

// Start recovers what a former process left behind and begins to work. It may be called once.
func (q *Queue) Start(ctx context.Context) error {
	q.mu.Lock()
	again := q.started
	q.started = true
	q.mu.Unlock()
	if again {
		return errors.New("start the queue: it was started before")
	}
	if err := recoverAtStart(ctx, q); err != nil {
		return fmt.Errorf("start the queue: %w", err)
	}
	if err := q.initSchedules(ctx); err != nil {
		return fmt.Errorf("start the queue: %w", err)
	}
	q.keepers.Go(q.runHeartbeat)
	q.keepers.Go(q.runRetention)
	if sharesDatabase(q) {
		q.keepers.Go(func() { followNodes(q) })
	}
	if err := q.dispatch.start(ctx); err != nil {
		return fmt.Errorf("start the queue: %w", err)
	}
	if !q.cfg.NoSchedules {
		q.loops.Go(q.runSchedules)
		if sharesDatabase(q) {
			q.loops.Go(func() { followSchedules(q) })
		}
	}
	return nil
}

// Stop claims no more jobs, lets running ones end for Config.Grace (or two thirds of the time that ctx has), then cancels
// their contexts (ErrStopping) and waits for them until ctx ends. Safe jobs that were cancelled so are put back, others
// fail with the reason "interrupted". It returns an error that names the jobs which did not end in time; they are
// recovered at the next start.
func (q *Queue) Stop(ctx context.Context) error {
	q.mu.Lock()
	q.endClaim()
	q.mu.Unlock()
	q.loops.Wait()
	graceful, cancel := context.WithTimeout(ctx, q.gracePeriod(ctx))
	defer cancel()
	if q.waitIdle(graceful) != nil {
		q.abort(ErrStopping)
	}
	err := q.waitIdle(ctx)
	q.abort(ErrStopping)
	q.dispatch.stop(ctx)
	q.endKeep()
	q.keepers.Wait()
	return err
}

// gracePeriod returns how long Stop waits for running jobs. It leaves them some of the time that ctx has for what
// they do after their contexts end.
func (q *Queue) gracePeriod(ctx context.Context) time.Duration {
	if deadline, ok := ctx.Deadline(); ok {
		return min(q.cfg.Grace, time.Until(deadline)*2/3)
	}
	return q.cfg.Grace
}

// waitIdle waits until no job runs or ctx ends. Its error names the jobs that still run.
func (q *Queue) waitIdle(ctx context.Context) error {
	wake := context.AfterFunc(ctx, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.idle.Broadcast()
	})
	defer wake()
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.running) > 0 && ctx.Err() == nil {
		q.idle.Wait()
	}
	if len(q.running) == 0 {
		return nil
	}
	var ids []string
	for id := range q.running {
		ids = append(ids, id)
	}
	return fmt.Errorf("stop the queue: jobs still run: %v", ids)
}

// currentTime is the time by which jobs and schedules are due: that of the database where nodes share it.
func (q *Queue) currentTime() time.Time {
	if sharesDatabase(q) {
		return q.cfg.Cluster.Now()
	}
	return q.cfg.Now()
}

func (q *Queue) nowMillis() int64 { return store.Millis(q.currentTime()) }
