package console

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/queue"
)

const (
	jobsPath = "/system/jobs"
	jobPage  = 50
)

func (c *Console) jobRoutes() []httpd.Route {
	return []httpd.Route{
		{Method: http.MethodGet, Path: jobsPath, Policy: httpd.Admin, Handler: c.jobs},
		{Method: http.MethodGet, Path: jobsPath + "/live", Policy: httpd.Admin, Handler: c.jobsLive},
		{Method: http.MethodGet, Path: jobsPath + "/:id", Policy: httpd.Admin, Handler: c.job},
		{Method: http.MethodGet, Path: jobsPath + "/:id/live", Policy: httpd.Admin, Handler: c.jobLive},
		{Method: http.MethodPost, Path: jobsPath + "/:id/cancel", Policy: httpd.Admin, BodyLimit: formLimit, Handler: c.cancelJob},
	}
}

// jobFilter is what the list of jobs is confined to, as in its address.
type jobFilter struct{ State, Type, Cursor string }

func filterOf(gc *gin.Context) jobFilter {
	return jobFilter{State: gc.Query("state"), Type: gc.Query("type"), Cursor: gc.Query("cursor")}
}

func (f jobFilter) empty() bool { return f.State == "" && f.Type == "" }

// address is that of a page of jobs with this filter.
func (f jobFilter) address(path, cursor string) string {
	return ui.Address(path, "state", f.State, "type", f.Type, "cursor", cursor)
}

// states are those that jobs can be filtered by.
func states() []queue.State {
	return []queue.State{queue.Queued, queue.Running, queue.Success, queue.Failed, queue.RolledBack, queue.Canceled}
}

type jobsView struct {
	Filter jobFilter
	Jobs   []queue.Job
	Next   string
}

func (c *Console) jobsView(ctx context.Context, f jobFilter) (jobsView, error) {
	var q queue.Filter
	if f.State != "" {
		q.States = []queue.State{queue.State(f.State)}
	}
	if f.Type != "" {
		q.Types = []string{f.Type}
	}
	jobs, next, err := c.cfg.Queue.List(ctx, q, f.Cursor, jobPage)
	if next != "" {
		next = f.address(jobsPath, next)
	}
	return jobsView{Filter: f, Jobs: jobs, Next: next}, err
}

func (c *Console) jobs(gc *gin.Context) {
	list, err := c.jobsView(gc.Request.Context(), filterOf(gc))
	if err != nil {
		c.kit.Fail(gc, err)
		return
	}
	v := c.kit.View(gc, "jobs.title")
	c.kit.Render(gc, v, http.StatusOK, jobsPage(v, list))
}

func (c *Console) jobsLive(gc *gin.Context) {
	sub := c.cfg.Bus.Subscribe("job/")
	defer sub.Close()
	f := filterOf(gc)
	c.kit.Stream(gc, lookEvery, ui.Wake(gc.Request.Context(), sub.Events(), nil), func(v *ui.View) (templ.Component, bool, error) {
		list, err := c.jobsView(gc.Request.Context(), f)
		return jobTable(v, list), false, err
	})
}

// jobDetail is one job with its history.
type jobDetail struct {
	queue.Job
	Events []queue.Event
}

func (c *Console) jobDetail(gc *gin.Context) (jobDetail, error) {
	ctx, id := gc.Request.Context(), gc.Param("id")
	job, err := c.cfg.Queue.Get(ctx, id)
	if err != nil {
		return jobDetail{}, err
	}
	// The newest events are the ones that are looked for.
	events, err := c.cfg.Queue.Events(ctx, id, max(0, job.LastSeq-500), 500)
	return jobDetail{job, events}, err
}

func (c *Console) job(gc *gin.Context) {
	d, err := c.jobDetail(gc)
	if err != nil {
		c.kit.Fail(gc, err)
		return
	}
	v := c.kit.View(gc, "")
	v.Title = v.Word("job."+d.Type, d.Type)
	c.kit.Render(gc, v, http.StatusOK, jobDetailPage(v, d))
}

func (c *Console) jobLive(gc *gin.Context) {
	if _, err := c.jobDetail(gc); err != nil {
		c.kit.Fail(gc, err)
		return
	}
	sub := c.cfg.Bus.Subscribe(queue.TopicOf(gc.Param("id")))
	defer sub.Close()
	c.kit.Stream(gc, lookEvery, ui.Wake(gc.Request.Context(), sub.Events(), nil), func(v *ui.View) (templ.Component, bool, error) {
		d, err := c.jobDetail(gc)
		return jobParts(v, d), d.State.Final(), err
	})
}

func (c *Console) cancelJob(gc *gin.Context) {
	job, err := c.cfg.Queue.Cancel(gc.Request.Context(), gc.Param("id"))
	if err != nil {
		c.kit.Fail(gc, err)
		return
	}
	c.kit.Done(gc, jobsPath+"/"+job.ID, ui.Toast{Kind: "info", TextID: "jobs.canceled"})
}

// shownState is the state of a job with the wish that it stop.
func shownState(j queue.Job) string {
	if j.CancelRequested && !j.State.Final() {
		return "cancel_requested"
	}
	return string(j.State)
}

// took is how long a job ran, or runs.
func took(v *ui.View, j queue.Job) string {
	switch {
	case j.StartedAt.IsZero():
		return "–"
	case j.FinishedAt.IsZero():
		return v.Span(v.Now.Sub(j.StartedAt))
	}
	return v.Millis(max(j.FinishedAt.Sub(j.StartedAt), time.Microsecond*100))
}

func actor(v *ui.View, j queue.Job) string {
	if j.Actor == "" {
		return v.T("jobs.system")
	}
	return j.Actor
}

// eventText is an entry of a job's history in words.
func eventText(v *ui.View, e queue.Event) string {
	var d struct {
		Text, Step, Message, Reason, State string
		Attempt, Percent                   int
	}
	if json.Unmarshal(e.Data, &d) != nil {
		return e.Type
	}
	switch e.Type {
	case queue.EventLog:
		return d.Text
	case queue.EventStep:
		return d.Step
	case queue.EventFinished:
		return v.T("event.finished", "State", v.State(d.State))
	case queue.EventQueued, queue.EventRunning, queue.EventCancel, queue.EventRetry, queue.EventRequeued, queue.EventProgress:
		return v.T("event."+e.Type, "Attempt", d.Attempt, "Message", d.Message, "Reason", d.Reason, "Percent", d.Percent)
	}
	return e.Type
}

// pretty is JSON for reading.
func pretty(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}
