package containers

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

// report tells what a job is doing: its log, and the progress that pages and clients follow.
type report struct {
	now func() time.Time
	job *queue.Job
	p   queue.Progress
	// mu guards what follows up to outages: services that are updated at the same time report.
	mu    sync.Mutex
	last  time.Time
	state ProgressState
	// shares are the parts of the job that are done, in percent, by service.
	shares map[string]float64
	// outages is the number of outages of the engine before the job began. resumed tells that an earlier attempt has begun the work.
	outages int64
	resumed bool
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

// eventProgress is the type of the events that carry a ProgressState.
const eventProgress = "job_progress"

// progressPause is the least time between two stored reports of progress.
const progressPause = 400 * time.Millisecond

func newReport(now func() time.Time, job *queue.Job, p queue.Progress) *report {
	r := &report{now: now, job: job, p: p, shares: map[string]float64{}}
	_ = json.Unmarshal(job.Detail, &r.state)
	return r
}

// updateProgress changes the progress of the job and stores it. Frequent changes are stored only if phase or target differ.
func (r *report) updateProgress(ctx context.Context, change func(*ProgressState)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.state
	change(&r.state)
	isNews := r.state.Phase != before.Phase || r.state.CurrentTarget != before.CurrentTarget || r.state.Current != before.Current
	r.storeChanged(ctx, isNews)
}

// updateOften is updateProgress for what changes all the time: it is stored only now and then.
func (r *report) updateOften(ctx context.Context, change func(*ProgressState)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.state)
	r.storeChanged(ctx, false)
}

// noteShare notes how much of the job is done with a service, in percent of the whole. The next report tells the sum.
func (r *report) noteShare(serviceID string, share float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shares[serviceID] = share
}

func (r *report) storeChanged(ctx context.Context, isNews bool) {
	now := r.now()
	if !isNews && now.Sub(r.last) < progressPause {
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

func (r *report) storeProgress(ctx context.Context) {
	r.state.UpdatedAt = api.TimeOf(r.now())
	r.p.Note(ctx, r.state)
	r.p.Emit(ctx, eventProgress, r.state)
}

// endReport stores the last progress.
func (r *report) endReport(ctx context.Context, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state.Phase, r.state.Download = "done", nil
	if err == nil {
		r.state.Percent = 100
	}
	r.storeProgress(ctx)
}

func (r *report) info(ctx context.Context, format string, args ...any) {
	r.log(ctx, "info", format, args)
}

func (r *report) warn(ctx context.Context, format string, args ...any) {
	r.log(ctx, "warn", format, args)
}

func (r *report) fail(ctx context.Context, format string, args ...any) {
	r.log(ctx, "error", format, args)
}

func (r *report) log(ctx context.Context, level, format string, args []any) {
	text := strings.TrimRight(errs.Plain(fmt.Sprintf(format, args...)), "\n")
	r.p.Emit(ctx, queue.EventLog, map[string]any{"text": text, "level": level})
}
