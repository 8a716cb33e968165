package pages

import (
	"context"
	"net/http"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/httpd"
	service "github.com/patchbay-dev/patchbay/core/services/containers"
)

// jobsShown is how many jobs a page of the queue has.
const jobsShown = 50

func (p pages) queueRoutes() []httpd.Route {
	return []httpd.Route{
		get("/queue", p.queue), get("/queue/live", p.queueLive),
		get("/queue/version-inference", p.inference), get("/queue/version-inference/live", p.inferenceLive),
		get("/queue/:jobId", p.job), get("/queue/:jobId/live", p.jobLive), post("/queue/:jobId/cancel", p.cancelJob),
	}
}

// statuses are those that jobs can be filtered by; open stands for queued and running.
func statuses() []string {
	return []string{"open", "queued", "running", "success", "failed", "rolled_back", "canceled"}
}

// jobFilter is what the queue is confined to, as in its address.
type jobFilter struct{ Type, Status, Stack, Service, Cursor string }

func jobFilterOf(c *gin.Context) jobFilter {
	return jobFilter{c.Query("type"), c.Query("status"), c.Query("stackId"), c.Query("serviceId"), c.Query("cursor")}
}

func (f jobFilter) address(path, cursor string) string {
	return ui.Address(path, "type", f.Type, "status", f.Status, "stackId", f.Stack, "serviceId", f.Service, "cursor", cursor)
}

func (f jobFilter) empty() bool { return f == jobFilter{} }

func (f jobFilter) query() service.JobFilter {
	q := service.JobFilter{StackID: f.Stack, ServiceID: f.Service, Cursor: f.Cursor, Limit: jobsShown}
	if f.Type != "" {
		q.Types = []string{f.Type}
	}
	switch f.Status {
	case "":
	case "open":
		q.Status = []string{"queued", "running"}
	default:
		q.Status = []string{f.Status}
	}
	return q
}

// queueView is a page of the queue.
type queueView struct {
	Filter jobFilter
	Jobs   []service.Job
	Next   string
	// Names are those of stacks and services, by their ids.
	Names  map[string]string
	Stacks []service.StackItem
}

func (p pages) queueView(ctx context.Context, f jobFilter) (out queueView, err error) {
	out.Filter = f
	if out.Jobs, out.Next, err = p.service.ListJobs(ctx, f.query()); err != nil {
		return out, err
	}
	if out.Next != "" {
		out.Next = f.address(p.base+"/queue", out.Next)
	}
	if out.Stacks, err = p.service.Stacks(ctx, service.ArchivedInclude); err != nil {
		return out, err
	}
	out.Names, err = p.names(ctx)
	return out, err
}

// names are those of stacks and services, by their ids; a service's has its stack's in front.
func (p pages) names(ctx context.Context) (map[string]string, error) {
	list, err := p.service.Overview(ctx, service.ArchivedInclude)
	out := map[string]string{}
	for _, st := range list {
		out[st.ID] = st.Name
		for _, s := range st.Services {
			out[s.ID] = st.Name + " / " + s.Name
		}
	}
	return out, err
}

// about is what a job works on, in words.
func about(v *ui.View, j service.Job, names map[string]string) string {
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

func (p pages) queue(c *gin.Context) {
	list, err := p.queueView(c.Request.Context(), jobFilterOf(c))
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	v := p.view(c, "containers.queue.title")
	p.kit.Render(c, v, http.StatusOK, queuePage(v, p, list))
}

func (p pages) queueLive(c *gin.Context) {
	f := jobFilterOf(c)
	f.Cursor = ""
	p.live(c, func(v *ui.View) (templ.Component, bool, error) {
		list, err := p.queueView(c.Request.Context(), f)
		return queueParts(v, p, list), false, err
	})
}
