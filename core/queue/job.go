package queue

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/store"
)

// State is the state of a job.
type State string

// The states of a job. The last four are final.
const (
	Queued     State = "queued"
	Running    State = "running"
	Success    State = "success"
	Failed     State = "failed"
	RolledBack State = "rolled_back"
	Canceled   State = "canceled"
)

// Final reports whether a job in this state never changes again.
func (s State) Final() bool { return s != Queued && s != Running }

// Reasons that say more than the error code of a job that did not succeed.
const (
	// ReasonInterrupted: the process that ran the job ended, and the job may not be repeated.
	ReasonInterrupted = "interrupted"
	// ReasonTimeout: the job ran longer than its handler allows.
	ReasonTimeout = "timeout"
	// ReasonPanic: the handler panicked.
	ReasonPanic = "panic"
	// ReasonCanceled: somebody asked to cancel it.
	ReasonCanceled = "canceled"
)

// Job is a copy of one job as it was when it was read.
type Job struct {
	ID       string
	Type     string
	State    State
	DedupKey string
	// Actor is who submitted it.
	Actor   string
	Payload json.RawMessage
	// Result is what the handler returned, also beside an error; nil until the job ends.
	Result json.RawMessage
	// Failure tells why it did not succeed; nil otherwise.
	Failure *Failure
	// Step and Percent are the last progress that was reported.
	Step    string
	Percent int
	// Detail is the last value of Progress.Note; nil without one.
	Detail json.RawMessage
	// Checkpoint is the last value of Progress.Checkpoint; nil without one, and in the jobs of List and Holders.
	Checkpoint json.RawMessage
	// Attempt counts from 1 at the first run.
	Attempt int
	// CancelRequested tells that a running job was asked to stop.
	CancelRequested bool
	// LastSeq is the number of the job's newest event.
	LastSeq int64
	// RunAt is when it may start at the earliest.
	RunAt, CreatedAt time.Time
	// StartedAt and FinishedAt are zero until then.
	StartedAt, FinishedAt time.Time
}

// Failure says why a job did not succeed. It may be shown to people.
type Failure struct {
	Code    fault.Code
	Message string
	// Reason is one of the Reason constants, or "".
	Reason string
}

// Decode reads the payload into v, a pointer.
func (j *Job) Decode(v any) error {
	if err := json.Unmarshal(j.Payload, v); err != nil {
		return fmt.Errorf("decode the payload of %s: %w", j.ID, err)
	}
	return nil
}

// row is a job as it is stored.
type row struct {
	ID              string
	Type            string
	State           State
	DedupKey        string
	Actor           string
	Payload         string
	Result          string
	ErrorCode       string
	ErrorMessage    string
	Reason          string
	Step            string
	Percent         int
	Attempt         int
	Claims          int64
	Recoveries      int
	CancelRequested int64
	LastSeq         int64
	Owner           string
	HeartbeatAt     int64
	RunAt           int64
	CreatedAt       int64
	StartedAt       int64
	FinishedAt      int64
	Detail          string
	Checkpoint      string `gorm:"->"` // in a table of its own: see checkpoint.go
}

// TableName implements gorm's Tabler.
func (row) TableName() string { return "jobs" }

// rowColumns are the columns of a job in the order of columns, which has the checkpoint besides.
const rowColumns = `id, type, state, dedup_key, actor, payload, result, error_code, error_message, reason, step, percent, attempt, claims,
	recoveries, cancel_requested, last_seq, owner, heartbeat_at, run_at, created_at, started_at, finished_at, detail`

// jobColumns are those of rowColumns, after the name of the table.
var jobColumns = store.Columns(row{}, "jobs")

// columns returns where rowColumns and the checkpoint are read to.
func (r *row) columns() []any {
	return []any{&r.ID, &r.Type, &r.State, &r.DedupKey, &r.Actor, &r.Payload, &r.Result, &r.ErrorCode, &r.ErrorMessage, &r.Reason, &r.Step,
		&r.Percent, &r.Attempt, &r.Claims, &r.Recoveries, &r.CancelRequested, &r.LastSeq, &r.Owner, &r.HeartbeatAt, &r.RunAt, &r.CreatedAt,
		&r.StartedAt, &r.FinishedAt, &r.Detail, &r.Checkpoint}
}

func (r *row) toJob() Job {
	j := Job{
		ID: r.ID, Type: r.Type, State: r.State, DedupKey: r.DedupKey, Actor: r.Actor,
		Payload: json.RawMessage(r.Payload), Step: r.Step, Percent: r.Percent, Attempt: r.Attempt,
		CancelRequested: r.CancelRequested != 0, LastSeq: r.LastSeq,
		RunAt: store.FromMillis(r.RunAt), CreatedAt: store.FromMillis(r.CreatedAt),
		StartedAt: store.FromMillis(r.StartedAt), FinishedAt: store.FromMillis(r.FinishedAt),
	}
	if r.Result != "" {
		j.Result = json.RawMessage(r.Result)
	}
	if r.Detail != "" {
		j.Detail = json.RawMessage(r.Detail)
	}
	if r.Checkpoint != "" {
		j.Checkpoint = json.RawMessage(r.Checkpoint)
	}
	if r.ErrorCode != "" {
		j.Failure = &Failure{Code: fault.Code(r.ErrorCode), Message: r.ErrorMessage, Reason: r.Reason}
	}
	return j
}
