package pages

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/lists"
	"github.com/patchbay-dev/patchbay/core/queue"
	service "github.com/patchbay-dev/patchbay/core/services/containers"
	"github.com/patchbay-dev/patchbay/core/services/containers/backup"
	"github.com/patchbay-dev/patchbay/core/services/containers/candidate"
	"github.com/patchbay-dev/patchbay/core/services/containers/change"
	"github.com/patchbay-dev/patchbay/core/services/containers/lifecycle"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

// jobPages are the pages of a job.
type jobPages struct{ pages }

func (p jobPages) jobRoutes() []httpd.Route {
	return []httpd.Route{
		getRoute("/queue/:jobId", p.showJob), getRoute("/queue/:jobId/live", p.jobLive), postRoute("/queue/:jobId/cancel", p.cancelJob),
	}
}

// jobView is one job with what its page shows.
type jobView struct {
	service.JobDetail
	Names map[string]string
	// stacks lead from the id of a service to that of its stack.
	stacks map[string]string
	Result result
	// Before is how many lines of the log are left out while the job runs.
	Before int
}

// liveLines is how many lines of its log the page of a running job shows, since each change sends all of them.
const liveLines = 300

func (p jobPages) jobView(ctx context.Context, id string) (out jobView, err error) {
	if out.JobDetail, err = p.service.JobDetail(ctx, id); err != nil {
		return out, err
	}
	if out.Names, out.stacks, err = p.readNames(ctx); err != nil {
		return out, err
	}
	out.Result = collectResult(out.Job)
	if over := len(out.Logs) - liveLines; over > 0 && !isFinal(out.Status) {
		out.Before, out.Logs = over, out.Logs[over:]
	}
	return out, nil
}

// serviceLink is the page of a service; empty if it is gone.
func (j jobView) serviceLink(p pages, serviceID string) string {
	if j.stacks[serviceID] == "" {
		return ""
	}
	return p.serviceURL(j.stacks[serviceID], serviceID)
}

// serviceName is that of a service, or its id once it is gone.
func (j jobView) serviceName(id string) string {
	if n := j.Names[id]; n != "" {
		return n
	}
	return id
}

// saysError reports whether the page has an error already, as the reason of the job.
func (j jobView) saysError(text string) bool {
	return j.ResultReason != nil && strings.Contains(j.ResultReason.Detail, text)
}

// serviceNames returns the names of services in one line.
func (j jobView) serviceNames(ids []string) string {
	names := lists.ConvertAll(ids, j.serviceName)
	return strings.Join(names, ", ")
}

func (p jobPages) showJob(c *gin.Context) {
	j, err := p.jobView(c.Request.Context(), c.Param("jobId"))
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	v := p.newView(c, "")
	v.Title = jobName(v, j.Job)
	p.kit.Render(c, v, http.StatusOK, jobPage(v, p.pages, j))
}

func (p jobPages) jobLive(c *gin.Context) {
	ctx, id := c.Request.Context(), c.Param("jobId")
	if _, err := p.service.JobDetail(ctx, id); err != nil {
		p.kit.Fail(c, err)
		return
	}
	sub := p.bus.Subscribe(queue.TopicOf(id))
	defer sub.Close()
	p.kit.Stream(c, lookEvery, ui.Wake(ctx, sub.Events(), nil), func(v *ui.View) (templ.Component, bool, error) {
		j, err := p.jobView(ctx, id)
		return jobParts(v, p.pages, j), isFinal(j.Status), err
	})
}

func (p jobPages) cancelJob(c *gin.Context) {
	id := c.Param("jobId")
	_, err := p.service.CancelJob(c.Request.Context(), id)
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	p.kit.Done(c, p.base+"/queue/"+id, ui.Toast{Kind: "info", TextID: "containers.job.canceled"})
}

// result is the summary of a job, read by its type; what does not apply is nil.
type result struct {
	Update    *change.UpdateSummary
	Plan      *change.Plan
	Check     *candidate.CheckSummary
	Discovery *project.ScanResult
	Runtime   *project.RuntimeSummary
	Lifecycle *lifecycle.Summary
	Restore   *backup.RestoreSummary
	Hooks     *hookResult
	// Raw is the summary as it is, where there is nothing else to show of it.
	Raw string
}

func collectResult(j service.Job) (out result) {
	raw := strings.TrimSpace(string(j.Summary))
	if raw == "" || raw == "{}" {
		return out
	}
	ok := false
	switch j.Type {
	case work.JobUpdate, work.JobRollback:
		if j.Mode == change.ModeDryRun {
			out.Plan, ok = readResult[change.Plan](j)
		} else {
			out.Update, ok = readResult[change.UpdateSummary](j)
		}
	case work.JobCheck:
		out.Check, ok = readResult[candidate.CheckSummary](j)
	case work.JobDiscovery:
		var sum *project.DiscoverySummary
		if sum, ok = readResult[project.DiscoverySummary](j); ok {
			out.Discovery = &sum.Scan
		}
	case work.JobRuntimeScan:
		out.Runtime, ok = readResult[project.RuntimeSummary](j)
	case work.JobServiceLifecycle, work.JobStackLifecycle:
		out.Lifecycle, ok = readResult[lifecycle.Summary](j)
	case work.JobRestore:
		out.Restore, ok = readResult[backup.RestoreSummary](j)
	case work.JobHook, work.JobHookSyncAll, work.JobHookSyncRepo:
		out.Hooks, ok = readResult[hookResult](j)
	}
	if !ok {
		out.Raw = ui.IndentJSON(j.Summary)
	}
	return out
}

func readResult[T any](j service.Job) (*T, bool) {
	out := new(T)
	if json.Unmarshal(j.Summary, out) != nil {
		return nil, false
	}
	return out, true
}

// changedIDs are the services that a summary tells of, in a fixed order.
func changedIDs(u change.ChangeSummary) []string {
	var out []string
	for id := range u.OldDigests {
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}

// serviceOutcome is what became of one service of an update.
func serviceOutcome(u change.ChangeSummary, id string) string {
	switch {
	case slices.Contains(u.ChangedServices, id):
		return "success"
	case u.Rollback != nil && u.FailedService == id:
		return "rolled_back"
	case u.Canceled && u.FailedService == id:
		return "canceled"
	}
	if i := slices.IndexFunc(u.AlsoFailed, func(f change.ServiceFailure) bool { return f.ServiceID == id }); i >= 0 &&
		u.AlsoFailed[i].RolledBack {
		return "rolled_back"
	} else if i >= 0 && u.AlsoFailed[i].Canceled {
		return "canceled"
	}
	return "failed"
}

// failureStep is the step at which a job failed; empty if it did not.
func failureStep(j service.Job) string {
	if sum, ok := readResult[change.UpdateSummary](j); ok {
		if part := sum.Deciding(); part != nil {
			return part.FailureStep
		}
	}
	return ""
}

// resultText is why a job did not succeed, in words.
func resultText(v *ui.View, j service.Job) string {
	if j.ResultReason == nil {
		return ""
	}
	if v.Lang == ui.English {
		return j.ResultReason.Summary
	}
	id := "containers.failure.job"
	switch {
	case j.ResultReason.Raw != "":
		id = "containers.failure." + j.ResultReason.Raw
	case failureStep(j) != "":
		id = "containers.failure." + failureStep(j)
	}
	return v.Word(id, v.T("containers.failure.job"))
}

// shownActions are what a discovery did, without what it left as it was.
func shownActions(all []project.ScanAction) []project.ScanAction {
	return slices.DeleteFunc(slices.Clone(all), func(a project.ScanAction) bool { return a.Action == "skipped" })
}

// phaseText is the part of a job that it is in, in words.
func phaseText(v *ui.View, name string) string {
	return v.Word("containers.phase."+name, v.Word("containers.step."+name, name))
}

// noteTone is the class of the note that says why a job did not succeed.
func noteTone(status string) string {
	switch status {
	case "rolled_back":
		return "warn"
	case "canceled":
		return "off"
	}
	return "bad"
}

func failureTone(u change.ChangeSummary) string {
	if u.Rollback != nil {
		return "warn"
	}
	return "bad"
}

func alsoFailedTone(f change.ServiceFailure) string {
	if f.RolledBack {
		return "warn"
	}
	return "bad"
}

// cancelText is the text that says what it means to cancel a job.
func cancelText(j service.Job) string {
	switch {
	case j.Status == "queued":
		return "containers.job.cancel.queued"
	case j.Type == work.JobUpdate && j.Mode != change.ModeDryRun, j.Type == work.JobRollback:
		return "containers.job.cancel.update"
	case j.Type == work.JobRestore, j.Type == work.JobServiceLifecycle, j.Type == work.JobStackLifecycle:
		return "containers.job.cancel.state"
	}
	return "containers.job.cancel.read"
}

// planAgain is where what a dry run has planned is done.
func planAgain(p pages, j jobView) string {
	return ui.Address(p.base+"/stacks/update", "service", j.ServiceID, "stack", map[bool]string{true: j.StackID}[j.ServiceID == ""])
}

func yesOrNo(v *ui.View, on bool) string {
	if on {
		return v.T("containers.yes")
	}
	return v.T("containers.no")
}
