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

// The steps of a change, in order. The journal has the one that is about to be done, so that after a crash it is known
// what may have happened and what has not.
const (
	StepPull         = "pull"
	StepBackup       = "backup"
	StepTag          = "tag"
	StepUp           = "up"
	StepHealth       = "healthcheck"
	StepSync         = "sync_configured_tag"
	StepExtraTags    = "pull_extra_tags"
	StepRollbackTag  = "rollback_tag"
	StepRollbackUp   = "rollback_up"
	StepRollbackWait = "rollback_healthcheck"
	stepDone         = "done"
	// stepPrecheck is where a change fails that the checks before it refuse. Nothing was changed then, and the journal has
	// another step.
	stepPrecheck = "precheck"
)

// stepOrder is where a step stands; rollback steps come after all others.
func stepOrder(step string) int {
	for i, s := range []string{StepPull, StepBackup, StepTag, StepUp, StepHealth, StepSync, StepExtraTags, stepDone} {
		if s == step {
			return i
		}
	}
	return -1
}
