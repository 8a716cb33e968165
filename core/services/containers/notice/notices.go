// Package notice tells people what jobs have found and done, and remembers which new versions they were told of.
package notice

import (
	"context"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/notify/channels"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/news"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Events tells what the end of a job is news about.
type Events interface {
	// NotificationKind returns the kind of notification that the end of a job makes, or "" for none.
	NotificationKind(job *queue.Job) string
	// FinishedUpdate returns what an update has done.
	FinishedUpdate(ctx context.Context, job *queue.Job) (news.JobEvent, error)
	// WebhookAnomaly returns the webhooks that an audit has found out of order.
	WebhookAnomaly(job *queue.Job) (news.AnomalyEvent, error)
	// FoundVersions returns what a check has found.
	FoundVersions(job *queue.Job) (FoundVersions, error)
}

// FoundVersions are the new versions that a check has found.
type FoundVersions struct {
	// Reason and Scope are those of the check.
	Reason, Scope   string
	ServicesChecked int
	Versions        []FoundVersion
}

// FoundVersion is a new version of one service.
type FoundVersion struct{ ServiceID, CurrentDigest, CandidateTag, CandidateDigest string }

// Services tells what is known of services now.
type Services interface {
	// AwaitVersions waits until the versions behind digests are known, or are not looked for, or most is over.
	AwaitVersions(ctx context.Context, digests []string, most time.Duration)
	// CurrentVersions returns what is found of the services that still have that candidate, unless they are archived or ignore it.
	CurrentVersions(ctx context.Context, found []FoundVersion) ([]CurrentVersion, error)
	// SomeServices returns at most limit services.
	SomeServices(ctx context.Context, limit int) ([]news.Service, error)
}

// CurrentVersion is a service that has a new version, and its name in notifications.
type CurrentVersion struct {
	Service record.Service
	Named   news.Service
}

// Settings are those that texts and links depend on.
type Settings struct{ Locale, BaseURL string }

// Config is what the room needs.
type Config struct {
	// Service is the name that messages are sent for, and Version the core's own.
	Service, Version string
	Store            *record.Store
	Sender           *notify.Sender
	Channels         *channels.Manager
	Events           Events
	Services         Services
	Settings         func() Settings
	// PublicBaseURL returns what stands before links, or "".
	PublicBaseURL func(context.Context) string
	Log           hclog.Logger
	Now           func() time.Time
}

// Notices tells people what jobs have found and done. It implements notify.Owner and channels.Host.
type Notices struct {
	cfg   Config
	store *noticeStore
	queue *queue.Queue
}

// New returns the room, and makes it the owner of the service's messages. It works once it has a queue.
func New(cfg Config) *Notices {
	n := &Notices{cfg: cfg, store: &noticeStore{cfg.Store}}
	cfg.Sender.Serve(cfg.Service, n)
	cfg.Channels.SetHost(cfg.Service, n)
	return n
}

// Use gives the room the queue.
func (n *Notices) Use(q *queue.Queue) { n.queue = q }

// keepTime is for how long it is remembered which new versions were told.
const keepTime = 180 * 24 * time.Hour

// DeleteOld deletes the notices that are old, and not about the present candidate of a service.
func (n *Notices) DeleteOld(ctx context.Context) error {
	return n.store.purgeNotices(ctx, n.cfg.Now().Add(-keepTime).UnixMilli())
}

// DropOutdated ends the pending notices whose version is no longer the candidate of its service.
func (n *Notices) DropOutdated(ctx context.Context) error {
	return n.store.dropOutdatedNotices(ctx, store.Millis(n.cfg.Now()))
}
