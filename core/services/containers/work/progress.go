package work

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// Reporter tells what a job is doing: its log, and the progress that pages and clients follow.
type Reporter struct {
	now      func() time.Time
	Job      *queue.Job
	Progress queue.Progress
	// mu guards what follows up to outages: services that are updated at the same time report.
	mu    sync.Mutex
	last  time.Time
	state ProgressState
	// shares are the parts of the job that are done, in percent, by service.
	shares map[string]float64
	// Outages is the number of outages of the engine before the job began. resumed tells that an earlier attempt has begun the work.
	Outages int64
	Resumed bool
}

// ProgressState is how far a job is.
type ProgressState struct {
	Phase         string            `json:"phase" example:"apply"`
	Message       string            `json:"message" example:"pulling nginx:1.25"`
	Current       int               `json:"current"`
	Total         int               `json:"total" doc:"0 while that is not known."`
	Percent       int               `json:"percent" minimum:"0" maximum:"100"`
	CurrentTarget string            `json:"currentTarget,omitempty" example:"blog / web"`
	Download      *DownloadProgress `json:"download,omitempty"`
	UpdatedAt     api.Time          `json:"updatedAt"`
}

// DownloadProgress is how far a pull is.
type DownloadProgress struct {
	CurrentBytes    int64           `json:"currentBytes"`
	TotalBytes      int64           `json:"totalBytes" doc:"Of the layers that are known so far."`
	CompletedLayers int             `json:"completedLayers"`
	TotalLayers     int             `json:"totalLayers"`
	ActiveLayers    []LayerProgress `json:"activeLayers"`
	Status          string          `json:"status,omitempty"`
}

// LayerProgress is a layer that is under way.
type LayerProgress struct {
	ID           string `json:"id"`
	Status       string `json:"status" example:"Downloading"`
	CurrentBytes int64  `json:"currentBytes"`
	TotalBytes   int64  `json:"totalBytes"`
}

// EventProgress is the type of the events that carry a ProgressState.
const EventProgress = "job_progress"

// ProgressPause is the least time between two stored reports of progress.
const ProgressPause = 400 * time.Millisecond

// NewReporter returns the reporter of a job, which goes on from the progress that an earlier attempt has reported.
func NewReporter(now func() time.Time, job *queue.Job, p queue.Progress) *Reporter {
	r := &Reporter{now: now, Job: job, Progress: p, shares: map[string]float64{}}
	_ = json.Unmarshal(job.Detail, &r.state)
	return r
}

// UpdateProgress changes the progress of the job and stores it. Frequent changes are stored only if phase or target differ.
func (r *Reporter) UpdateProgress(ctx context.Context, change func(*ProgressState)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.state
	change(&r.state)
	isNews := r.state.Phase != before.Phase || r.state.CurrentTarget != before.CurrentTarget || r.state.Current != before.Current
	r.storeChanged(ctx, isNews)
}

// UpdateOften is UpdateProgress for what changes all the time: it is stored only now and then.
func (r *Reporter) UpdateOften(ctx context.Context, change func(*ProgressState)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.state)
	r.storeChanged(ctx, false)
}

// NoteShare notes how much of the job is done with a service, in percent of the whole. The next report tells the sum.
func (r *Reporter) NoteShare(serviceID string, share float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shares[serviceID] = share
}

func (r *Reporter) storeChanged(ctx context.Context, isNews bool) {
	now := r.now()
	if !isNews && now.Sub(r.last) < ProgressPause {
		return
	}
	r.last = now
	if len(r.shares) > 0 {
		sum := 0.0
		for _, share := range r.shares {
			sum += share
		}
		r.state.Percent = min(int(sum+0.5), 100)
	}
	r.storeProgress(ctx)
}

func (r *Reporter) storeProgress(ctx context.Context) {
	r.state.UpdatedAt = api.TimeOf(r.now())
	r.Progress.Note(ctx, r.state)
	r.Progress.Emit(ctx, EventProgress, r.state)
}

// endReport stores the last progress.
func (r *Reporter) endReport(ctx context.Context, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state.Phase, r.state.Download = "done", nil
	if err == nil {
		r.state.Percent = 100
	}
	r.storeProgress(ctx)
}

// LogInfo adds a line to the log of the job.
func (r *Reporter) LogInfo(ctx context.Context, format string, args ...any) {
	r.log(ctx, "info", format, args)
}

// LogWarning adds a warning to the log of the job.
func (r *Reporter) LogWarning(ctx context.Context, format string, args ...any) {
	r.log(ctx, "warn", format, args)
}

// LogError adds an error to the log of the job. It does not end the job.
func (r *Reporter) LogError(ctx context.Context, format string, args ...any) {
	r.log(ctx, "error", format, args)
}

func (r *Reporter) log(ctx context.Context, level, format string, args []any) {
	text := strings.TrimRight(errs.Plain(fmt.Sprintf(format, args...)), "\n")
	r.Progress.Emit(ctx, queue.EventLog, map[string]any{"text": text, "level": level})
}
