// Package webhook keeps the code host's package webhooks in line with what people have chosen, and takes the deliveries that start checks.
package webhook

import (
	"context"
	"time"

	"golang.org/x/time/rate"

	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/core/store"
)

const (
	// hookChangePause is the pause between two changes of webhooks, as code hosts ask for, after the first hookBurst.
	hookChangePause = time.Second
	hookBurst       = 5
)

// Webhooks keeps the code host's package webhooks in line with what people have chosen.
type Webhooks struct {
	cfg   Config
	store *hookStore
	queue *work.Queue
	// pace bounds how fast webhooks are made, changed and deleted at the code host.
	pace *rate.Limiter
}

// DeliveryJobs makes the jobs that a delivery calls for, or finds those that are under way.
type DeliveryJobs interface {
	CheckPublished(ctx context.Context, svc *record.Service, from *work.DeliverySource) (queue.Job, bool, error)
	DiscoverPublished(ctx context.Context, from *work.DeliverySource) (queue.Job, bool, error)
}

// Config is what the room needs.
type Config struct {
	Store   *record.Store
	Keyring *secret.Keyring
	// CodeHost returns the code host in use, nil without one; PackageHosts the registry hosts of its packages.
	CodeHost     func() client.CodeHost
	PackageHosts func() []string
	Jobs         DeliveryJobs
	// Locks serialise the changes of one repository's webhook.
	Locks *work.KeyedMutex
	// Relay is where events of deliveries are published, and Live the bus of this node that has them.
	Relay *cluster.Relay
	Live  *event.Bus
	Now   func() time.Time
}

// New returns the room. It works once it has the queue.
func New(cfg Config, q *work.Queue) *Webhooks {
	return &Webhooks{cfg: cfg, store: &hookStore{cfg.Store}, queue: q, pace: rate.NewLimiter(rate.Every(hookChangePause), hookBurst)}
}

// CodeHostConfigured reports whether there is a code host whose package webhooks can be used.
func (w *Webhooks) CodeHostConfigured() bool { return w.cfg.CodeHost() != nil }

// SetPace bounds how fast webhooks are changed at the code host. It is called before anything else.
func (w *Webhooks) SetPace(pace *rate.Limiter) { w.pace = pace }

func (w *Webhooks) now() int64 { return store.Millis(w.cfg.Now()) }

func hookJobTypes() []string {
	return []string{work.JobHook, work.JobHookSyncAll, work.JobHookSyncRepo}
}

// Payload is the payload of JobHook, JobHookSyncAll and JobHookSyncRepo.
type Payload struct {
	work.Subject
	Op string `json:"op,omitempty"`
	// Repo is the only repository; "" for all that wait for the job.
	Repo string `json:"repo,omitempty"`
}
