package change

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/patchbay-dev/patchbay/core/services/containers/backup"
	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
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

// addChange adds a finished change to the summary, with what runs now.
func (sum *StackSummary) addChange(ctx context.Context, c *change) {
	u, id := &sum.Update, c.svc.ID
	u.OldDigests[id], u.NewDigests[id] = cmp.Or(c.rec.FromDigest, c.rec.FromImage), cmp.Or(c.rec.ToDigest, c.rec.ToImage)
	if runs := c.runsNow(ctx); runs != "" {
		u.FinalDigests[id] = runs
	}
	u.PullTagsPulled = append(u.PullTagsPulled, c.outcome.TagsPulled...)
	u.PullTagWarnings = append(u.PullTagWarnings, c.outcome.Warnings...)
	sum.Backup = append(sum.Backup, c.outcome.Backups...)
	if c.rec.Status == record.ChangeSuccess {
		u.ChangedServices, u.TargetTagsPulled = append(u.ChangedServices, id), append(u.TargetTagsPulled, c.svc.ImageRef().String())
		return
	}
	failure := ServiceFailure{ServiceID: id, FailureStep: cmp.Or(c.outcome.FailureStep, c.rec.Step), LastError: c.rec.Error, Reason: c.rec.Reason, Canceled: c.isCanceled()}
	if c.rec.Status == record.ChangeFailed && stepOrder(c.rec.Step) < 0 {
		failure.FailureStep = c.rec.Step
	}
	var back *RollbackSummary
	if c.rec.Status == record.ChangeRolledBack {
		back = &RollbackSummary{Trigger: c.outcome.Trigger, ToDigests: map[string]string{id: u.OldDigests[id]}, Stopped: c.staysStopped()}
	}
	sum.AddFailure(failure, back)
}

// isCanceled reports whether the change did not succeed because its job was canceled.
func (c *change) isCanceled() bool { return c.rec.Reason == failure.Canceled }

// engineAnswer is for how long the engine is asked what runs after a change.
const engineAnswer = time.Minute

// runsNow returns the digest of what the service's containers are made from, or the id of the image where it has none. It is
// empty where they differ, there are none, or the engine does not answer.
func (c *change) runsNow(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), engineAnswer)
	defer cancel()
	o, _, err := c.s.cfg.Projects.ObserveEngine(ctx, c.stack.Project)
	if err != nil {
		c.r.LogWarning(ctx, "%s: the engine does not tell what runs: %s", c.displayName(), failure.Text(err))
		return ""
	}
	now := o.StateOf(c.stack.Project, &c.svc)
	if now.Problem == project.RuntimeAmbiguous {
		return ""
	}
	known := []string{c.rec.ToDigest, c.rec.FromDigest}
	if now.ID == c.rec.FromImage {
		slices.Reverse(known)
	}
	for _, digest := range known {
		if digest != "" && slices.Contains(now.Digests, digest) {
			return digest
		}
	}
	return cmp.Or(now.Digest, now.ID)
}

// summarizeChange returns the summary of a job with one service.
func (c *change) summarizeChange(ctx context.Context) UpdateSummary {
	sum := newStackSummary(&c.stack)
	sum.addChange(ctx, c)
	return UpdateSummary{Mode: ModeApply, Targets: []project.Target{}, Stacks: []StackSummary{*sum}}
}
