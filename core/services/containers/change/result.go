package change

import (
	"context"
	"fmt"
	"strings"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/lists"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

// firstOfStack returns which of two failed changes decides: the last stack does, and in a stack the first change, as in its summary.
func firstOfStack(before, c *change) *change {
	if before != nil && before.stack.ID == c.stack.ID {
		return before
	}
	return c
}

// jobResult is how a job ends whose changes are done: failed if one failed for good, rolled back if one was rolled back.
func jobResult(ctx context.Context, done []*change) error {
	var failed, back *change
	for _, c := range done {
		switch c.rec.Status {
		case record.ChangeFailed:
			failed = firstOfStack(failed, c)
		case record.ChangeRolledBack:
			back = firstOfStack(back, c)
		}
	}
	if failed == nil && back == nil {
		return nil
	}
	if failed == nil {
		return queue.EndRolledBack(fault.New(fault.Conflict, "%s was rolled back: %s%s", back.displayName(), back.rec.Error, othersText(done, back)))
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fault.New(fault.Conflict, "%s: %s%s", failed.displayName(), failed.rec.Error, othersText(done, failed))
}

// completedBefore returns the services that end by themselves, have run with their new versions in this job, and stay so
// when a later change fails.
func completedBefore(done []*change, failed *change) (out []*change) {
	for _, c := range done {
		if c != failed && c.rec.RunsOnce != "" && c.rec.Status == record.ChangeSuccess && c.stack.ID == failed.stack.ID {
			out = append(out, c)
		}
	}
	return out
}

// reportCompleted says which services stay at their new versions though a later one has failed.
func (sum *StackSummary) reportCompleted(ctx context.Context, r *work.Reporter, done []*change, failed *change) {
	for _, c := range completedBefore(done, failed) {
		sum.Update.Completed = append(sum.Update.Completed, c.svc.ID)
		r.LogWarning(ctx, "%s was run with its new version, and stays so", c.displayName())
	}
}

// othersText says the same in the error of a job, and which others have failed beside the one that it is about; "" if there
// is nothing to say.
func othersText(done []*change, failed *change) (text string) {
	names := lists.ConvertAll(completedBefore(done, failed), func(c *change) string { return c.displayName() })
	if len(names) > 0 {
		text = " " + strings.Join(names, ", ") + " was run with its new version, and stays so."
	}
	for _, c := range done {
		switch {
		case c == failed || c.stack.ID != failed.stack.ID:
		case c.rec.Status == record.ChangeFailed:
			text += fmt.Sprintf(" %s failed too: %s", c.displayName(), c.rec.Error)
		case c.rec.Status == record.ChangeRolledBack:
			text += fmt.Sprintf(" %s was rolled back too: %s", c.displayName(), c.rec.Error)
		}
	}
	return text
}
