package pages

import (
	"context"
	"time"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/notify/channels"
	service "github.com/patchbay-dev/patchbay/core/services/containers"
	"github.com/patchbay-dev/patchbay/core/services/containers/backup"
	"github.com/patchbay-dev/patchbay/core/services/containers/candidate"
	"github.com/patchbay-dev/patchbay/core/services/containers/change"
	"github.com/patchbay-dev/patchbay/core/services/containers/deploycheck"
	"github.com/patchbay-dev/patchbay/core/services/containers/drift"
	"github.com/patchbay-dev/patchbay/core/services/containers/image"
	"github.com/patchbay-dev/patchbay/core/services/containers/lifecycle"
	"github.com/patchbay-dev/patchbay/core/services/containers/notice"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/usage"
	"github.com/patchbay-dev/patchbay/core/services/containers/webhook"
)

// Stacks reads stacks and services.
type Stacks interface {
	Overview(ctx context.Context, archived string) ([]project.StackDetail, error)
	Stack(ctx context.Context, id string) (project.StackDetail, error)
	Service(ctx context.Context, id string) (project.ServiceDetail, project.StackItem, error)
	Outline(ctx context.Context, ids []string) (map[string]change.ServicePlan, error)
	ComposeTexts(ctx context.Context, stackID string) ([]project.ComposeText, error)
}

// Archive hides stacks and services that are not used any more, and shows them again.
type Archive interface {
	ArchiveStack(ctx context.Context, id string) error
	RestoreStack(ctx context.Context, id string) error
	ArchiveService(ctx context.Context, id string) error
	RestoreService(ctx context.Context, id string) error
	ArchiveProject(ctx context.Context, name string, archive bool) error
}

// Projects finds projects.
type Projects interface {
	ListProjects(ctx context.Context, archived string) ([]project.Project, error)
	AcceptMove(ctx context.Context, name string, workingDir string, files []string) (jobID string, err error)
	Discover(ctx context.Context) (string, error)
	DiscoveryInterval() time.Duration
	RuntimeScan(ctx context.Context, req project.ScanRequest) (string, error)
}

// Lifecycle starts and stops services.
type Lifecycle interface {
	ServiceLifecycle(ctx context.Context, id string) (lifecycle.ServiceLifecycle, error)
	StackLifecycle(ctx context.Context, id string) (lifecycle.StackLifecycle, error)
	ServiceAction(ctx context.Context, id string, action string) (string, error)
	StackAction(ctx context.Context, id string, action string) (string, error)
	Dependents(ctx context.Context, ids []string) (map[string][]change.Dependent, error)
}

// Output reads what containers write.
type Output interface {
	ServiceContainers(ctx context.Context, serviceID string) ([]project.ServiceContainer, error)
	ReadOutput(ctx context.Context, serviceID string, name string, count int, follow bool, send func(project.OutputLine) error) error
}

// Updates finds new versions and applies them.
type Updates interface {
	Check(ctx context.Context, req project.ScanRequest) (string, error)
	Update(ctx context.Context, req change.UpdateRequest) (string, error)
	UpdatePicked(ctx context.Context, req change.UpdateRequest) (out change.PickedUpdate, err error)
	Drift(ctx context.Context, ids []string) ([]drift.ServiceDrift, error)
	History(ctx context.Context, id string) ([]change.Change, error)
}

// Rollbacks brings former versions and data back.
type Rollbacks interface {
	ListBackups(ctx context.Context, serviceID string) ([]backup.Backup, error)
	RollbackTarget(ctx context.Context, id string) (change.RollbackTarget, error)
	Rollback(ctx context.Context, id string, allowDrift bool) (string, error)
	Restore(ctx context.Context, backupID string) (string, error)
}

// Jobs reads and cancels jobs.
type Jobs interface {
	ListJobs(ctx context.Context, f service.JobFilter) ([]service.Job, string, error)
	JobDetail(ctx context.Context, id string) (service.JobDetail, error)
	CancelJob(ctx context.Context, id string) (service.Job, error)
}

// Rules keeps the ignore rules.
type Rules interface {
	IgnoreRules(ctx context.Context, serviceID string) ([]candidate.IgnoreRule, error)
	AddIgnoreRule(ctx context.Context, r candidate.IgnoreRule) (string, error)
	DeleteIgnoreRule(ctx context.Context, id string) (deleted bool, err error)
}

// Versions tells the versions behind digests.
type Versions interface {
	InferenceOverview(ctx context.Context, q candidate.InferenceQuery) (candidate.InferenceOverview, error)
	RefreshInference(ctx context.Context, serviceID string, digest string) (image.Ref, string, error)
}

// Settings keeps what people set.
type Settings interface {
	SystemSettings(ctx context.Context) (service.SystemSettings, error)
	ChangeSettings(ctx context.Context, c service.SettingsChange) error
	ChangeService(ctx context.Context, id string, c project.ServiceChange) error
	ComposeCommand() string
	SelfUpgradeURL() string
}

// DeployCheck keeps the deploy check.
type DeployCheck interface {
	DeployReport(ctx context.Context) (*deploycheck.Report, error)
	RefreshReport(ctx context.Context) (string, error)
	Welcome(ctx context.Context) (out service.Welcome, err error)
	SetWelcome(ctx context.Context, never bool) error
}

// Service is what the pages ask of the service itself.
type Service interface {
	Stacks
	Archive
	Projects
	Lifecycle
	Output
	Updates
	Rollbacks
	Jobs
	Rules
	Versions
	Settings
	DeployCheck
	// Channels returns the settings of channels.
	Channels() *channels.Manager
}

// Inbox shows deliveries.
type Inbox interface {
	Deliveries(ctx context.Context, f webhook.DeliveryFilter, page int, perPage int) (webhook.DeliveryPage, error)
	LiveDeliveries() *event.Subscription
}

// Notices writes notifications.
type Notices interface {
	Preview(ctx context.Context, kind string) (notice.Preview, error)
	PreviewCard(ctx context.Context, kind string) ([]byte, error)
	PublicPages(ctx context.Context) string
}

// Usage tells what services use.
type Usage interface {
	History(ctx context.Context, id string, window string) (usage.ResourceHistory, error)
	Overview(ctx context.Context) (usage.ResourceOverview, error)
}

// HookChoice chooses the repositories whose webhooks are kept.
type HookChoice interface {
	AddTarget(ctx context.Context, input string) (t webhook.HookTarget, added int, err error)
	BulkSelect(ctx context.Context, f webhook.RepoFilter, selected bool, dryRun bool) (affected int, err error)
	DeleteRepo(ctx context.Context, full string) (jobID string, err error)
	RemoveTarget(ctx context.Context, input string) error
	SelectRepo(ctx context.Context, full string, selected bool) (jobID string, err error)
}

// HookSync brings webhooks in line.
type HookSync interface {
	SyncAllHooks(ctx context.Context) (webhook.SyncJob, error)
	SyncHooks(ctx context.Context, req webhook.SyncRequest) ([]webhook.SyncResult, error)
	SyncRepoHook(ctx context.Context, full string) (out webhook.SyncJob, err error)
}

// HookState tells and changes what is set for webhooks.
type HookState interface {
	ChangeHookSettings(ctx context.Context, c webhook.HookChange) error
	CodeHostConfigured() bool
	HookOverview(ctx context.Context) (out webhook.HookOverview, err error)
	HookSettings(ctx context.Context) (webhook.HookSettings, error)
	TrackedRepos(ctx context.Context, f webhook.RepoFilter, page int, perPage int) (webhook.RepoPage, error)
}

// Hooks keeps the package webhooks.
type Hooks interface {
	HookChoice
	HookSync
	HookState
}

// Config is what the pages need.
type Config struct {
	Service Service
	Inbox   Inbox
	Notices Notices
	Usage   Usage
	Hooks   Hooks
	// Bus is the one that the queue publishes on.
	Bus *event.Bus
	// Base is the path at which the service is mounted.
	Base string
}
