// Package supervisor is the process that replaces the core by another image of it, and brings the former one back when the
// new one does not answer as it should. It has no database: what it does stands in one file, step by step, so that it can go
// on after it was killed.
package supervisor

import (
	"slices"
	"strings"
	"time"
)

// Status is how far an operation has come.
type Status string

// The states. Idle is that of a supervisor that has done nothing yet.
const (
	Idle       Status = "idle"
	Running    Status = "running"
	Succeeded  Status = "succeeded"
	Failed     Status = "failed"
	RolledBack Status = "rolled_back"
)

// Mode says what an operation may change.
type Mode string

// The modes. DryRun ends before anything is changed.
const (
	Apply  Mode = "apply"
	DryRun Mode = "dry-run"
)

// Step is a part of an operation. It is in the state file before it begins.
type Step string

// The steps, in their order. Rollback steps follow any of them.
const (
	StepPrecheck     Step = "precheck"
	StepPull         Step = "pull"
	StepCheck        Step = "check_image"
	StepTurn         Step = "wait_turn"
	StepJobs         Step = "wait_jobs"
	StepApply        Step = "apply"
	StepWait         Step = "wait_healthy"
	StepRollback     Step = "rollback"
	StepRollbackWait Step = "rollback_wait_healthy"
	StepDone         Step = "done"
)

// Image is an image of the core.
type Image struct {
	// Ref is the reference that a container of it was created with.
	Ref string `json:"ref,omitempty"`
	// Tag and Digest name it in the repository; Digest may be unknown, as with an image that was built here.
	Tag    string `json:"tag"`
	Digest string `json:"digest,omitempty"`
	// ID is what the engine calls it.
	ID string `json:"id,omitempty"`
	// Version is what a core of it answers at /api/version; "" if that is not known.
	Version string `json:"version,omitempty"`
}

// Place is where the core's container stands: its compose project, as its labels tell.
type Place struct {
	Project    string   `json:"project"`
	Service    string   `json:"service"`
	WorkingDir string   `json:"workingDir"`
	Files      []string `json:"files"`
	EnvFiles   []string `json:"envFiles,omitempty"`
	// Image is the reference that the project's own files give to the service, without the override.
	Image string `json:"image"`
	// Override is the text of the override that was in use before the operation; "" for none.
	Override string `json:"override,omitempty"`
	// TagBefore is the id of the image that the target's reference named before it was pulled; "" for none.
	TagBefore string `json:"tagBefore,omitempty"`
}

// LogLine is a line of an operation's log.
type LogLine struct {
	At      time.Time `json:"ts"`
	Level   string    `json:"level"`
	Message string    `json:"msg"`
	OpID    string    `json:"opId,omitempty"`
}

// Request is what an operation was asked to do.
type Request struct {
	Target            Target `json:"target"`
	Mode              Mode   `json:"mode"`
	RollbackOnFailure bool   `json:"rollbackOnFailure"`
}

// Target names the image that is wanted: by its digest if there is one, else by its tag.
type Target struct {
	Tag    string `json:"tag"`
	Digest string `json:"digest,omitempty"`
}

// Operation is one upgrade, or the attempt.
type Operation struct {
	ID      string  `json:"opId"`
	Status  Status  `json:"state"`
	Request Request `json:"request"`
	Step    Step    `json:"step"`
	// Message tells a person what the step is doing, or how the operation ended.
	Message string `json:"message"`
	Target  Image  `json:"target"`
	// Previous is what ran before.
	Previous Image `json:"previous"`
	Place    Place `json:"place"`
	// Turn says that the core has begun its upgrade among the cores of its database.
	Turn bool `json:"turn,omitempty"`
	// Failure is why the former image is brought back.
	Failure string    `json:"failure,omitempty"`
	Started time.Time `json:"startedAt"`
	Updated time.Time `json:"updatedAt"`
	// Logs are the last lines of the log, the oldest first.
	Logs []LogLine `json:"logs"`
}

// maxLogs is how many lines of the log of one operation are kept, maxOperations how many operations.
const (
	maxLogs       = 300
	maxOperations = 30
)

// addLog appends a line to the log, of which the first lines are dropped when it is too long.
func (o *Operation) addLog(at time.Time, level, message string) {
	o.Logs = append(o.Logs, LogLine{At: at, Level: level, Message: message, OpID: o.ID})
	if n := len(o.Logs) - maxLogs; n > 0 {
		o.Logs = slices.Delete(o.Logs, 0, n)
	}
}

// mayHaveChanged reports whether the operation may have changed what runs.
func (o *Operation) mayHaveChanged() bool {
	return slices.Contains([]Step{StepApply, StepWait, StepRollback, StepRollbackWait, StepDone}, o.Step)
}

// hasReplaced reports whether the operation has put another image in place of the former one, or has tried to.
func (o *Operation) hasReplaced() bool {
	return o.Request.Mode == Apply && o.mayHaveChanged() && o.Target.ID != "" && o.Target.ID != o.Previous.ID
}

// clone returns a copy that shares nothing with the operation.
func (o *Operation) clone() Operation {
	out := *o
	out.Logs = slices.Clone(o.Logs)
	out.Place.Files, out.Place.EnvFiles = slices.Clone(o.Place.Files), slices.Clone(o.Place.EnvFiles)
	return out
}

// describeImage names an image for people.
func describeImage(i Image) string {
	parts := []string{}
	if i.Version != "" {
		parts = append(parts, "version "+i.Version)
	}
	if i.Tag != "" {
		parts = append(parts, "tag "+i.Tag)
	}
	id := strings.TrimPrefix(i.ID, "sha256:")
	return strings.Join(append(parts, "image "+id[:min(12, len(id))]), ", ")
}
