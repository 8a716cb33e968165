// Package operator is how the command line speaks to the running core: a small JSON API over a Unix socket, which only root and
// the core's own user may use.
package operator

import (
	"context"
	"encoding/json"
	"time"

	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Status is what the core says of itself.
type Status struct {
	Version string `json:"version"`
	// StartedAt is when the core began, Uptime how many seconds ago that was.
	StartedAt string `json:"started_at"`
	Uptime    int64  `json:"uptime_seconds"`
	// Ready is what /readyz says.
	Ready    bool            `json:"ready"`
	Database ServiceStatus   `json:"database"`
	Services []ServiceStatus `json:"services"`
	Plugins  []Plugin        `json:"plugins"`
	// LastReload is nil before the first reload.
	LastReload *ReloadOutcome `json:"last_reload"`
	Jobs       JobCounts      `json:"jobs"`
}

// ServiceStatus is the readiness of a service or of the database. Message says why it is not ready.
type ServiceStatus struct {
	Name    string `json:"name"`
	BaseURL string `json:"base_url,omitempty"`
	Ready   bool   `json:"ready"`
	Message string `json:"message"`
}

// ReloadOutcome is how the last reload ended. Reason says why it was refused.
type ReloadOutcome struct {
	At       string `json:"at"`
	Accepted bool   `json:"accepted"`
	Reason   string `json:"reason"`
}

// JobCounts are the jobs that have not ended.
type JobCounts struct {
	Running int64 `json:"running"`
	Queued  int64 `json:"queued"`
}

// Plugin is one configured instance of a plugin, with its process.
type Plugin struct {
	// Ref is the name of the instance in plugin.hcl, such as search.docs.
	Ref     string `json:"ref"`
	Kind    string `json:"kind"`
	Plugin  string `json:"plugin"`
	Version string `json:"version"`
	// State is that of the process, or "off" while the instance is left out.
	State   string `json:"state"`
	Message string `json:"message"`
	// Since is when the state began, "" if it is not known.
	Since    string `json:"since"`
	PID      int    `json:"pid"`
	Restarts int    `json:"restarts"`
}

// Reload is how a reload ended.
type Reload struct {
	// Accepted reports whether the configuration was put into use. If not, the former one still is.
	Accepted    bool         `json:"accepted"`
	Diagnostics []Diagnostic `json:"diagnostics"`
	// Error is what went wrong beside the diagnostics, "" for nothing.
	Error string `json:"error"`
}

// Diagnostic is one finding about plugin.hcl.
type Diagnostic struct {
	// Severity is "error" or "warning".
	Severity string `json:"severity"`
	Summary  string `json:"summary"`
	Detail   string `json:"detail"`
	File     string `json:"file"`
	// Line counts from 1; 0 is no line.
	Line int `json:"line"`
	// Text is all of it for a terminal, with the line of the file.
	Text string `json:"text"`
}

// Job is a job of the queue, without its payload, which may hold what only its service should read.
type Job struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	State   string `json:"state"`
	Step    string `json:"step"`
	Percent int    `json:"percent"`
	// Actor is who submitted it, "" for the core itself.
	Actor           string `json:"actor"`
	Attempt         int    `json:"attempt"`
	CancelRequested bool   `json:"cancel_requested"`
	CreatedAt       string `json:"created_at"`
	// StartedAt and FinishedAt are "" until then.
	StartedAt  string      `json:"started_at"`
	FinishedAt string      `json:"finished_at"`
	Failure    *JobFailure `json:"failure"`
}

// JobFailure says why a job did not succeed.
type JobFailure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Reason  string `json:"reason"`
}

// JobPage is a page of jobs, the newest first.
type JobPage struct {
	Jobs []Job `json:"jobs"`
	// Next is the cursor of the next page, "" on the last one.
	Next string `json:"next"`
}

// JobDetail is a job with its newest events.
type JobDetail struct {
	Job
	Events []JobEvent `json:"events"`
}

// JobEvent is an entry of a job's history.
type JobEvent struct {
	Seq  int64           `json:"seq"`
	At   string          `json:"at"`
	Type string          `json:"type"`
	Data json.RawMessage `json:"data"`
}

// Core is the running core.
type Core interface {
	Status(context.Context) (Status, error)
	// Reload reads the configuration again. It returns when the new one is in use or was refused.
	Reload(context.Context) Reload
	// BeginUpgrade drains the core before it is replaced, unless another core of the database is being upgraded.
	BeginUpgrade(context.Context) (Upgrade, error)
	// EndUpgrade lets the core take work again, and another one be upgraded.
	EndUpgrade(context.Context) error
}

// Upgrade says whether the core may be replaced.
type Upgrade struct {
	// WaitsFor is the other core that is being upgraded, "" if this one may be.
	WaitsFor string `json:"waits_for"`
}

// Plugins are the instances of plugins. The error for an unknown one is a fault.NotFound that names those that there are.
type Plugins interface {
	List() []Plugin
	// Restart starts the process of an instance again and waits until it serves, or until it is known that it does not.
	Restart(ctx context.Context, ref string) (Plugin, error)
	// LogsAfter returns the lines that follow the first n that the process of an instance has written, and what to ask for to
	// get those that follow. process changes when the instance got another process, of which all lines count.
	LogsAfter(ref string, process any, n int64) (Lines, error)
}

// Lines are some of what a process has written.
type Lines struct {
	Lines []string
	// Process and Written are the arguments of the next call of LogsAfter.
	Process any
	Written int64
	// More is closed when there is another line.
	More <-chan struct{}
}

// Jobs is the queue.
type Jobs interface {
	List(ctx context.Context, f queue.Filter, cursor string, limit int) ([]queue.Job, string, error)
	Get(ctx context.Context, id string) (queue.Job, error)
	Events(ctx context.Context, id string, after int64, limit int) ([]queue.Event, error)
	Cancel(ctx context.Context, id string) (queue.Job, error)
	Types() []string
}

// Audit keeps who did what; auth.Users is one.
type Audit interface {
	Record(ctx context.Context, action, object string, failure error) error
}

// FormatTime returns a time as the API has it: RFC 3339 in UTC with milliseconds, or "" for the zero time.
func FormatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return store.FormatTime(t)
}
