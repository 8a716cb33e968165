// Package tickets has jobs of a PostgreSQL database begin by tickets: rows of River's table, of which each is taken by one of the cores. It
// knows nothing of jobs: its user writes the tickets, says which may be taken, and finds out by itself whether one still counts.
package tickets

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// The queues of River in which tickets wait. Those of types with a limit have one of their own, so that many of them do not stand in the
// way of others.
const (
	Open    = "default"
	Limited = "limited"
)

const (
	// fetchCooldown is the shortest time between two looks for tickets.
	fetchCooldown = 5 * time.Millisecond
	// retention is how long tickets are kept that have done their work.
	retention = 10 * time.Minute
	// rescueAfter is when River takes a ticket for lost that a worker has. The user notices that much sooner.
	rescueAfter = 30 * 24 * time.Hour
	// takenFor is for how long a ticket that was taken counts as a job that is about to begin.
	takenFor = 15 * time.Second
)

// unusedIndexes are those of River that only a search for tickets would need. Each write of a ticket would pay for them.
var unusedIndexes = []string{"river_job_args_index", "river_job_metadata_index", "river_job_kind"}

// keptIndexes are those that River rebuilds now and then.
var keptIndexes = []string{"river_job_pkey", "river_job_prioritized_fetching_index", "river_job_state_and_finalized_at_index", "river_job_unique_idx"}

// Prepare makes or upgrades the tables of River.
func Prepare(ctx context.Context, pool *pgxpool.Pool) error {
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return fmt.Errorf("prepare the tables of tickets: %w", err)
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return fmt.Errorf("prepare the tables of tickets: %w", err)
	}
	if _, err := pool.Exec(ctx, "DROP INDEX IF EXISTS "+strings.Join(unusedIndexes, ", ")); err != nil {
		return fmt.Errorf("prepare the tables of tickets: %w", err)
	}
	return nil
}

// Ticket is what the arguments of a ticket say. Its kind in the table is the type of the job.
type Ticket struct {
	// Job is the id of the job, Claims how often it has begun before.
	Job    string `json:"job"`
	Claims int64  `json:"claims"`
	Type   string `json:"type"`
}

// Kind implements river.JobArgs, for the one worker that there is.
func (Ticket) Kind() string { return "ticket" }

// Config is what a client needs.
type Config struct {
	Pool   *pgxpool.Pool
	Logger hclog.Logger
	// ID is unique among all clients.
	ID string
	// Workers is how many jobs run at once.
	Workers int
	// Poll is how often the table is looked at without being woken.
	Poll time.Duration
	// Kinds returns the types of which a ticket may be taken: those without a limit and those with one, and of how many of each of the latter
	// there is room. taken counts those of the latter that were taken and not yet Begun.
	Kinds func(taken map[string]int) (open, limited []string, room int)
	// Run runs the job of a ticket to its end. begun is called when the job counts as running. An again of at least 0 has the ticket taken
	// once more after that time.
	Run func(t Ticket, begun func()) (again time.Duration)
}

// Client takes tickets and runs their jobs.
type Client struct {
	cfg   Config
	river *river.Client[pgx.Tx]
	woken chan struct{}

	mu sync.Mutex
	// taken are the tickets of limited types whose jobs have not begun.
	taken map[int64]takenTicket
}

// takenTicket is a ticket that River has taken.
type takenTicket struct {
	kind string
	at   time.Time
}

// New returns a client that does nothing before Start.
func New(cfg Config) *Client {
	return &Client{cfg: cfg, woken: make(chan struct{}, 1), taken: map[int64]takenTicket{}}
}

// Wake looks for tickets at once. It never waits.
func (c *Client) Wake() {
	select {
	case c.woken <- struct{}{}:
	default:
	}
}

// Start begins to work. It may be called once.
func (c *Client) Start(ctx context.Context) error {
	workers := river.NewWorkers()
	river.AddWorker(workers, &worker{client: c})
	client, err := river.NewClient(&driver{Driver: riverpgxv5.New(c.cfg.Pool), client: c}, &river.Config{
		ID: c.cfg.ID, Logger: slog.New(logHandler{log: c.cfg.Logger}), Workers: workers,
		Queues:        map[string]river.QueueConfig{Open: {MaxWorkers: c.cfg.Workers}},
		FetchCooldown: min(fetchCooldown, c.cfg.Poll), FetchPollInterval: c.cfg.Poll, JobTimeout: -1, MaxAttempts: 1,
		RescueStuckJobsAfter: rescueAfter, CompletedJobRetentionPeriod: retention, CancelledJobRetentionPeriod: retention,
		DiscardedJobRetentionPeriod: retention, ReindexerIndexNames: keptIndexes,
	})
	if err != nil {
		return fmt.Errorf("make the client for tickets: %w", err)
	}
	if err := client.Start(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("start to work on tickets: %w", err)
	}
	c.river = client
	return nil
}

// Stop takes no more tickets and waits for the running jobs until ctx ends.
func (c *Client) Stop(ctx context.Context) error {
	if c.river == nil {
		return nil
	}
	if err := c.river.Stop(ctx); err != nil {
		return fmt.Errorf("end the work on tickets: %w", err)
	}
	return nil
}

// takenKinds counts the tickets of limited types whose jobs have not begun. Some may never: they count for a while only.
func (c *Client) takenKinds() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	busy := map[string]int{}
	for id, t := range c.taken {
		if time.Since(t.at) > takenFor {
			delete(c.taken, id)
			continue
		}
		busy[t.kind]++
	}
	return busy
}

// noteTaken notes a ticket of a limited type.
func (c *Client) noteTaken(id int64, kind string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.taken[id] = takenTicket{kind: kind, at: time.Now()}
}

// dropTaken forgets a ticket whose job has begun, or will not.
func (c *Client) dropTaken(id int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.taken, id)
}
