package change

import (
	"github.com/patchbay-dev/patchbay/core/services/containers/backup"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
)

// UpdateSummary is the summary of an update or rollback.
type UpdateSummary struct {
	Mode    string           `json:"mode"`
	Targets []project.Target `json:"targets"`
	Stacks  []StackSummary   `json:"stacks"`
	LeftOut []LeftOut        `json:"leftOut,omitempty" doc:"Services of the scope that were not updated, because their new versions were rolled back before."`
}

// StackSummary is what happened to a stack.
type StackSummary struct {
	StackID string                `json:"stackId"`
	Name    string                `json:"name"`
	Update  ChangeSummary         `json:"update"`
	Backup  []backup.BackupResult `json:"backup,omitempty"`
}

// Deciding returns the part of the summary that says how the job ended: the last failure that was not rolled back, else the
// last that was; nil if nothing failed.
func (u *UpdateSummary) Deciding() (out *ChangeSummary) {
	for i := range u.Stacks {
		part := &u.Stacks[i].Update
		if part.FailedService != "" && (out == nil || part.Rollback == nil || out.Rollback != nil) {
			out = part
		}
	}
	return out
}

// ChangeSummary is what happened to the services of a stack. The maps go from service id to image id or digest.
type ChangeSummary struct {
	ChangedServices  []string          `json:"changedServices"`
	OldDigests       map[string]string `json:"oldDigests"`
	NewDigests       map[string]string `json:"newDigests"`
	FinalDigests     map[string]string `json:"finalDigests" doc:"What the engine said that runs at the end; without the services of which it said nothing."`
	TargetTagsPulled []string          `json:"targetTagsPulled"`
	PullTagsPulled   []string          `json:"pullTagsPulled"`
	PullTagWarnings  []PullWarning     `json:"pullTagWarnings,omitempty"`
	FailureStep      string            `json:"failureStep,omitempty"`
	FailedService    string            `json:"failedService,omitempty"`
	Canceled         bool              `json:"canceled,omitempty" doc:"The failed service was not updated because the job was canceled."`
	LastError        string            `json:"lastError,omitempty"`
	Reason           string            `json:"reason,omitempty" doc:"The code of lastError." example:"rate_limited"`
	Rollback         *RollbackSummary  `json:"rollback,omitempty"`
	AlsoFailed       []ServiceFailure  `json:"alsoFailed,omitempty" doc:"Further services that failed while they were updated at the same time as failedService."`
	Skipped          []string          `json:"skippedServices,omitempty"`
	Completed        []string          `json:"completedServices,omitempty" doc:"Services that end by themselves and have run with their new versions before another one failed. They are not rolled back."`
}

// ServiceFailure is how the update of one service failed.
type ServiceFailure struct {
	ServiceID   string `json:"serviceId"`
	FailureStep string `json:"failureStep"`
	LastError   string `json:"lastError,omitempty"`
	Reason      string `json:"reason,omitempty" doc:"The code of lastError." example:"rate_limited"`
	Canceled    bool   `json:"canceled,omitempty" doc:"The service was not updated because the job was canceled."`
	RolledBack  bool   `json:"rolledBack,omitempty" doc:"Its former image was brought back."`
}

// AddFailure adds a service that failed. The first one decides, unless it was rolled back and this one was not.
func (sum *StackSummary) AddFailure(f ServiceFailure, back *RollbackSummary) {
	u := &sum.Update
	f.RolledBack = back != nil
	if u.FailedService != "" && (u.Rollback == nil || back != nil) {
		u.AlsoFailed = append(u.AlsoFailed, f)
		return
	}
	if u.FailedService != "" {
		u.AlsoFailed = append(u.AlsoFailed, ServiceFailure{u.FailedService, u.FailureStep, u.LastError, u.Reason, u.Canceled, true})
	}
	u.FailedService, u.FailureStep, u.LastError, u.Reason, u.Canceled, u.Rollback = f.ServiceID, f.FailureStep, f.LastError, f.Reason, f.Canceled, back
}

// RollbackSummary tells what brought the former image back.
type RollbackSummary struct {
	Trigger   string            `json:"trigger"`
	ToDigests map[string]string `json:"toDigests"`
	Stopped   bool              `json:"stopped,omitempty" doc:"The service did not run before the update, and does not run after it."`
}

func newStackSummary(st *record.Stack) *StackSummary {
	return &StackSummary{StackID: st.ID, Name: st.Project, Update: ChangeSummary{
		ChangedServices: []string{}, OldDigests: map[string]string{}, NewDigests: map[string]string{}, FinalDigests: map[string]string{},
		TargetTagsPulled: []string{}, PullTagsPulled: []string{},
	}}
}

// PullWarning is a further tag that could not be pulled.
type PullWarning struct {
	ServiceID string `json:"serviceId"`
	TagRef    string `json:"tagRef"`
	Error     string `json:"error"`
}

// LeftOut is a service that an update of a stack or of everything does not include, because its candidate was rolled back.
type LeftOut struct {
	ServiceID string `json:"serviceId" example:"svc_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
	StackID   string `json:"stackId" example:"stk_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
	Name      string `json:"name" example:"blog / web"`
	Digest    string `json:"digest"`
	Reason    string `json:"reason" enum:"rolled_back"`
	JobID     string `json:"jobId" doc:"The job that brought the former image back."`
}
