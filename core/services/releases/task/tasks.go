// Package task does work in the background: tasks that users ask for, and rounds that are due by the clock.
package task

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/queue"
	own "github.com/patchbay-dev/patchbay/core/services/releases/account"
	"github.com/patchbay-dev/patchbay/core/services/releases/brief"
	"github.com/patchbay-dev/patchbay/core/services/releases/notice"
	"github.com/patchbay-dev/patchbay/core/services/releases/reader"
	"github.com/patchbay-dev/patchbay/core/services/releases/reading"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
	"github.com/patchbay-dev/patchbay/core/services/releases/sync"
	"github.com/patchbay-dev/patchbay/core/services/releases/translate"
	"github.com/patchbay-dev/patchbay/core/services/releases/translation"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Queue runs tasks.
type Queue interface {
	// Submit queues a job, or returns the unfinished one that is the same work.
	Submit(ctx context.Context, sub queue.Submission) (job queue.Job, reused bool, err error)
	// Get reads a job.
	Get(ctx context.Context, id string) (queue.Job, error)
	// List returns jobs, the latest first.
	List(ctx context.Context, f queue.Filter, cursor string, limit int) (jobs []queue.Job, next string, err error)
	// Follow sends the events of a job after a sequence number.
	Follow(ctx context.Context, jobID string, afterSeq int64) (<-chan queue.Event, error)
}

// Config is what Tasks and Rounds need.
type Config struct {
	Store        *store.Store
	Queue        Queue
	Users        *auth.Users
	Accounts     *own.Store
	Repos        *repo.Store
	Briefs       *brief.Briefs
	Syncer       *sync.Syncer
	Translations *translate.Translations
	Readers      *reader.Readers
	Translator   *translation.Translator
	Announcer    *notice.Announcer
	// Hosts returns the code hosts in use, Interval how often each account is read.
	Hosts    func() []sync.Host
	Interval func() time.Duration
	Logger   hclog.Logger
	Now      func() time.Time
}

// Tasks does work that users ask for, each as a job of the queue.
type Tasks struct{ cfg Config }

// New returns what does the work that users ask for.
func New(cfg Config) *Tasks { return &Tasks{cfg} }

// Submit queues a task of a user. A sync that is under way already is returned instead of another one.
func (t *Tasks) Submit(ctx context.Context, task string, in Payload) (queue.Job, error) {
	sub := queue.Submission{Type: jobType(task), Payload: in, Actor: in.UserID, Tags: []string{"releases:" + in.UserID}}
	if task != Brief {
		sub.DedupKey = in.UserID + in.EntityID
	}
	job, _, err := t.cfg.Queue.Submit(ctx, sub)
	return job, err
}

// Find returns the job of a task of a user.
func (t *Tasks) Find(ctx context.Context, userID, id string) (queue.Job, error) {
	none := fault.New(fault.NotFound, "There is no such task.")
	job, err := t.cfg.Queue.Get(ctx, id)
	if err != nil {
		if fault.As(err).Code == fault.NotFound {
			err = none
		}
		return job, err
	}
	var payload Payload
	if _, ok := TypeOfJob(job.Type); !ok || job.Decode(&payload) != nil || payload.UserID != userID {
		return job, none
	}
	return job, nil
}

// FollowTask sends the events of a task after a sequence number.
func (t *Tasks) FollowTask(ctx context.Context, id string, after int64) (<-chan queue.Event, error) {
	return t.cfg.Queue.Follow(ctx, id, after)
}

// Wait returns the result of a task when it has ended, or its failure.
func (t *Tasks) Wait(ctx context.Context, job queue.Job) (json.RawMessage, error) {
	following, stop := context.WithCancel(ctx)
	defer stop()
	events, err := t.cfg.Queue.Follow(following, job.ID, 0)
	if err != nil {
		return nil, err
	}
	for range events {
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if job, err = t.cfg.Queue.Get(ctx, job.ID); err != nil {
		return nil, err
	}
	switch {
	case !job.State.Final():
		return nil, errors.New("the events of a task ended before it did")
	case job.State == queue.Success:
		return job.Result, nil
	}
	return nil, t.taskFault(ctx, job)
}

// taskFault returns why a task did not succeed. Where a code host asked for a pause, it has how long that lasts.
func (t *Tasks) taskFault(ctx context.Context, job queue.Job) error {
	if job.Failure == nil {
		return fault.New(fault.Internal, "The task failed.")
	}
	f := fault.New(job.Failure.Code, "%s", job.Failure.Message)
	switch job.Failure.Code {
	case sync.CodeTokenRequired:
		f = f.WithStatus(http.StatusForbidden)
	case sync.CodeTokenInvalid:
		f = f.WithStatus(http.StatusUnprocessableEntity)
	case fault.RateLimited:
		var in Payload
		err := job.Decode(&in)
		var pause time.Duration
		if err == nil {
			pause, err = t.cfg.Syncer.PauseOf(ctx, in.UserID)
		}
		if err != nil {
			return err
		}
		f = f.WithRetryAfter(pause)
	}
	return f.With("task_id", job.ID)
}

// Run does the work of a task.
func (t *Tasks) Run(task string) func(context.Context, *queue.Job, queue.Progress) (any, error) {
	return func(ctx context.Context, job *queue.Job, p queue.Progress) (any, error) {
		var in Payload
		if err := job.Decode(&in); err != nil {
			return nil, err
		}
		if kind := TranslatedKind(task); kind != "" {
			return t.cfg.Translator.TranslateInTask(ctx, job, translation.Wanted{UserID: in.UserID, Kind: kind, EntityID: in.EntityID})
		}
		switch task {
		case Starred:
			return t.syncStarred(ctx, in.UserID, p)
		case Releases:
			return t.syncReleases(ctx, in.UserID, p)
		case Notifications:
			return t.syncNotifications(ctx, in.UserID, p)
		case All:
			return t.syncAll(ctx, in.UserID, p)
		}
		return t.generateBrief(ctx, in.UserID, in.Date, p)
	}
}

// generateBrief writes the brief of a user for a date, "" for the latest.
func (t *Tasks) generateBrief(ctx context.Context, userID, date string, p queue.Progress) (reading.BriefContent, error) {
	w, zone, err := t.BriefWindow(ctx, userID, date)
	if err != nil {
		return reading.BriefContent{}, err
	}
	b, err := t.cfg.Briefs.Generate(ctx, userID, w, zone)
	if err != nil {
		return reading.BriefContent{}, err
	}
	tellStage(ctx, p, "generate", map[string]any{"id": b.ID, "date": b.Date})
	return reading.BriefContentOf(b), nil
}

// BriefWindow returns the window of a user for a date, "" for the latest.
func (t *Tasks) BriefWindow(ctx context.Context, userID, date string) (w brief.Window, zone *time.Location, err error) {
	prefs, err := t.cfg.Readers.PreferencesFor(ctx, userID)
	if err != nil {
		return w, nil, err
	}
	if zone, err = time.LoadLocation(prefs.TimeZone); err != nil {
		return w, nil, err
	}
	if date == "" {
		return brief.LatestWindow(t.cfg.Now(), prefs.BriefHour, zone), zone, nil
	}
	w, err = brief.WindowOn(date, t.cfg.Now(), prefs.BriefHour, zone)
	return w, zone, err
}

// StartSync begins to read everything that the caller sees: with an account, that as well.
func (t *Tasks) StartSync(ctx context.Context) error {
	userID, err := reader.OwnerID(ctx)
	if err != nil {
		return err
	}
	task := Releases
	if has, err := t.cfg.Syncer.HasAccount(ctx, userID); err != nil {
		return err
	} else if has {
		task = All
	}
	_, err = t.Submit(ctx, task, Payload{UserID: userID})
	return err
}

// WriteBrief writes the caller's latest brief and returns its id.
func (t *Tasks) WriteBrief(ctx context.Context) (string, error) {
	userID, err := reader.OwnerID(ctx)
	if err != nil {
		return "", err
	}
	w, zone, err := t.BriefWindow(ctx, userID, "")
	if err != nil {
		return "", err
	}
	b, err := t.cfg.Briefs.Generate(ctx, userID, w, zone)
	return b.ID, err
}
