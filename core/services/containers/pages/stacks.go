package pages

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/httpd"
	service "github.com/patchbay-dev/patchbay/core/services/containers"
	"github.com/patchbay-dev/patchbay/core/services/containers/lifecycle"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/usage"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

func (p pages) stackRoutes() []httpd.Route {
	return []httpd.Route{
		getRoute("/stacks", p.showStacks), getRoute("/stacks/live", p.stacksLive),
		postRoute("/stacks/check", p.startCheck), postRoute("/stacks/scan", p.startScan),
		getRoute("/stacks/update", p.confirmUpdate), postRoute("/stacks/update", p.startUpdate),
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

// stackFilter is what the list of stacks is confined to, as in its address.
type stackFilter struct{ Query, Show, Archived string }

func stackFilterOf(c *gin.Context) stackFilter {
	return stackFilter{strings.TrimSpace(c.Query("q")), c.Query("show"), c.Query("archived")}
}

func (f stackFilter) queryValues() url.Values {
	return ui.Query("q", f.Query, "show", f.Show, "archived", f.Archived)
}

func (f stackFilter) pageURL(path string) string {
	return ui.Address(path, "q", f.Query, "show", f.Show, "archived", f.Archived)
}

func (f stackFilter) isEmpty() bool { return f == stackFilter{} }

// includesService reports whether the list shows a service.
func (f stackFilter) includesService(st *project.StackDetail, s *project.ServiceDetail) bool {
	if s.Archived && f.Archived != project.ArchivedInclude && f.Archived != project.ArchivedOnly {
		return false
	}
	if f.Show == "updates" && s.Candidate == nil {
		return false
	}
	return strings.Contains(strings.ToLower(st.Name+" "+s.Name+" "+s.Image.Ref), strings.ToLower(f.Query))
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

func (p pages) stacksView(ctx context.Context, f stackFilter) (out stacksView, err error) {
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
	if out.Jobs, err = p.openJobs(ctx); err != nil {
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
func (p pages) readUsage(ctx context.Context) (map[string]usage.ResourceUsage, error) {
	list, err := p.usage.Overview(ctx)
	out := make(map[string]usage.ResourceUsage, len(list.Services))
	for _, u := range list.Services {
		if !u.Stale {
			out[u.ServiceID] = u
		}
	}
	return out, err
}

func (p pages) showStacks(c *gin.Context) {
	list, err := p.stacksView(c.Request.Context(), stackFilterOf(c))
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	if err := p.readNotices(c.Request.Context(), &list); err != nil {
		p.kit.Fail(c, err)
		return
	}
	v := p.newView(c, "containers.stacks.title")
	p.kit.Render(c, v, http.StatusOK, stacksPage(v, p, list))
}

func (p pages) stacksLive(c *gin.Context) {
	f := stackFilterOf(c)
	p.serveLive(c, func(v *ui.View) (templ.Component, bool, error) {
		list, err := p.stacksView(c.Request.Context(), f)
		return stacksParts(v, p, list), false, err
	})
}

// scopeName is what a form is about: a service, a stack or everything.
func scopeName(serviceID, stackID string) string {
	switch {
	case serviceID != "":
		return work.ScopeService
	case stackID != "":
		return work.ScopeStack
	}
	return work.ScopeAll
}

func scanOf(c *gin.Context) project.ScanRequest {
	stack, svc := c.PostForm("stack"), c.PostForm("service")
	return project.ScanRequest{Scope: scopeName(svc, stack), StackID: stack, ServiceID: svc, Reason: work.ReasonUI}
}

func (p pages) startCheck(c *gin.Context) {
	id, err := p.service.Check(c.Request.Context(), scanOf(c))
	p.answerJob(c, id, err)
}

func (p pages) startScan(c *gin.Context) {
	id, err := p.service.RuntimeScan(c.Request.Context(), scanOf(c))
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

func (p pages) stackView(ctx context.Context, id string) (out stackView, err error) {
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

func (p pages) showStack(c *gin.Context) {
	st, err := p.stackView(c.Request.Context(), c.Param("stackId"))
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	v := p.newView(c, "")
	v.Title = st.Name
	p.kit.Render(c, v, http.StatusOK, stackPage(v, p, st))
}

func (p pages) stackLive(c *gin.Context) {
	id := c.Param("stackId")
	if _, err := p.service.Stack(c.Request.Context(), id); err != nil {
		p.kit.Fail(c, err)
		return
	}
	p.serveLive(c, func(v *ui.View) (templ.Component, bool, error) {
		st, err := p.stackView(c.Request.Context(), id)
		return stackParts(v, p, st), false, err
	})
}

// lifecycleCommand is what a start, stop or restart runs, in words.
func (p pages) lifecycleCommand(project, action, svc string) string {
	return strings.TrimSpace(p.service.ComposeCommand() + " -p " + project + " " + action + " " + svc)
}
