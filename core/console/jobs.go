package console

import (
	"context"
	"encoding/json"
	"maps"
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

// jobPages are those of the jobs.
type jobPages struct{ *base }

func (h *jobPages) listRoutes() []httpd.Route {
	return []httpd.Route{
		{Method: http.MethodGet, Path: jobsPath, Policy: httpd.Admin, Handler: h.showJobs},
		{Method: http.MethodGet, Path: jobsPath + "/live", Policy: httpd.Admin, Handler: h.jobsLive},
		{Method: http.MethodGet, Path: jobsPath + "/:id", Policy: httpd.Admin, Handler: h.showJob},
		{Method: http.MethodGet, Path: jobsPath + "/:id/live", Policy: httpd.Admin, Handler: h.jobLive},
		{Method: http.MethodPost, Path: jobsPath + "/:id/cancel", Policy: httpd.Admin, BodyLimit: formLimit, Handler: h.cancelJob},
	}
}

// jobFilter is what the list of jobs is confined to, as in its address.
type jobFilter struct {
	// State is that of the queue, or openState.
	State, Type string
	// Tag is one of the tags of the jobs, as services give them.
	Tag string
	// Housekeeping is shownHousekeeping to show that as well.
	Housekeeping string
	Cursor       string
}

const (
	// openState stands for the states of jobs that have not ended.
	openState         = "open"
	shownHousekeeping = "shown"
)

func readFilter(gc *gin.Context) jobFilter {
	return jobFilter{gc.Query("state"), gc.Query("type"), gc.Query("tag"), gc.Query("housekeeping"), gc.Query("cursor")}
}

// pageURL is that of a page of jobs with this filter.
func (f jobFilter) pageURL(path, cursor string) string {
	return ui.Address(path, "state", f.State, "type", f.Type, "tag", f.Tag, "housekeeping", f.Housekeeping, "cursor", cursor)
}

// jobStates are those that jobs can be filtered by.
func jobStates() []queue.State {
	return []queue.State{queue.Queued, queue.Running, queue.Success, queue.Failed, queue.RolledBack, queue.Canceled}
}

type jobsView struct {
	Filter jobFilter
	Jobs   []queue.Job
	// Types are those that jobs can be filtered by.
	Types []string
	// Targets are what the jobs work on, by their ids.
	Targets map[string]ui.JobTarget
	Next    string
}

// queueFilter returns what the filter asks of the queue.
func (h *jobPages) queueFilter(f jobFilter) queue.Filter {
	var q queue.Filter
	switch f.State {
	case "":
	case openState:
		q.States = []queue.State{queue.Queued, queue.Running}
	default:
		q.States = []queue.State{queue.State(f.State)}
	}
	if f.Type != "" {
		q.Types = []string{f.Type}
	} else if f.Housekeeping != shownHousekeeping {
		q.ExceptTypes = h.housekeepingTypes()
	}
	if f.Tag != "" {
		q.Tags = []string{f.Tag}
	}
	return q
}

// housekeepingTypes returns the types of jobs that clean up or keep figures.
func (h *jobPages) housekeepingTypes() []string {
	out := []string{"auth.purge", "notify.purge"}
	for _, s := range h.cfg.Sections {
		out = append(out, s.Housekeeping...)
	}
	return out
}

func (h *jobPages) jobsView(ctx context.Context, v *ui.View, f jobFilter) (jobsView, error) {
	jobs, next, err := h.cfg.Queue.List(ctx, h.queueFilter(f), f.Cursor, jobPage)
	if err != nil {
		return jobsView{}, err
	}
	if next != "" {
		next = f.pageURL(jobsPath, next)
	}
	targets, err := h.jobTargets(ctx, v, jobs)
	return jobsView{Filter: f, Jobs: jobs, Types: h.cfg.Queue.Types(), Targets: targets, Next: next}, err
}

// jobTargets returns what jobs work on, by their ids: as their service says, or as the text of their type does.
func (h *jobPages) jobTargets(ctx context.Context, v *ui.View, jobs []queue.Job) (map[string]ui.JobTarget, error) {
	out := make(map[string]ui.JobTarget, len(jobs))
	asked := make([]ui.Job, len(jobs))
	for i, j := range jobs {
		asked[i] = ui.Job{ID: j.ID, Type: j.Type, Payload: j.Payload}
		out[j.ID] = ui.JobTarget{Text: v.Word("job."+j.Type+".target", "–")}
	}
	for _, s := range h.cfg.Sections {
		if s.JobTargets == nil {
			continue
		}
		more, err := s.JobTargets(ctx, v, asked)
		if err != nil {
			return nil, err
		}
		maps.Copy(out, more)
	}
	return out, nil
}

func (h *jobPages) showJobs(gc *gin.Context) {
	v := h.kit.View(gc, "jobs.title")
	list, err := h.jobsView(gc.Request.Context(), v, readFilter(gc))
	if err != nil {
		h.kit.Fail(gc, err)
		return
	}
	h.kit.Render(gc, v, http.StatusOK, jobsPage(v, list))
}

func (h *jobPages) jobsLive(gc *gin.Context) {
	sub := h.cfg.Bus.Subscribe("job/")
	defer sub.Close()
	f := readFilter(gc)
	h.kit.Stream(gc, lookEvery, ui.Wake(gc.Request.Context(), sub.Events(), nil), func(v *ui.View) (templ.Component, bool, error) {
		list, err := h.jobsView(gc.Request.Context(), v, f)
		return jobTable(v, list), false, err
	})
}

// jobDetail is one job with its history.
type jobDetail struct {
	queue.Job
	Events []queue.Event
	Target ui.JobTarget
}

func (h *jobPages) jobDetail(gc *gin.Context, v *ui.View) (jobDetail, error) {
	ctx, id := gc.Request.Context(), gc.Param("id")
	job, err := h.cfg.Queue.Get(ctx, id)
	if err != nil {
		return jobDetail{}, err
	}
	// The newest events are the ones that are looked for.
	events, err := h.cfg.Queue.Events(ctx, id, max(0, job.LastSeq-500), 500)
	if err != nil {
		return jobDetail{}, err
	}
	targets, err := h.jobTargets(ctx, v, []queue.Job{job})
	return jobDetail{job, events, targets[id]}, err
}

func (h *jobPages) showJob(gc *gin.Context) {
	v := h.kit.View(gc, "")
	d, err := h.jobDetail(gc, v)
	if err != nil {
		h.kit.Fail(gc, err)
		return
	}
	if d.Target.Page != "" {
		h.kit.Redirect(gc, d.Target.Page)
		return
	}
	v.Title = v.Word("job."+d.Type, d.Type)
	h.kit.Render(gc, v, http.StatusOK, jobDetailPage(v, d))
}

func (h *jobPages) jobLive(gc *gin.Context) {
	if _, err := h.cfg.Queue.Get(gc.Request.Context(), gc.Param("id")); err != nil {
		h.kit.Fail(gc, err)
		return
	}
	sub := h.cfg.Bus.Subscribe(queue.TopicOf(gc.Param("id")))
	defer sub.Close()
	h.kit.Stream(gc, lookEvery, ui.Wake(gc.Request.Context(), sub.Events(), nil), func(v *ui.View) (templ.Component, bool, error) {
		d, err := h.jobDetail(gc, v)
		return jobParts(v, d), d.State.Final(), err
	})
}

func (h *jobPages) cancelJob(gc *gin.Context) {
	job, err := h.cfg.Queue.Cancel(gc.Request.Context(), gc.Param("id"))
	if err != nil {
		h.kit.Fail(gc, err)
		return
	}
	h.kit.Done(gc, jobsPath+"/"+job.ID, ui.Toast{Kind: "info", TextID: "jobs.canceled"})
}

// shownState is the state of a job with the wish that it stop.
func shownState(j queue.Job) string {
	if j.CancelRequested && !j.State.Final() {
		return "cancel_requested"
	}
	return string(j.State)
}

// jobDuration is how long a job ran, or runs.
func jobDuration(v *ui.View, j queue.Job) string {
	switch {
	case j.StartedAt.IsZero():
		return "–"
	case j.FinishedAt.IsZero():
		return v.Span(v.Now.Sub(j.StartedAt))
	}
	return v.Millis(max(j.FinishedAt.Sub(j.StartedAt), time.Microsecond*100))
}

func actorName(v *ui.View, j queue.Job) string {
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
	case queue.EventLog, queue.EventStep:
		text, _ := v.DetailText(d.Text + d.Step)
		return text
	case queue.EventFinished:
		return v.T("event.finished", "State", v.State(d.State))
	case queue.EventQueued, queue.EventRunning, queue.EventCancel, queue.EventRetry, queue.EventRequeued, queue.EventProgress:
		return v.T("event."+e.Type, "Attempt", d.Attempt, "Message", d.Message, "Reason", d.Reason, "Percent", d.Percent)
	}
	return e.Type
}
