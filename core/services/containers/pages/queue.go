package pages

import (
	"context"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/httpd"
	service "github.com/patchbay-dev/patchbay/core/services/containers"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

// jobsShown is how many rows a page lists.
const jobsShown = 50

func (p pages) queueRoutes() []httpd.Route {
	return []httpd.Route{
		getRoute("/queue", p.redirectQueue), getRoute("/queue/version-inference", p.showInference),
		getRoute("/queue/version-inference/live", p.inferenceLive),
		getRoute("/queue/:jobId", p.showJob), getRoute("/queue/:jobId/live", p.jobLive), postRoute("/queue/:jobId/cancel", p.cancelJob),
	}
}

// jobsPath is the list of all jobs.
const jobsPath = "/system/jobs"

// redirectQueue leads from the former list of the service's jobs to that of all jobs, with the same filter.
func (p pages) redirectQueue(c *gin.Context) {
	kind, tag := c.Query("type"), ""
	if kind != "" {
		kind = work.QueueType(kind)
	}
	switch {
	case c.Query("serviceId") != "":
		tag = work.ServiceTag(c.Query("serviceId"))
	case c.Query("stackId") != "":
		tag = work.StackTag(c.Query("stackId"))
	}
	p.kit.Redirect(c, ui.Address(jobsPath, "state", c.Query("status"), "type", kind, "tag", tag))
}

// jobTargets returns what the service's jobs work on, and where their own pages are.
func (p pages) jobTargets(ctx context.Context, v *ui.View, jobs []ui.Job) (map[string]ui.JobTarget, error) {
	out := map[string]ui.JobTarget{}
	var names map[string]string
	for _, j := range jobs {
		job, ok := service.JobOf(j.ID, j.Type, j.Payload)
		if !ok {
			continue
		}
		if names == nil {
			var err error
			if names, err = p.readNames(ctx); err != nil {
				return nil, err
			}
		}
		t := ui.JobTarget{Text: jobSubject(v, job, names), Page: p.base + "/queue/" + j.ID}
		switch {
		case job.ServiceID != "" && job.StackID != "" && names[job.ServiceID] != "":
			t.Href = p.serviceURL(job.StackID, job.ServiceID)
		case job.StackID != "" && names[job.StackID] != "":
			t.Href = p.base + "/stacks/" + job.StackID
		}
		out[j.ID] = t
	}
	return out, nil
}

// readNames are those of stacks and services, by their ids; a service's has its stack's in front.
func (p pages) readNames(ctx context.Context) (map[string]string, error) {
	list, err := p.service.Overview(ctx, project.ArchivedInclude)
	out := map[string]string{}
	for _, st := range list {
		out[st.ID] = st.Name
		for _, s := range st.Services {
			out[s.ID] = st.Name + " / " + s.Name
		}
	}
	return out, err
}

// jobSubject is what a job works on, in words.
func jobSubject(v *ui.View, j service.Job, names map[string]string) string {
	id := j.ServiceID
	if id == "" {
		id = j.StackID
	}
	switch {
	case id == "":
		return v.T("containers.scope.all")
	case names[id] != "":
		return names[id]
	}
	return id
}
