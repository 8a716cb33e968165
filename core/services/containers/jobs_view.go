package containers

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/change"
	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

// Job is a job of the service.
type Job struct {
	ID                string              `json:"id" example:"job_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
	Type              string              `json:"type" example:"update"`
	Scope             string              `json:"scope" enum:"all,stack,service"`
	StackID           string              `json:"stackId,omitempty"`
	ServiceID         string              `json:"serviceId,omitempty"`
	Status            string              `json:"status" enum:"queued,running,success,failed,rolled_back,canceled"`
	Reason            string              `json:"reason" example:"ui"`
	CreatedBy         string              `json:"createdBy" example:"ann@example.com"`
	CreatedAt         api.Time            `json:"createdAt"`
	StartedAt         api.Time            `json:"startedAt,omitempty,omitzero"`
	FinishedAt        api.Time            `json:"finishedAt,omitempty,omitzero"`
	AllowArchMismatch bool                `json:"allowArchMismatch"`
	BackupMode        string              `json:"backupMode,omitempty" example:"inherit"`
	Action            string              `json:"action,omitempty" enum:"start,stop,restart"`
	Mode              string              `json:"mode,omitempty" enum:"apply,dry-run"`
	CancelRequested   bool                `json:"cancelRequested,omitempty"`
	Summary           json.RawMessage     `json:"summary" doc:"What the job did; its members depend on the type."`
	Progress          *work.ProgressState `json:"progress,omitempty"`
	ResultReason      *ResultReason       `json:"resultReason,omitempty" doc:"Why it did not succeed."`
}

// jobOptions are what the API shows of the payload of a job, of whatever type.
type jobOptions struct {
	work.Subject
	Mode              string `json:"mode"`
	AllowArchMismatch bool   `json:"allowArchMismatch"`
	BackupMode        string `json:"backupMode"`
	Action            string `json:"action"`
}

// ResultReason is why a job did not succeed.
type ResultReason struct {
	failure change.Failure
	Summary string `json:"summary" example:"The new container did not become healthy."`
	Detail  string `json:"detail,omitempty"`
	Raw     string `json:"raw,omitempty" example:"interrupted"`
}

// JobDetail is a job with its log.
type JobDetail struct {
	Job
	Logs       []JobLog `json:"logs"`
	LogsLastID int64    `json:"logsLastId" doc:"Where its stream of events goes on."`
}

// JobLog is a line of a job's log.
type JobLog struct {
	TS    api.Time `json:"ts"`
	Level string   `json:"level" enum:"info,warn,error"`
	Msg   string   `json:"msg"`
}

func jobView(j *queue.Job) Job {
	var spec jobOptions
	_ = j.Decode(&spec)
	out := Job{
		ID: j.ID, Type: work.PublicType(j.Type), Scope: cmp.Or(spec.Scope, work.ScopeAll), StackID: spec.StackID, ServiceID: spec.ServiceID,
		Status: string(j.State),
		Reason: cmp.Or(spec.Reason, work.ReasonManual), CreatedBy: cmp.Or(j.Actor, work.ActorSchedule), CreatedAt: api.TimeOf(j.CreatedAt),
		AllowArchMismatch: spec.AllowArchMismatch,
		BackupMode:        spec.BackupMode, Action: spec.Action, Mode: spec.Mode, CancelRequested: j.CancelRequested, Summary: j.Result,
	}
	if !j.StartedAt.IsZero() {
		out.StartedAt = api.TimeOf(j.StartedAt)
	}
	if !j.FinishedAt.IsZero() {
		out.FinishedAt = api.TimeOf(j.FinishedAt)
	}
	if len(j.Result) == 0 || string(j.Result) == "null" {
		out.Summary = json.RawMessage("{}")
	}
	if p := (work.ProgressState{}); len(j.Detail) > 0 && json.Unmarshal(j.Detail, &p) == nil {
		out.Progress = &p
	}
	if j.Failure != nil {
		out.ResultReason = resultReason(j)
	}
	return out
}

// resultReason returns why a job did not succeed.
func resultReason(j *queue.Job) *ResultReason {
	f, part := change.FindFailure(j)
	out := &ResultReason{Summary: f.LocalizedText("en"), Detail: j.Failure.Message, Raw: j.Failure.Reason, failure: f}
	if out.Raw == queue.ReasonCanceled && f.Code != failure.Canceled {
		out.Raw, out.Detail = "", cmp.Or(part.LastError, out.Detail)
	}
	return out
}

// JobOf returns what the API shows of a job of the queue; false if it shows no such job. The figures of its progress are left out.
func JobOf(id, queued string, payload json.RawMessage) (Job, bool) {
	return jobView(&queue.Job{ID: id, Type: queued, Payload: payload}), work.IsShown(queued)
}

// JobFilter selects jobs.
type JobFilter struct {
	Types              []string
	Status             []string
	StackID, ServiceID string
	Limit              int
	Cursor             string
}

// The limits of a page of jobs.
const (
	defaultJobs = 100
	maxJobs     = 200
)

// ListJobs lists jobs, the newest first, and gives the cursor of the next page.
func (s *Service) ListJobs(ctx context.Context, f JobFilter) ([]Job, string, error) {
	if f.Limit == 0 {
		f.Limit = defaultJobs
	}
	if f.Limit < 1 || f.Limit > maxJobs {
		return nil, "", record.InvalidField("limit", "The limit must be from 1 to %d.", maxJobs)
	}
	q := queue.Filter{Types: work.QualifiedTypes(work.JobTypes())}
	if len(f.Types) > 0 {
		for _, t := range f.Types {
			if !slices.Contains(work.JobTypes(), t) {
				return nil, "", record.InvalidField("type", "There is no type of job %q.", t)
			}
		}
		q.Types = work.QualifiedTypes(f.Types)
	}
	for _, st := range f.Status {
		if !slices.Contains([]string{"queued", "running", "success", "failed", "rolled_back", "canceled"}, st) {
			return nil, "", record.InvalidField("status", "There is no status %q.", st)
		}
		q.States = append(q.States, queue.State(st))
	}
	if f.ServiceID != "" {
		q.Tags = append(q.Tags, work.ServiceTag(f.ServiceID))
	}
	if f.StackID != "" {
		q.Tags = append(q.Tags, work.StackTag(f.StackID))
	}
	rows, next, err := s.queue.List(ctx, q, f.Cursor, f.Limit)
	if err != nil {
		if known := (*fault.Error)(nil); errors.As(err, &known) && known.Code == fault.InvalidArgument && f.Cursor != "" {
			return nil, "", fault.Wrap(err, "invalid_jobs_cursor",
				"The cursor is not valid: take it from nextCursor of the page before.").WithStatus(400).With("field", "cursor")
		}
		return nil, "", fmt.Errorf("list jobs: %w", err)
	}
	out := make([]Job, len(rows))
	for i := range rows {
		out[i] = jobView(&rows[i])
	}
	return out, next, nil
}

const noJob = "There is no such job."

// FindJob returns a job that the API shows.
func (s *Service) FindJob(ctx context.Context, id string) (queue.Job, error) {
	j, err := s.queue.Get(ctx, id)
	if err == nil && !work.IsShown(j.Type) || fault.CodeOf(err) == fault.NotFound {
		return j, fault.New(fault.NotFound, noJob)
	}
	return j, err
}

// maxLogs is how many lines of a log are shown, the newest ones.
const maxLogs = 2000

// JobDetail reads a job with its log.
func (s *Service) JobDetail(ctx context.Context, id string) (JobDetail, error) {
	j, err := s.FindJob(ctx, id)
	if err != nil {
		return JobDetail{}, err
	}
	out := JobDetail{Job: jobView(&j), Logs: []JobLog{}}
	for {
		events, err := s.queue.Events(ctx, id, out.LogsLastID, 0)
		if err != nil {
			return out, err
		}
		for i := range events {
			out.LogsLastID = events[i].Seq
			if line, ok := LogLine(&events[i]); ok {
				out.Logs = append(out.Logs, line)
			}
		}
		if len(events) == 0 {
			break
		}
	}
	if over := len(out.Logs) - maxLogs; over > 0 {
		out.Logs = out.Logs[over:]
	}
	return out, nil
}

// LogLine returns an event of a job as a line of its log; false if it is none.
func LogLine(ev *queue.Event) (JobLog, bool) {
	if ev.Type != queue.EventLog {
		return JobLog{}, false
	}
	var data struct{ Text, Level string }
	_ = json.Unmarshal(ev.Data, &data)
	return JobLog{TS: api.TimeOf(ev.At), Level: cmp.Or(data.Level, "info"), Msg: data.Text}, true
}

// CancelJob stops a job. An update that has begun to change a container goes back to the former image first.
func (s *Service) CancelJob(ctx context.Context, id string) (Job, error) {
	if _, err := s.FindJob(ctx, id); err != nil {
		return Job{}, err
	}
	j, err := s.queue.Cancel(ctx, id)
	if err != nil {
		return Job{}, err
	}
	return jobView(&j), nil
}
