package pages

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/httpd"
	service "github.com/patchbay-dev/patchbay/core/services/containers"
	"github.com/patchbay-dev/patchbay/core/services/containers/candidate"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

// discoveryPages are the pages of discovery and of version inference.
type discoveryPages struct{ pages }

func (p discoveryPages) discoveryRoutes() []httpd.Route {
	return []httpd.Route{
		getRoute("/discovery", p.showDiscovery), getRoute("/discovery/live", p.discoveryLive),
		postRoute("/discovery/scan", func(c *gin.Context) {
			id, err := p.service.Discover(c.Request.Context())
			p.answerJob(c, id, err)
		}),
		postRoute("/discovery/archive", p.archiveProject(true, "containers.project.archived")),
		postRoute("/discovery/accept-move", func(c *gin.Context) {
			files := strings.Split(c.PostForm("files"), "\n")
			id, err := p.service.AcceptMove(c.Request.Context(), c.PostForm("project"), c.PostForm("workingDir"), files)
			p.answerJob(c, id, err)
		}),
		getRoute("/queue/version-inference", p.showInference), getRoute("/queue/version-inference/live", p.inferenceLive),
		postRoute("/discovery/restore", p.archiveProject(false, "containers.project.restored")),
	}
}

// archiveProject takes the name of a project from a form: it may hold whatever compose allows.
func (p discoveryPages) archiveProject(archive bool, toast string) gin.HandlerFunc {
	return func(c *gin.Context) {
		name := c.PostForm("project")
		p.finishAction(c, "/discovery", toast, p.service.ArchiveProject(c.Request.Context(), name, archive), "Name", name)
	}
}

// discoveryView is what discovery knows.
type discoveryView struct {
	Archived string
	Projects []project.Project
	Last     []service.Job
}

func (p discoveryPages) discoveryView(ctx context.Context, archived string) (out discoveryView, err error) {
	out.Archived = archived
	if out.Projects, err = p.service.ListProjects(ctx, archived); err != nil {
		return out, err
	}
	out.Last, _, err = p.service.ListJobs(ctx, service.JobFilter{Types: []string{work.JobDiscovery}, Limit: 3})
	return out, err
}

func (p discoveryPages) showDiscovery(c *gin.Context) {
	d, err := p.discoveryView(c.Request.Context(), c.Query("archived"))
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	v := p.newView(c, "containers.discovery.title")
	p.kit.Render(c, v, http.StatusOK, discoveryPage(v, p.pages, d))
}

func (p discoveryPages) discoveryLive(c *gin.Context) {
	archived := c.Query("archived")
	p.serveLive(c, func(v *ui.View) (templ.Component, bool, error) {
		d, err := p.discoveryView(c.Request.Context(), archived)
		return discoveryParts(v, p.pages, d), false, err
	})
}

// isWarning reports whether what discovery says of a project is only a warning.
func isWarning(why string) bool { return strings.HasPrefix(why, "warning") }

// remedyText is what to do about what discovery says of a project; empty if nothing is known.
func remedyText(v *ui.View, why string) string {
	kind := strings.TrimPrefix(strings.TrimPrefix(why, "warning:"), " ")
	kind, _, _ = strings.Cut(kind, ":")
	return v.Word("containers.remedy."+strings.TrimSpace(kind), "")
}

// inferenceView is what is known of the versions behind digests.
type inferenceView struct {
	candidate.InferenceOverview
	Query, Status string
	// Services lead from a digest to a service that runs it or may get it.
	Services map[string]project.ServiceDetail
}

// inferenceStatuses are those that rows can be filtered by.
func inferenceStatuses() []string {
	return []string{"missing", "queued", "running", "ready", "stale", "all_failed"}
}

func (p discoveryPages) inferenceView(c *gin.Context) (out inferenceView, err error) {
	out.Query, out.Status = c.Query("q"), c.Query("status")
	ctx := c.Request.Context()
	if out.InferenceOverview, err = p.service.InferenceOverview(ctx,
		candidate.InferenceQuery{Query: out.Query, Status: out.Status, Page: ui.PageNumber(c.Query("page")), PerPage: jobsShown}); err != nil {
		return out, err
	}
	list, err := p.service.Overview(ctx, project.ArchivedExclude)
	out.Services = map[string]project.ServiceDetail{}
	for _, st := range list {
		for _, s := range st.Services {
			if s.Candidate != nil {
				out.Services[s.Candidate.Digest] = s
			}
			out.Services[s.Image.Digest] = s
		}
	}
	return out, err
}

func (i inferenceView) pageURL(path string, page int) string {
	number := ""
	if page > 1 {
		number = strconv.Itoa(page)
	}
	return ui.Address(path, "q", i.Query, "status", i.Status, "page", number)
}

func (p discoveryPages) showInference(c *gin.Context) {
	i, err := p.inferenceView(c)
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	v := p.newView(c, "containers.inference.title")
	p.kit.Render(c, v, http.StatusOK, inferencePage(v, p.pages, i))
}

func (p discoveryPages) inferenceLive(c *gin.Context) {
	p.serveLive(c, func(v *ui.View) (templ.Component, bool, error) {
		i, err := p.inferenceView(c)
		return inferenceParts(v, p.pages, i), false, err
	})
}
