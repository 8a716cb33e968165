// Package translate has a translator translate and summarise releases and notifications: each text once for everybody who asks, in
// batches, within a budget for each day, and durably.
package translate

import (
	"context"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/translator"
)

// JobType is the type of the jobs that translate.
const JobType = "releases.translate"

// Submitter queues jobs.
type Submitter interface {
	// Submit queues a job, or returns the unfinished one with its dedup key.
	Submit(ctx context.Context, sub queue.Submission) (job queue.Job, reused bool, err error)
}

// Settings say what translates, and what it may take.
type Settings struct {
	// Translator is nil if none is configured.
	Translator translator.Translator
	// DailyTokens and DailyCostMicros are the budget of a day in UTC; 0 means without a limit.
	DailyTokens, DailyCostMicros int64
	// BatchTokens is about how many tokens of text one call has.
	BatchTokens int64
}

// Config is what Translations need.
type Config struct {
	Store    *store.Store
	Queue    Submitter
	Settings func() Settings
	// Compare returns what changed in a release since the one before, "" if that is not known.
	Compare func(ctx context.Context, releaseID int64) (string, error)
	Logger  hclog.Logger
	Now     func() time.Time
	// Cluster has the nodes that share the database; nil is this process alone.
	Cluster *cluster.Cluster
	// Noted is called with each call of a model after it was noted; nil for nothing.
	Noted func(Call)
}

// Translations translate. Their methods may be called from several goroutines.
type Translations struct {
	cfg   Config
	store *store.Store
	ids   *store.IDs
	bus   *event.Bus
	relay *cluster.Relay
	*budget
}

// New returns Translations. The migrations of the service have run.
func New(cfg Config) *Translations {
	bus := event.NewBus()
	return &Translations{cfg: cfg, store: cfg.Store, ids: store.NewIDs(cfg.Now), bus: bus, relay: cfg.Cluster.Relay("translations", bus),
		budget: &budget{store: cfg.Store, cluster: cfg.Cluster, log: cfg.Logger, now: cfg.Now}}
}

// Close ends all waiting.
func (t *Translations) Close() { t.bus.Close() }

// Handler returns what runs the jobs.
func (t *Translations) Handler() queue.Handler {
	return queue.Handler{Type: JobType, Safe: true, Limit: maxBatchesAtOnce, Timeout: jobTimeout, Run: t.runJob, Finished: t.ReleaseWorks}
}

const (
	// maxBatchesAtOnce is how many batches are translated at once.
	maxBatchesAtOnce = 3
	jobTimeout       = 30 * time.Minute
)
