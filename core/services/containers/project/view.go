package project

import (
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
)

// StackItem is a stack in lists.
type StackItem struct {
	ID               string   `json:"id" example:"stk_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
	Name             string   `json:"name" example:"blog"`
	Status           string   `json:"status" enum:"healthy,degraded,unknown" doc:"Healthy while all services run."`
	Services         int      `json:"services" example:"3"`
	Updates          int      `json:"updates" doc:"Services with a new version that may be applied." example:"1"`
	Unknown          int      `json:"unknown" doc:"Services of which it is not known whether they are up to date." example:"0"`
	LastCheckAt      api.Time `json:"lastCheckAt,omitempty,omitzero"`
	Archived         bool     `json:"archived,omitempty"`
	ArchivedServices int      `json:"archivedServices,omitempty"`
	Self             bool     `json:"self,omitempty" doc:"The stack holds this instance itself."`
}

// StackDetail is a stack with its services.
type StackDetail struct {
	ID             string          `json:"id" example:"stk_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
	Name           string          `json:"name" example:"blog"`
	Compose        ComposeFiles    `json:"compose"`
	Services       []ServiceDetail `json:"services"`
	LastCheckAt    api.Time        `json:"lastCheckAt,omitempty,omitzero"`
	Archived       bool            `json:"archived,omitempty"`
	ArchivedReason string          `json:"archivedReason,omitempty" example:"user_archive"`
	Self           bool            `json:"self,omitempty" doc:"The stack holds this instance itself."`
}

// ComposeFiles is where a stack is described.
type ComposeFiles struct {
	Type       string   `json:"type" enum:"path"`
	WorkingDir string   `json:"workingDir" example:"/srv/blog"`
	Files      []string `json:"composeFiles" example:"[\"/srv/blog/compose.yaml\"]"`
	EnvFile    string   `json:"envFile,omitempty" example:"/srv/blog/.env"`
}

// ServiceDetail is a service of a stack.
type ServiceDetail struct {
	ID             string                `json:"id" example:"svc_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
	StackID        string                `json:"stackId" example:"stk_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
	Name           string                `json:"name" example:"web"`
	Image          ImageState            `json:"image"`
	Candidate      *Candidate            `json:"candidate,omitempty"`
	Ignore         *IgnoreMatch          `json:"ignore,omitempty"`
	Inference      *InferenceState       `json:"versionInference,omitempty"`
	NewerTags      []string              `json:"newerTags,omitempty" doc:"Newer tags of the same family, for information: they are never applied by themselves." example:"[\"1.26\"]"`
	Settings       ServiceSettings       `json:"settings"`
	State          record.LifecycleState `json:"lifecycleState" enum:"running,stopped,partial,unknown"`
	Status         string                `json:"status" enum:"ok,updatable,hint,archMismatch,blocked,waiting,pinned,unknown" doc:"What there is to do: ok only where what runs was compared with the registry, unknown where it could not be, blocked by an ignore rule, waiting for the minimum age, hint where the architecture is not known, pinned where the project's files name a digest."`
	UnknownReason  string                `json:"unknownReason,omitempty" enum:"never_checked,check_failed,no_tag,local_image,not_running,ambiguous" doc:"Why the status is unknown: no_tag where the image of the project's files has none, as with a variable that only the shell had."`
	Mounts         []record.Mount        `json:"mounts,omitempty"`
	CheckedAt      api.Time              `json:"checkedAt,omitempty,omitzero"`
	CheckError     string                `json:"checkError,omitempty" doc:"Why the last check told nothing."`
	Archived       bool                  `json:"archived,omitempty"`
	ArchivedReason string                `json:"archivedReason,omitempty"`
	Self           bool                  `json:"self,omitempty" doc:"The service is this instance itself."`
	RunsOnce       bool                  `json:"runsOnce,omitempty" doc:"The service ends by itself: another one waits for its end with success, or its containers have ended with 0. An update runs it once to its end."`
	Pinned         bool                  `json:"pinned,omitempty" doc:"The project's files name a digest: the service is checked, and not updated here."`
}

// ImageState is the image of a service: as its project names it, and what runs.
type ImageState struct {
	Ref          string   `json:"ref" example:"docker.io/library/nginx:1.25"`
	Tag          string   `json:"tag" example:"1.25"`
	Digest       string   `json:"digest,omitempty" doc:"What runs; left out if that is not known."`
	DigestError  string   `json:"digestError,omitempty" enum:"local_image,not_running,ambiguous" doc:"Why it is not known."`
	ResolvedTag  string   `json:"resolvedTag,omitempty" doc:"The version behind a moving tag." example:"1.25.4"`
	ResolvedTags []string `json:"resolvedTags,omitempty"`
}

// Candidate is what the registry has under the service's tag, if it is not what runs.
type Candidate struct {
	Tag         string      `json:"tag" example:"1.25"`
	Digest      string      `json:"digest"`
	ResolvedTag string      `json:"resolvedTag,omitempty" example:"1.25.5"`
	ArchMatch   string      `json:"archMatch" enum:"match,mismatch,unknown"`
	Arch        []string    `json:"arch,omitempty" example:"[\"linux/amd64\"]"`
	FirstSeenAt api.Time    `json:"firstSeenAt"`
	ApplyAfter  api.Time    `json:"applyAfter,omitempty,omitzero" doc:"When the minimum age is reached."`
	RolledBack  *RolledBack `json:"rolledBack,omitempty" doc:"The version was applied before and taken back: updates of a stack or of everything leave it out."`
}

// IgnoreMatch tells which rule keeps a candidate back.
type IgnoreMatch struct {
	Matched bool   `json:"matched"`
	RuleID  string `json:"ruleId" example:"ign_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
	Reason  string `json:"reason" example:"semver ^1.26"`
}

// InferenceState reports whether the versions behind the digests are known.
type InferenceState struct {
	Status      string   `json:"status" enum:"ready,pending"`
	Reason      string   `json:"reason,omitempty"`
	CheckedAt   api.Time `json:"checkedAt,omitempty,omitzero"`
	ResolvedTag string   `json:"resolvedTag,omitempty"`
	Unresolved  bool     `json:"unresolved,omitempty"`
}

// ServiceSettings are what a person sets for a service.
type ServiceSettings struct {
	AutoRollback  bool                 `json:"autoRollback"`
	BackupTargets record.BackupTargets `json:"backupTargets"`
	RepoURL       *string              `json:"repoUrl"`
	HealthTimeout *int64               `json:"healthTimeoutSeconds,omitempty" doc:"How long a new container may take to become healthy; left out for the default."`
	MinAge        *int64               `json:"minimumAgeSeconds,omitempty" doc:"How long a new version must be known before it may be applied; left out for the default."`
}

// RolledBack tells how a candidate was applied before and taken back.
type RolledBack struct {
	JobID string   `json:"jobId" doc:"The job that brought the former image back."`
	At    api.Time `json:"at"`
	// Manual reports whether a person asked for the rollback.
	Manual bool   `json:"manual,omitempty" doc:"Somebody rolled the service back; otherwise its update failed."`
	Error  string `json:"error,omitempty" doc:"Why the update failed."`
}

// Target is a service and the version that it is to run.
type Target struct {
	ServiceID    string   `json:"serviceId" example:"svc_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
	TargetTag    string   `json:"targetTag" doc:"The tag that the project names." example:"1.25"`
	TargetDigest string   `json:"targetDigest" doc:"The digest of the candidate."`
	PullTags     []string `json:"pullTags" doc:"Further tags of the repository to pull afterwards." example:"[\"1.25.5\"]"`
}

// Actionable reports whether an update of the whole stack, which is not archived, takes the service along.
func (d *ServiceDetail) Actionable() bool {
	return d.hasApplicableUpdate() && d.Candidate.RolledBack == nil
}

// LeftOut reports whether such an update leaves the service out because its candidate was rolled back.
func (d *ServiceDetail) LeftOut() bool {
	return d.hasApplicableUpdate() && d.Candidate.RolledBack != nil
}

func (d *ServiceDetail) hasApplicableUpdate() bool {
	return (d.Status == StatusUpdatable || d.Status == StatusHint) && !d.Archived && !d.Self && (d.State != record.StateStopped || d.RunsOnce)
}

// Updatable reports whether the service can be updated by itself, with leave for another architecture where that differs.
func (d *ServiceDetail) Updatable() bool {
	return d.Candidate != nil && !d.Pinned && !d.Archived && !d.Self && d.Candidate.ApplyAfter.IsZero()
}

// Target is the candidate of the service as a target of an update; the service has a candidate.
func (d *ServiceDetail) Target() Target {
	return Target{ServiceID: d.ID, TargetTag: d.Candidate.Tag, TargetDigest: d.Candidate.Digest, PullTags: []string{}}
}

// The words for what there is to do with a service.
const (
	statusOK           = "ok"
	StatusUpdatable    = "updatable"
	StatusHint         = "hint"
	StatusArchMismatch = "archMismatch"
	StatusBlocked      = "blocked"
	statusWaiting      = "waiting"
	StatusPinned       = "pinned"
	// StatusUnknown: what runs was not compared with the registry.
	StatusUnknown = "unknown"
)
