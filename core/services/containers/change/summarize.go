package change

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
)

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
	failure := ServiceFailure{ServiceID: id, FailureStep: cmp.Or(c.outcome.FailureStep, c.rec.Step), LastError: c.rec.Error,
		Reason: c.rec.Reason, Canceled: c.rec.Reason == failure.Canceled}
	if c.rec.Status == record.ChangeFailed && stepOrder(c.rec.Step) < 0 {
		failure.FailureStep = c.rec.Step
	}
	var back *RollbackSummary
	if c.rec.Status == record.ChangeRolledBack {
		back = &RollbackSummary{Trigger: c.outcome.Trigger, ToDigests: map[string]string{id: u.OldDigests[id]}, Stopped: c.staysStopped()}
	}
	sum.AddFailure(failure, back)
}

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

// addWaiting adds a change that is left open to the summary.
func (sum *StackSummary) addWaiting(c *change, cause error) {
	sum.AddFailure(ServiceFailure{ServiceID: c.svc.ID, FailureStep: c.rec.Step, LastError: failure.Text(cause), Reason: failure.Code(cause)},
		nil)
	sum.Backup = append(sum.Backup, c.outcome.Backups...)
}

// summarizeWaiting is summarizeChange for a change that is left open.
func (c *change) summarizeWaiting(cause error) UpdateSummary {
	sum := newStackSummary(&c.stack)
	sum.addWaiting(c, cause)
	return UpdateSummary{Mode: ModeApply, Targets: []project.Target{}, Stacks: []StackSummary{*sum}}
}
