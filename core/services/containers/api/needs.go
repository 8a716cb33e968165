package api

import (
	"context"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/notify/channels"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers"
	"github.com/patchbay-dev/patchbay/core/services/containers/backup"
	"github.com/patchbay-dev/patchbay/core/services/containers/candidate"
	"github.com/patchbay-dev/patchbay/core/services/containers/change"
	"github.com/patchbay-dev/patchbay/core/services/containers/deploycheck"
	"github.com/patchbay-dev/patchbay/core/services/containers/image"
	"github.com/patchbay-dev/patchbay/core/services/containers/lifecycle"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/usage"
	"github.com/patchbay-dev/patchbay/core/services/containers/webhook"
)

// stacks reads and changes stacks and services.
type stacks interface {
	Stacks(ctx context.Context, archived string) ([]project.StackItem, error)
	Stack(ctx context.Context, id string) (project.StackDetail, error)
	Service(ctx context.Context, id string) (project.ServiceDetail, project.StackItem, error)
	ServiceSettings(ctx context.Context, id string) (project.ServiceSettings, error)
	ChangeService(ctx context.Context, id string, c project.ServiceChange) error
}

// archive hides stacks and services that are not used any more, and shows them again.
type archive interface {
	ArchiveStack(ctx context.Context, id string) error
	RestoreStack(ctx context.Context, id string) error
	ArchiveService(ctx context.Context, id string) error
	RestoreService(ctx context.Context, id string) error
}

// lifecycles starts and stops services, and tells what happened to them.
type lifecycles interface {
	ServiceLifecycle(ctx context.Context, id string) (lifecycle.ServiceLifecycle, error)
	StackLifecycle(ctx context.Context, id string) (lifecycle.StackLifecycle, error)
	ServiceAction(ctx context.Context, id, action string) (string, error)
	StackAction(ctx context.Context, id, action string) (string, error)
	History(ctx context.Context, id string) ([]change.Change, error)
}

// stackService is what the requests about stacks and services need.
type stackService interface {
	stacks
	archive
	lifecycles
}

// projects finds projects and what runs of them.
type projects interface {
	Discover(ctx context.Context) (string, error)
	ListProjects(ctx context.Context, archived string) ([]project.Project, error)
	ArchiveProject(ctx context.Context, name string, archive bool) error
	AcceptMove(ctx context.Context, name, workingDir string, files []string) (jobID string, err error)
	RuntimeScan(ctx context.Context, req project.ScanRequest) (string, error)
}

// updates finds new versions and applies them.
type updates interface {
	Check(ctx context.Context, req project.ScanRequest) (string, error)
	CheckFor(ctx context.Context, actor string, req project.ScanRequest) (job queue.Job, reused bool, err error)
	Update(ctx context.Context, req change.UpdateRequest) (string, error)
	UpdateFor(ctx context.Context, actor string, req change.UpdateRequest) (string, error)
}

// rollbacks brings former versions and data back.
type rollbacks interface {
	RollbackTarget(ctx context.Context, id string) (change.RollbackTarget, error)
	Rollback(ctx context.Context, id string, allowDrift bool) (string, error)
	ListBackups(ctx context.Context, serviceID string) ([]backup.Backup, error)
	Restore(ctx context.Context, backupID string) (string, error)
}

// jobs reads and cancels jobs.
type jobs interface {
	ListJobs(ctx context.Context, f containers.JobFilter) ([]containers.Job, string, error)
	FindJob(ctx context.Context, id string) (queue.Job, error)
	JobDetail(ctx context.Context, id string) (containers.JobDetail, error)
	CancelJob(ctx context.Context, id string) (containers.Job, error)
}

// versions tells the versions behind digests.
type versions interface {
	DigestTags(ctx context.Context, serviceID, asked string) (digest string, snap *candidate.Snapshot, err error)
	RefreshInference(ctx context.Context, serviceID, digest string) (image.Ref, string, error)
	InferenceOverview(ctx context.Context, q candidate.InferenceQuery) (candidate.InferenceOverview, error)
	LastVersionEvent() int64
	VersionEvents(after int64) ([]candidate.InferenceEvent, bool)
}

// workService is what the requests about checks, updates and jobs need.
type workService interface {
	projects
	updates
	rollbacks
	jobs
	versions
}

// rules keeps the ignore rules.
type rules interface {
	IgnoreRules(ctx context.Context, serviceID string) ([]candidate.IgnoreRule, error)
	AddIgnoreRule(ctx context.Context, r candidate.IgnoreRule) (string, error)
	DeleteIgnoreRule(ctx context.Context, id string) (deleted bool, err error)
}

// settings keeps what people set.
type settings interface {
	SystemSettings(ctx context.Context) (containers.SystemSettings, error)
	ChangeSettings(ctx context.Context, c containers.SettingsChange) error
	Welcome(ctx context.Context) (containers.Welcome, error)
	SetWelcome(ctx context.Context, never bool) error
}

// settingService is what the requests about settings need.
type settingService interface {
	rules
	settings
}

// resources tells what services use.
type resources interface {
	History(ctx context.Context, id, window string) (usage.ResourceHistory, error)
	Overview(ctx context.Context) (usage.ResourceOverview, error)
	// Watch has a service sampled more often until leave is called.
	Watch(id string) (leave func())
}

// reports makes the reports of the deploy check.
type reports interface {
	DeployReport(ctx context.Context) (*deploycheck.Report, error)
	RefreshReport(ctx context.Context) (string, error)
}

// service is what the other endpoints need of the service.
type service interface {
	workService
	reports
	CheckTriggerSecret(shown string) error
}

// events follows the events of jobs.
type events interface {
	LastEventID(ctx context.Context) (int64, error)
	FollowAll(ctx context.Context, after int64) (<-chan queue.Event, error)
	Follow(ctx context.Context, jobID string, after int64) (<-chan queue.Event, error)
}

// inbox takes and shows deliveries.
type inbox interface {
	Authenticate(ctx context.Context, in *webhook.Incoming, readBody func() ([]byte, error)) (enabled bool, err error)
	TakeDelivery(ctx context.Context, in *webhook.Incoming) (webhook.Outcome, error)
	LastEventID(ctx context.Context) (int64, error)
	EventsAfter(ctx context.Context, after int64) ([]webhook.DeliveryEvent, error)
}

// deliveries lists deliveries.
type deliveries interface {
	Deliveries(ctx context.Context, f webhook.DeliveryFilter, page, perPage int) (webhook.DeliveryPage, error)
}

// hookChoice chooses the repositories whose webhooks are kept.
type hookChoice interface {
	AddTarget(ctx context.Context, input string) (t webhook.HookTarget, added int, err error)
	RemoveTarget(ctx context.Context, input string) error
	SelectRepo(ctx context.Context, full string, selected bool) (jobID string, err error)
	BulkSelect(ctx context.Context, f webhook.RepoFilter, selected, dryRun bool) (affected int, err error)
	DeleteRepo(ctx context.Context, full string) (jobID string, err error)
}

// hookSync brings webhooks in line.
type hookSync interface {
	ResolveInput(ctx context.Context, input string) (webhook.RepoCandidates, error)
	SyncAllHooks(ctx context.Context) (webhook.SyncJob, error)
	SyncHooks(ctx context.Context, req webhook.SyncRequest) ([]webhook.SyncResult, error)
	SyncRepoHook(ctx context.Context, full string) (webhook.SyncJob, error)
}

// hookState tells and changes what is set for webhooks.
type hookState interface {
	HookSettings(ctx context.Context) (webhook.HookSettings, error)
	ChangeHookSettings(ctx context.Context, c webhook.HookChange) error
	HookOverview(ctx context.Context) (webhook.HookOverview, error)
	TrackedRepos(ctx context.Context, f webhook.RepoFilter, page, perPage int) (webhook.RepoPage, error)
}

// hooks keeps the package webhooks.
type hooks interface {
	hookChoice
	hookSync
	hookState
}

// config is what the endpoints share.
type config struct {
	service service
	queue   events
	inbox   inbox
	// live carries what the queue does not.
	live     *event.Bus
	channels *channels.Manager
	log      hclog.Logger
	now      func() time.Time
	version  string
}
