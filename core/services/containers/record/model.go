package record

import (
	"slices"

	"github.com/patchbay-dev/patchbay/core/services/containers/compose"
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
	ArchivedByUser  = "user_archive"
	ArchivedMissing = "auto_archive_compose_files_missing"
	ArchivedRemoved = "auto_archive_removed_from_compose"
)

// Stack is a compose project that is managed.
type Stack struct {
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
func (Stack) TableName() string { return "containers_stacks" }

// Project is a compose project as discovery saw it last.
type Project struct {
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
func (Project) TableName() string { return "containers_projects" }

// ProjectMove is where a project's containers come from, while its stack has other files. A person decides about it.
type ProjectMove struct {
	WorkingDir  string   `json:"workingDir" example:"/srv/blog"`
	ConfigFiles []string `json:"configFiles"`
	EnvFiles    []string `json:"envFiles,omitempty"`
}

// Mount is a volume or directory of a service that may be backed up.
type Mount struct {
	// Kind is compose.DockerVolume or compose.BindMount.
	Kind string `json:"kind"`
	// Name is that of a volume, or the path on the host.
	Name        string `json:"name"`
	Destination string `json:"destination"`
	ReadOnly    bool   `json:"readOnly,omitempty"`
}

// BackupChoice says whether a mount is backed up before an update: inherit (the general setting and its size limit decide),
// skip or force.
type BackupChoice string

// The choices.
const (
	BackupInherit BackupChoice = "inherit"
	BackupSkip    BackupChoice = "skip"
	BackupForce   BackupChoice = "force"
)

// IsValid reports whether the choice is one of them.
func (c BackupChoice) IsValid() bool {
	return c == BackupInherit || c == BackupSkip || c == BackupForce
}

// BackupTargets are the choices for the mounts of a service.
type BackupTargets struct {
	BindPaths   map[string]BackupChoice `json:"bindPaths"`
	VolumeNames map[string]BackupChoice `json:"volumeNames"`
}

// WithDefaults returns the choices with empty maps where there are none.
func (b BackupTargets) WithDefaults() BackupTargets {
	if b.BindPaths == nil {
		b.BindPaths = map[string]BackupChoice{}
	}
	if b.VolumeNames == nil {
		b.VolumeNames = map[string]BackupChoice{}
	}
	return b
}

// ChoiceFor returns the choice for a mount.
func (b BackupTargets) ChoiceFor(m Mount) BackupChoice {
	choices := b.VolumeNames
	if m.Kind == compose.BindMount {
		choices = b.BindPaths
	}
	if c := choices[m.Name]; c != "" {
		return c
	}
	return BackupInherit
}

// Service is a service of a stack.
type Service struct {
	ID      string `gorm:"primaryKey"`
	StackID string
	Name    string
	Image   string
	Repo    string
	Tag     string
	// Pinned is the digest that the files name; the service has its tag beside it, if they name one.
	Pinned string
	// Awaited tells that another service waits for its end with success; Ended how a service that does not run has ended:
	// EndedWell, EndedOtherwise, or "" where nobody has looked.
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
	BackupTargets  BackupTargets `gorm:"serializer:json"`
	RepoURL        string
	HealthTimeout  int64
	MinAge         int64
	ArchivedAt     int64
	ArchivedReason string
	CreatedAt      int64 `gorm:"autoCreateTime:false"`
	UpdatedAt      int64 `gorm:"autoUpdateTime:false"`
}

// TableName implements gorm's Tabler.
func (Service) TableName() string { return "containers_services" }

// ImageRef returns the image that the compose files name.
func (s *Service) ImageRef() image.Ref {
	r, _ := image.Parse(s.Image)
	return r
}

// How the containers of a service have ended that does not run.
const (
	// EndedWell: by themselves, with 0.
	EndedWell      = "well"
	EndedOtherwise = "otherwise"
)

// RunsOnce reports whether a service ends by itself, as far as it was seen.
func (svc *Service) RunsOnce() bool {
	return svc.Awaited || svc.State == StateStopped && svc.Ended == EndedWell
}

// IsDescribedAs reports whether next has what s has from the compose files. The fields that follow from the image are not compared:
// they differ only where the image does.
func (s *Service) IsDescribedAs(next Service) bool {
	return s.Image == next.Image && s.Built == next.Built && s.Awaited == next.Awaited && s.ArchivedAt == next.ArchivedAt &&
		s.ArchivedReason == next.ArchivedReason &&
		slices.Equal(s.Profiles, next.Profiles) && slices.Equal(s.Mounts, next.Mounts)
}

// settingRecord is one value that is set through the API.
type settingRecord struct {
	Name      string `gorm:"primaryKey"`
	Value     string
	UpdatedAt int64 `gorm:"autoUpdateTime:false"`
}

// TableName implements gorm's Tabler.
func (settingRecord) TableName() string { return "containers_settings" }

// The kinds and states of a change of a service's image.
const (
	ChangeUpdate   = "update"
	ChangeRollback = "rollback"

	ChangeRunning    = "running"
	ChangeSuccess    = "success"
	ChangeFailed     = "failed"
	ChangeRolledBack = "rolled_back"
)

// Change is an update or rollback of one service: the journal that a crash is recovered by, and the history.
type Change struct {
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
	// RunsOnce says why the service ends by itself: health.RunsAwaited or health.RunsAsBefore; "" if it does not.
	RunsOnce string
	// Dependents are recreated with the service, in this order.
	Dependents []Dependent `gorm:"serializer:json"`
	// WaitsSince is when its job ended because the engine did not come back, in Unix milliseconds. Another job goes on with the change. It
	// is 0 in all others.
	WaitsSince int64
}

// TableName implements gorm's Tabler.
func (Change) TableName() string { return "containers_changes" }

// Dependent is a dependent in the journal of a change: what it had when the change began.
type Dependent struct {
	ServiceID string `json:"serviceId"`
	Name      string `json:"name"`
	ImageID   string `json:"imageId"`
	Replicas  int    `json:"replicas"`
	Stopped   bool   `json:"stopped,omitempty"`
	// Follows tells that the job updates the dependent next, which recreates it.
	Follows bool `json:"follows,omitempty"`
}
