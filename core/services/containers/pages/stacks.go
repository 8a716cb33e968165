package pages

import (
	"context"
	"net/http"
	"slices"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	service "github.com/patchbay-dev/patchbay/core/services/containers"
	"github.com/patchbay-dev/patchbay/core/services/containers/drift"
	"github.com/patchbay-dev/patchbay/core/services/containers/lifecycle"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/usage"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

// stackPages are the pages of all stacks and of one.
type stackPages struct{ pages }

func (p stackPages) stackRoutes() []httpd.Route {
	return []httpd.Route{
		getRoute("/stacks", p.showStacks), getRoute("/stacks/live", p.stacksLive),
		postRoute("/stacks/check", p.startCheck), postRoute("/stacks/scan", p.startScan),
		getRoute("/stacks/:stackId/files", p.composeFiles),
		getRoute("/stacks/:stackId", p.showStack), getRoute("/stacks/:stackId/live", p.stackLive),
		postRoute("/stacks/:stackId/action", func(c *gin.Context) {
			id, err := p.service.StackAction(c.Request.Context(), c.Param("stackId"), c.PostForm("action"))
			p.answerJob(c, id, err)
		}),
		postRoute("/stacks/:stackId/archive", func(c *gin.Context) {
			p.finishAction(c, "/stacks", "containers.stack.archived", p.service.ArchiveStack(c.Request.Context(), c.Param("stackId")))
		}),
		postRoute("/stacks/:stackId/restore", func(c *gin.Context) {
			id := c.Param("stackId")
			p.finishAction(c, "/stacks/"+id, "containers.stack.restored", p.service.RestoreStack(c.Request.Context(), id))
		}),
	}
}

// stacksView is what the page of all stacks shows.
type stacksView struct {
	Filter stackFilter
	Stacks []project.StackDetail
	Sum    summed
	Jobs   []service.Job
	Usage  map[string]usage.ResourceUsage
	// Projects is how many compose projects discovery knows, and Broken how many of them cannot be used.
	Projects, Broken int
	// Hidden is how many stacks the filter leaves out.
	Hidden int64
	// Blocking is how many deploy checks need attention, unless people want to hear of that on its page only.
	Blocking int
	// ChecksOff reports whether nothing looks for new versions by itself.
	ChecksOff bool
}

func (p stackPages) stacksView(ctx context.Context, f stackFilter) (out stacksView, err error) {
	out.Filter = f
	all, err := p.service.Overview(ctx, project.ArchivedInclude)
	if err != nil {
		return out, err
	}
	out.Sum = sumUp(slices.DeleteFunc(slices.Clone(all), func(st project.StackDetail) bool { return st.Archived }))
	for _, st := range all {
		if st.Archived && f.Archived != project.ArchivedInclude && f.Archived != project.ArchivedOnly {
			continue
		}
		st.Services = slices.DeleteFunc(slices.Clone(st.Services), func(s project.ServiceDetail) bool {
			return !f.includesService(&st, &s) || f.Archived == project.ArchivedOnly && !st.Archived && !s.Archived
		})
		if len(st.Services) > 0 || f.isEmpty() {
			out.Stacks = append(out.Stacks, st)
		}
	}
	out.Hidden = int64(len(all) - len(out.Stacks))
	if out.Jobs, _, err = p.service.ListJobs(ctx, service.JobFilter{Status: []string{"running", "queued"}, Limit: 50}); err != nil {
		return out, err
	}
	projects, err := p.service.ListProjects(ctx, project.ArchivedExclude)
	for _, pr := range projects {
		out.Projects++
		if pr.Status == record.ProjectInvalid {
			out.Broken++
		}
	}
	if err != nil {
		return out, err
	}
	out.Usage, err = p.readUsage(ctx)
	return out, err
}

// readUsage is what the services use, by their ids.
func (p stackPages) readUsage(ctx context.Context) (map[string]usage.ResourceUsage, error) {
	list, err := p.usage.Overview(ctx)
	out := make(map[string]usage.ResourceUsage, len(list.Services))
	for _, u := range list.Services {
		if !u.Stale {
			out[u.ServiceID] = u
		}
	}
	return out, err
}

func (p stackPages) showStacks(c *gin.Context) {
	list, err := p.stacksView(c.Request.Context(), readStackFilter(c))
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	if err := p.readNotices(c.Request.Context(), &list); err != nil {
		p.kit.Fail(c, err)
		return
	}
	v := p.newView(c, "containers.stacks.title")
	p.kit.Render(c, v, http.StatusOK, stacksPage(v, p.pages, list))
}

func (p stackPages) stacksLive(c *gin.Context) {
	f := readStackFilter(c)
	p.serveLive(c, func(v *ui.View) (templ.Component, bool, error) {
		list, err := p.stacksView(c.Request.Context(), f)
		return stacksParts(v, p.pages, list), false, err
	})
}

func readScan(c *gin.Context) project.ScanRequest {
	stack, svc := c.PostForm("stack"), c.PostForm("service")
	return project.ScanRequest{Scope: scopeName(svc, stack), StackID: stack, ServiceID: svc, Reason: work.ReasonUI}
}

func (p stackPages) startCheck(c *gin.Context) {
	id, err := p.service.Check(c.Request.Context(), readScan(c))
	p.answerJob(c, id, err)
}

func (p stackPages) startScan(c *gin.Context) {
	id, err := p.service.RuntimeScan(c.Request.Context(), readScan(c))
	p.answerJob(c, id, err)
}

// stackView is one stack.
type stackView struct {
	project.StackDetail
	Lifecycle lifecycle.StackLifecycle
	Usage     map[string]usage.ResourceUsage
	Jobs      []service.Job
}

// countUpdates is how many services an update of the stack takes along.
func (s stackView) countUpdates() int { return sumUp([]project.StackDetail{s.StackDetail}).Updates }

func (p stackPages) stackView(ctx context.Context, id string) (out stackView, err error) {
	if out.StackDetail, err = p.service.Stack(ctx, id); err != nil {
		return out, err
	}
	if out.Lifecycle, err = p.service.StackLifecycle(ctx, id); err != nil {
		return out, err
	}
	if out.Jobs, _, err = p.service.ListJobs(ctx, service.JobFilter{StackID: id, Limit: 5}); err != nil {
		return out, err
	}
	out.Usage, err = p.readUsage(ctx)
	return out, err
}

func (p stackPages) showStack(c *gin.Context) {
	st, err := p.stackView(c.Request.Context(), c.Param("stackId"))
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	v := p.newView(c, "")
	v.Title = st.Name
	p.kit.Render(c, v, http.StatusOK, stackPage(v, p.pages, st))
}

func (p stackPages) stackLive(c *gin.Context) {
	id := c.Param("stackId")
	if _, err := p.service.Stack(c.Request.Context(), id); err != nil {
		p.kit.Fail(c, err)
		return
	}
	p.serveLive(c, func(v *ui.View) (templ.Component, bool, error) {
		st, err := p.stackView(c.Request.Context(), id)
		return stackParts(v, p.pages, st), false, err
	})
}

// readNotices reads what the list of stacks tells above it.
func (p stackPages) readNotices(ctx context.Context, list *stacksView) (err error) {
	if list.Blocking, err = p.countBlocking(ctx); err != nil {
		return err
	}
	set, err := p.service.SystemSettings(ctx)
	if err != nil {
		return err
	}
	list.ChecksOff = set.Schedules.UpdateCheck != nil && !set.Schedules.UpdateCheck.Enabled
	return nil
}

// countBlocking is how many deploy checks the page tells of.
func (p stackPages) countBlocking(ctx context.Context) (int, error) {
	w, err := p.service.Welcome(ctx)
	if err != nil || w.NeverAutoOpen {
		return 0, err
	}
	rep, err := p.service.DeployReport(ctx)
	if err != nil || rep == nil {
		return 0, err
	}
	return len(rep.Overall.Blocking), nil
}

// filesView is what the page of the compose files of a stack shows.
type filesView struct {
	Stack project.StackDetail
	Files []project.ComposeText
	// Drift is what the files say and no container has; DriftError says why that is not known.
	Drift      []drift.ServiceDrift
	DriftError string
}

func (p stackPages) composeFiles(c *gin.Context) {
	ctx := c.Request.Context()
	var f filesView
	var err error
	if f.Stack, err = p.service.Stack(ctx, c.Param("stackId")); err == nil {
		f.Files, err = p.service.ComposeTexts(ctx, f.Stack.ID)
	}
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	v := p.newView(c, "containers.files.title")
	v.Path = p.base + "/stacks"
	var ids []string
	for _, s := range f.Stack.Services {
		if !s.Archived {
			ids = append(ids, s.ID)
		}
	}
	if f.Drift, err = p.service.Drift(ctx, ids); err != nil {
		f.DriftError = v.Fault(fault.As(err))
	}
	p.kit.Render(c, v, http.StatusOK, filesPage(v, p.pages, f))
}

// waitingServices are the services of the stack whose new version may be applied.
func (f filesView) waitingServices() []updateRow {
	return waitingUpdates([]project.StackDetail{f.Stack})
}

// lifecycleView is what can be started and stopped: a stack, or a service of it.
type lifecycleView struct {
	// URL takes the action; Project and Service are what compose is told, Name is what people call it.
	URL, Project, Service, Name string
	State                       record.LifecycleState
	Jobs                        []work.ActiveJob
	// Unavailable is why it cannot be started or stopped; empty if it can.
	Unavailable string
}

// possibleActions are those that make sense in a state.
func (l lifecycleView) possibleActions() []string {
	switch l.State {
	case record.StateRunning:
		return []string{lifecycle.ActionRestart, lifecycle.ActionStop}
	case record.StateStopped:
		return []string{lifecycle.ActionStart}
	}
	return []string{lifecycle.ActionStart, lifecycle.ActionRestart, lifecycle.ActionStop}
}

// actionQuestion is the question before an action; a start needs none.
func (l lifecycleView) actionQuestion(v *ui.View, p pages, action string) string {
	if action == lifecycle.ActionStart {
		return ""
	}
	return v.T("containers."+action+".confirm", "Name", l.Name, "Command", p.lifecycleCommand(l.Project, action, l.Service))
}
