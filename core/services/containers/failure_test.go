package containers

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/change"
	"github.com/patchbay-dev/patchbay/core/services/containers/deploycheck"
	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// TestFailuresGoByTheirCodes: why a job failed is known by codes, whatever a provider says.
func TestFailuresGoByTheirCodes(t *testing.T) {
	e := newEnv(t)
	e.project("a", 1, map[string]string{"svc": appRepo + ":1"})
	e.publish(appRepo+":1", 10)
	e.discovered()
	e.checked()
	slow := fault.FromPlugin("engine.fake", errs.New(errs.Upstream, codes.ResourceExhausted, "STATUS", "slow down, please"))
	e.engine.Fail("pull", slow, slow, slow, slow)
	job, sum := e.updatedAll([2]string{"a", "svc"})
	if why := job.ResultReason; job.Status != "failed" || why.Summary != "The registry is rate limited." ||
		sum.Stacks[0].Update.Reason != failure.RateLimited {
		t.Errorf("%s, %+v, %+v", job.Status, why, sum)
	}
	for want, err := range map[string]error{
		"": nil, failure.Canceled: queue.ErrCanceled,
		failure.AccessDenied: fault.FromPlugin("engine.fake", errs.New(errs.Upstream, codes.PermissionDenied, "STATUS", "no")),
		failure.RateLimited:  fault.Wrap(failure.ErrCooling, fault.UpstreamUnavailable, "later"),
		failure.Otherwise:    fault.New(fault.Conflict, "the registry is rate limited"),
	} {
		if got := failure.Code(err); got != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
}

// TestFormerFailures: summaries that were stored without codes say the same as before.
func TestFormerFailures(t *testing.T) {
	for name, tt := range map[string]struct {
		part    change.ChangeSummary
		failure queue.Failure
		state   queue.State
		want    string
	}{
		"a limit": {part: change.ChangeSummary{FailedService: "s", FailureStep: change.StepPull,
			LastError: "registry.example limits requests"}, want: "The registry is rate limited."},
		"a step": {part: change.ChangeSummary{FailedService: "s", FailureStep: change.StepHealth, LastError: "exited"},
			state: queue.RolledBack, want: "The new container did not become healthy. The former version runs again."},
		"canceled": {part: change.ChangeSummary{FailedService: "s", FailureStep: change.StepPull, LastError: failure.CanceledText,
			Canceled: true}, failure: queue.Failure{Reason: queue.ReasonCanceled}, want: failure.CanceledText},
		"canceled too late": {part: change.ChangeSummary{FailedService: "s", FailureStep: change.StepPull, LastError: "no"},
			failure: queue.Failure{Reason: queue.ReasonCanceled}, want: "The new image could not be pulled."},
		"no summary": {failure: queue.Failure{Code: fault.RateLimited}, want: "The registry is rate limited."},
		"a panic":    {failure: queue.Failure{Reason: queue.ReasonPanic}, want: "The job failed."},
	} {
		job := &queue.Job{State: tt.state, Failure: &tt.failure}
		if tt.part.FailedService != "" {
			job.Result, _ = json.Marshal(change.UpdateSummary{Stacks: []change.StackSummary{{Update: tt.part}}})
		}
		if got := resultReason(job); got.Summary != tt.want {
			t.Errorf("%s: %q, want %q", name, got.Summary, tt.want)
		}
	}
}

// Each code of a failure has words of its own.
func TestFailuresHaveWords(t *testing.T) {
	other := change.Failure{Code: failure.Otherwise}.LocalizedText("en")
	for _, code := range []string{
		failure.Canceled, failure.RateLimited, failure.EngineAway, queue.ReasonInterrupted, queue.ReasonTimeout, "precheck", change.StepPull,
		change.StepBackup, change.StepTag, change.StepUp, change.StepHealth, change.StepSync, change.StepRollbackTag, change.StepRollbackUp,
		change.StepRollbackWait,
	} {
		if got := (change.Failure{Code: code}).LocalizedText("en"); got == other {
			t.Errorf("%s has no words of its own", code)
		}
	}
}

// deployCheck makes a report of the deploy check and returns one of its checks.
func deployCheck(t testing.TB, svc *Service, id string) deploycheck.ReportCheck {
	t.Helper()
	ctx := context.Background()
	_, err := svc.RunReport(ctx, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	rep, err := svc.DeployReport(ctx)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(rep.Checks, func(c deploycheck.ReportCheck) bool { return c.ID == id })
	if i < 0 {
		t.Fatalf("no check %s: %+v", id, rep.Checks)
	}
	return rep.Checks[i]
}
