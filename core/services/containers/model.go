package containers

import (
	"github.com/patchbay-dev/patchbay/core/services/containers/image"
)

// ProjectStatus is what discovery thinks of a compose project.
type ProjectStatus string

// The states of a project.
const (
	ProjectActive  ProjectStatus = "active"
	ProjectStopped ProjectStatus = "stopped"
	ProjectMissing ProjectStatus = "missing"
	ProjectInvalid ProjectStatus = "invalid"
)

// LifecycleState is whether the containers of a service or stack run.
type LifecycleState string

// The lifecycle states.
const (
	StateRunning LifecycleState = "running"
	StateStopped LifecycleState = "stopped"
	StatePartial LifecycleState = "partial"
	StateUnknown LifecycleState = "unknown"
)

// Why something is archived.
const (
	archivedByUser  = "user_archive"
	archivedMissing = "auto_archive_compose_files_missing"
	archivedRemoved = "auto_archive_removed_from_compose"
)

// stackRecord is a compose project that is managed.
type stackRecord struct {
	ID             string `gorm:"primaryKey"`
	Project        string
	WorkingDir     string
	Files          []string `gorm:"serializer:json"`
	EnvFiles       []string `gorm:"serializer:json"`
	ArchivedAt     int64
	ArchivedReason string
	CreatedAt      int64 `gorm:"autoCreateTime:false"`
	UpdatedAt      int64 `gorm:"autoUpdateTime:false"`
	LastCheckAt    int64
}

// TableName implements gorm's Tabler.
func (stackRecord) TableName() string { return "containers_stacks" }

// projectRecord is a compose project as discovery saw it last.
type projectRecord struct {
	Project    string `gorm:"primaryKey"`
	Status     ProjectStatus
	StackID    string
	WorkingDir string
	Files      []string `gorm:"serializer:json"`
	LastSeenAt int64
	LastScanAt int64
	LastError  string
	Details    string
	// Move is what a person has to decide about; nil usually.
	Move           *ProjectMove `gorm:"serializer:json"`
	ArchivedAt     int64
	ArchivedReason string
}

// TableName implements gorm's Tabler.
func (projectRecord) TableName() string { return "containers_projects" }

// Mount is a volume or directory of a service that may be backed up.
type Mount struct {
	// Kind is docker-volume or bind-mount.
	Kind string `json:"kind"`
	// Name is that of a volume, or the path on the host.
	Name        string `json:"name"`
	Destination string `json:"destination"`
	ReadOnly    bool   `json:"readOnly,omitempty"`
}

// The kinds of mounts.
const (
	mountVolume = "docker-volume"
	mountBind   = "bind-mount"
)

// serviceRecord is a service of a stack.
type serviceRecord struct {
	ID      string `gorm:"primaryKey"`
	StackID string
	Name    string
	Image   string
	Repo    string
	Tag     string
	// Pinned is the digest that the files name; the service has its tag beside it, if they name one.
	Pinned string
	// Awaited tells that another service waits for its end with success; Ended how a service that does not run has ended: endedWell, endedOtherwise
	// or "" where nobody has looked.
	Awaited bool
	Ended   string
	// Built tells that the files say how to build the image.
	Built    bool
	Mounts   []Mount  `gorm:"serializer:json"`
	Profiles []string `gorm:"serializer:json"`
	State    LifecycleState
	// What runs: the digest in the service's repository, the id of the image, or why the digest is not known.
	RuntimeDigest  string
	RuntimeImage   string
	RuntimeError   string
	RuntimeVersion string
	// What the registry has under the service's tag, if that is something else.
	CandidateDigest  string
	CandidateTag     string
	CandidateMatch   string
	CandidateArch    []string `gorm:"serializer:json"`
	CandidateVersion string
	CandidateSince   int64
	// TagDigest is what the registry had under the tag when it was asked last.
	TagDigest string
	NewerTags []string `gorm:"serializer:json"`
	// Generation grows with each update and rollback, so that a check that began before does not overwrite them.
	Generation     int64
	CheckedAt      int64
	CheckError     string
	CheckReason    string
	AutoRollback   bool
	BackupTargets  backupTargets `gorm:"serializer:json"`
	RepoURL        string
	HealthTimeout  int64
	MinAge         int64
	ArchivedAt     int64
	ArchivedReason string
	CreatedAt      int64 `gorm:"autoCreateTime:false"`
	UpdatedAt      int64 `gorm:"autoUpdateTime:false"`
}

// TableName implements gorm's Tabler.
func (serviceRecord) TableName() string { return "containers_services" }

// imageRef returns the image that the compose files name.
func (s *serviceRecord) imageRef() image.Ref {
	r, _ := image.Parse(s.Image)
	return r
}

// ignoreRecord is a rule that keeps candidates of a service back.
type ignoreRecord struct {
	ID        string `gorm:"primaryKey"`
	ServiceID string
	Enabled   bool
	Kind      string
	Value     string
	Note      string
	CreatedAt int64 `gorm:"autoCreateTime:false"`
}

// TableName implements gorm's Tabler.
func (ignoreRecord) TableName() string { return "containers_ignores" }

// settingRecord is one value that is set through the API.
type settingRecord struct {
	Name      string `gorm:"primaryKey"`
	Value     string
	UpdatedAt int64 `gorm:"autoUpdateTime:false"`
}

// TableName implements gorm's Tabler.
func (settingRecord) TableName() string { return "containers_settings" }

// manifestRecord keeps the platforms behind a digest, which never change.
type manifestRecord struct {
	Digest    string          `gorm:"primaryKey"`
	Platforms []platformEntry `gorm:"serializer:json"`
	CreatedAt int64           `gorm:"autoCreateTime:false"`
}

// TableName implements gorm's Tabler.
func (manifestRecord) TableName() string { return "containers_manifests" }

type platformEntry struct {
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	Variant string `json:"variant,omitempty"`
	Digest  string `json:"digest,omitempty"`
}

func (p platformEntry) String() string {
	return Platform{OS: p.OS, Arch: p.Arch, Variant: p.Variant}.String()
}

// The kinds and states of a change of a service's image.
const (
	changeUpdate   = "update"
	changeRollback = "rollback"

	changeRunning    = "running"
	changeSuccess    = "success"
	changeFailed     = "failed"
	changeRolledBack = "rolled_back"
)

// changeRecord is an update or rollback of one service: the journal that a crash is recovered by, and the history.
type changeRecord struct {
	ID          string `gorm:"primaryKey"`
	JobID       string
	Kind        string
	StackID     string
	ServiceID   string
	Status      string
	Step        string
	Image       string
	FromImage   string
	FromDigest  string
	FromVersion string
	FromState   LifecycleState
	ToImage     string
	ToDigest    string
	ToVersion   string
	Error       string
	// Reason is the code of Error.
	Reason     string
	StartedAt  int64
	FinishedAt int64
	// Replicas is the number of containers that the service had when the change began, or that its files give it if it had
	// none; 0 in records of older versions.
	Replicas int
	// RunsOnce says why the service ends by itself: runsAwaited or runsAsBefore; "" if it does not.
	RunsOnce string
	// Dependents are recreated with the service, in this order.
	Dependents []dependentRecord `gorm:"serializer:json"`
	// WaitsSince is when its job ended because the engine did not come back, in Unix milliseconds. Another job goes on with the change. It
	// is 0 in all others.
	WaitsSince int64
}

// TableName implements gorm's Tabler.
func (changeRecord) TableName() string { return "containers_changes" }

// backupRecord is a copy of one mount.
type backupRecord struct {
	ID           string `gorm:"primaryKey"`
	StackID      string
	ServiceID    string
	JobID        string
	Kind         string
	Target       string
	Destination  string
	Status       string
	Path         string
	Size         int64
	Digest       string
	Error        string
	CreatedAt    int64 `gorm:"autoCreateTime:false"`
	FinishedAt   int64
	CleanupAfter int64
	DeletedAt    int64
}

// TableName implements gorm's Tabler.
func (backupRecord) TableName() string { return "containers_backups" }
