package change

import (
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

// The modes of an update.
const (
	ModeApply  = "apply"
	ModeDryRun = "dry-run"
)

// changeOptions are what the payload of a job says about its changes.
type changeOptions struct {
	Mode    string           `json:"mode,omitempty"`
	Targets []project.Target `json:"targets,omitempty"`
	// Images go from service to the image that the project named when the job was made.
	Images     map[string]string `json:"images,omitempty"`
	AllowDrift bool              `json:"allowDrift,omitempty"`
	BackupMode string            `json:"backupMode,omitempty"`
	// Resumes is the change that a job goes on with, which an earlier one has left because the engine did not come back.
	Resumes string `json:"resumes,omitempty"`
	// Ran are the services that ran when that earlier job began.
	Ran []string `json:"ran,omitempty"`
}

// UpdateJob is the payload of JobUpdate.
type UpdateJob struct {
	work.Subject
	changeOptions
	AllowArchMismatch bool `json:"allowArchMismatch,omitempty"`
}

// RollbackJob is the payload of JobRollback.
type RollbackJob struct {
	work.Subject
	changeOptions
	// ChangeID is the change that is taken back.
	ChangeID string `json:"changeId,omitempty"`
}
