package operator

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/queue"
)

const (
	// maxJobs is how many jobs a page has at most.
	maxJobs = 200
	// shownEvents is how many events of a job are shown, the newest.
	shownEvents = 500
	// openState stands for the states of jobs that have not ended.
	openState = "open"
)

// jobStates are those that jobs can be filtered by.
func jobStates() []string {
	return []string{openState, string(queue.Queued), string(queue.Running), string(queue.Success), string(queue.Failed),
		string(queue.RolledBack), string(queue.Canceled)}
}

func (s *Server) listJobs(r *http.Request) (JobPage, error) {
	filter, err := s.jobFilter(r)
	if err != nil {
		return JobPage{}, err
	}
	limit := 0
	if text := r.URL.Query().Get("limit"); text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > maxJobs {
			return JobPage{}, fault.New(fault.InvalidArgument, "The limit must be a number from 1 to %d.", maxJobs)
		}
	}
	found, next, err := s.cfg.Jobs.List(r.Context(), filter, r.URL.Query().Get("cursor"), limit)
	if err != nil {
		return JobPage{}, err
	}
	out := JobPage{Jobs: make([]Job, len(found)), Next: next}
	for i := range found {
		out.Jobs[i] = describeJob(&found[i])
	}
	return out, nil
}

// jobFilter returns what a request for jobs asks for.
func (s *Server) jobFilter(r *http.Request) (f queue.Filter, err error) {
	state, kind := r.URL.Query().Get("state"), r.URL.Query().Get("type")
	switch {
	case state == openState:
		f.States = []queue.State{queue.Queued, queue.Running}
	case slices.Contains(jobStates(), state):
		f.States = []queue.State{queue.State(state)}
	case state != "":
		return f, fault.New(fault.InvalidArgument, "Unknown job state %q. Use one of: %s.", state, strings.Join(jobStates(), ", "))
	}
	if kind != "" {
		if types := s.cfg.Jobs.Types(); !slices.Contains(types, kind) {
			return f, fault.New(fault.InvalidArgument, "Unknown job type %q. Use one of: %s.", kind, strings.Join(types, ", "))
		}
		f.Types = []string{kind}
	}
	f.Here = r.URL.Query().Get("here") == "true"
	return f, nil
}

func (s *Server) showJob(r *http.Request) (JobDetail, error) {
	job, err := s.cfg.Jobs.Get(r.Context(), r.PathValue("id"))
	if err != nil {
		return JobDetail{}, err
	}
	events, err := s.cfg.Jobs.Events(r.Context(), job.ID, max(0, job.LastSeq-shownEvents), shownEvents)
	if err != nil {
		return JobDetail{}, err
	}
	out := JobDetail{Job: describeJob(&job), Events: make([]JobEvent, len(events))}
	for i, e := range events {
		out.Events[i] = JobEvent{Seq: e.Seq, At: FormatTime(e.At), Type: e.Type, Data: e.Data}
	}
	return out, nil
}

func (s *Server) cancelJob(r *http.Request) (Job, error) {
	id := r.PathValue("id")
	job, err := s.cfg.Jobs.Cancel(r.Context(), id)
	s.record(r.Context(), "core.jobs.cancel", id, err)
	return describeJob(&job), err
}

// describeJob returns a job as the API shows it.
func describeJob(j *queue.Job) Job {
	out := Job{
		ID: j.ID, Type: j.Type, State: string(j.State), Step: j.Step, Percent: j.Percent, Actor: j.Actor, Attempt: j.Attempt,
		CancelRequested: j.CancelRequested, CreatedAt: FormatTime(j.CreatedAt), StartedAt: FormatTime(j.StartedAt),
		FinishedAt: FormatTime(j.FinishedAt),
	}
	if f := j.Failure; f != nil {
		out.Failure = &JobFailure{Code: string(f.Code), Message: f.Message, Reason: f.Reason}
	}
	return out
}
