package project

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
)

// The actions of a discovery.
const (
	ActionCreated = "created"
	actionUpdated = "updated"
	actionSkipped = "skipped"
	actionFailed  = "failed"
	actionMissing = "marked_missing"
	actionStopped = "marked_stopped"
)

// ScanResult is what a discovery did.
type ScanResult struct {
	StartedAt  api.Time     `json:"startedAt"`
	DurationMS int64        `json:"durationMs"`
	Summary    ScanSummary  `json:"summary"`
	Actions    []ScanAction `json:"actions" doc:"At most as many as the settings allow."`
	Omitted    int          `json:"actionsOmitted,omitempty"`
}

// ScanSummary counts what a discovery saw and did.
type ScanSummary struct {
	ProjectsSeen   int `json:"projectsSeen"`
	StacksCreated  int `json:"stacksCreated"`
	StacksUpdated  int `json:"stacksUpdated"`
	StacksSkipped  int `json:"stacksSkipped"`
	StacksFailed   int `json:"stacksFailed"`
	StacksMissing  int `json:"stacksMarkedMissing"`
	StacksStopped  int `json:"stacksStopped"`
	StacksArchived int `json:"stacksArchived"`
}

// ScanAction is what a discovery did with one project.
type ScanAction struct {
	Project string          `json:"project"`
	Action  string          `json:"action" enum:"created,updated,skipped,failed,marked_missing,marked_stopped"`
	StackID string          `json:"stackId,omitempty"`
	Reason  string          `json:"reason,omitempty"`
	Details json.RawMessage `json:"details,omitempty"`
}

func (r *ScanResult) addAction(a ScanAction, most int64) {
	switch a.Action {
	case ActionCreated:
		r.Summary.StacksCreated++
	case actionUpdated:
		r.Summary.StacksUpdated++
	case actionSkipped:
		r.Summary.StacksSkipped++
	case actionFailed:
		r.Summary.StacksFailed++
	case actionMissing:
		r.Summary.StacksMissing++
	case actionStopped:
		r.Summary.StacksStopped++
	}
	if a.Reason == record.ArchivedMissing {
		r.Summary.StacksArchived++
	}
	if int64(len(r.Actions)) >= most {
		r.Omitted++
		return
	}
	r.Actions = append(r.Actions, a)
}

// knownProject is a project with its stack, as they were stored before a discovery.
type knownProject struct {
	Project  record.Project
	stack    *record.Stack
	services []record.Service
	// warning and move are what this discovery found out about containers that were passed over.
	warning string
	move    *record.ProjectMove
}

func sortedProjects(known map[string]*knownProject) []*knownProject {
	var out []*knownProject
	for _, k := range known {
		out = append(out, k)
	}
	slices.SortFunc(out, func(a, b *knownProject) int { return cmp.Compare(a.Project.Project, b.Project.Project) })
	return out
}
