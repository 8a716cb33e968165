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
	"github.com/patchbay-dev/patchbay/core/httpd/api"
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

// taskPrefix begins the type of a job that is a task of a user. What follows is the type of the task, with "_" for ".".
const taskPrefix = "releases.task_"

// The types of tasks.
const (
	Starred       = "sync.starred"
	Releases      = "sync.releases"
	Notifications = "sync.notifications"
	All           = "sync.all"
	Brief         = "brief.generate"

	TranslateRelease      = "translate.release"
	TranslateDetail       = "translate.release_detail"
	TranslateNotification = "translate.notification"
)

// allTasks are the types of tasks.
var allTasks = []string{Starred, Releases, Notifications, All, Brief, TranslateRelease, TranslateDetail, TranslateNotification}

// Payload is what a task works on.
type Payload struct {
	UserID string `json:"user_id"`
	// Date is that of a brief, "" for the latest.
	Date string `json:"date,omitempty"`
	// EntityID is what is translated: a release, or the thread of a notification.
	EntityID string `json:"entity_id,omitempty"`
}

// jobType returns the type of the job of a task.
func jobType(task string) string {
	raw := []byte(taskPrefix + task)
	for i := len(taskPrefix); i < len(raw); i++ {
		if raw[i] == '.' {
			raw[i] = '_'
		}
	}
	return string(raw)
}

// TypeOfJob returns the type of the task that a job is. It reports false for other jobs.
func TypeOfJob(job string) (string, bool) {
	for _, task := range allTasks {
		if jobType(task) == job {
			return task, true
		}
	}
	return "", false
}

// StatusName returns the status of a task whose job is in a state.
func StatusName(state queue.State) string {
	switch state {
	case queue.Success:
		return "succeeded"
	case queue.RolledBack:
		return string(queue.Failed)
	}
	return string(state)
}

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
		return fault.New(fault.Internal, "The task did not succeed.")
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

// Results of tasks, as answers have them.
type (
	// StarredResult tells how many repositories are starred.
	StarredResult struct {
		Repos int `json:"repos"`
	}
	// ReleasesResult tells how many repositories were read, and how many releases are new or have changed.
	ReleasesResult struct {
		Repos       int      `json:"repos"`
		Releases    int      `json:"releases"`
		FailedRepos []string `json:"failed_repos,omitempty" doc:"Some of those that could not be read."`
	}
	// NotificationsResult tells how many notifications were read, and from which time on.
	NotificationsResult struct {
		Notifications int       `json:"notifications"`
		Since         *api.Time `json:"since" nullable:"true"`
	}
	// SocialResult tells how many items are new in the feed.
	SocialResult struct {
		RepoStars int `json:"repo_stars"`
		Followers int `json:"followers"`
		Events    int `json:"events"`
	}
	// AllResult is the result of all of them.
	AllResult struct {
		Starred       StarredResult       `json:"starred"`
		Releases      ReleasesResult      `json:"releases"`
		Social        SocialResult        `json:"social"`
		Notifications NotificationsResult `json:"notifications"`
		SocialError   string              `json:"social_error,omitempty"`
	}
)

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

// EventStage is the type of the events by which a task tells what it has done.
const EventStage = "task_stage"

// tellStage adds an event to a task: the name of a stage, and what it has brought.
func tellStage(ctx context.Context, p queue.Progress, stage string, result any) {
	p.Emit(ctx, EventStage, map[string]any{"stage": stage, "result": result})
}

func (t *Tasks) syncStarred(ctx context.Context, userID string, p queue.Progress) (out StarredResult, err error) {
	out.Repos, err = t.cfg.Syncer.Starred(ctx, userID)
	if err == nil {
		tellStage(ctx, p, "star_refreshed", out)
	}
	return out, err
}

// tellEvery is how often the progress of reading repositories is told.
const tellEvery = 2 * time.Second

func (t *Tasks) syncReleases(ctx context.Context, userID string, p queue.Progress) (out ReleasesResult, err error) {
	told := t.cfg.Now()
	res, err := t.cfg.Syncer.Releases(ctx, userID, func(done, total int) {
		if now := t.cfg.Now(); now.Sub(told) >= tellEvery {
			told = now
			p.Percent(ctx, 100*done/total)
			tellStage(ctx, p, "release_progress", map[string]int{"total_repos": total, "done_repos": done})
		}
	})
	out = ReleasesResult{res.Repos, res.Releases, res.Failed}
	if err == nil {
		tellStage(ctx, p, "release_summary", out)
	}
	return out, err
}

func (t *Tasks) syncNotifications(ctx context.Context, userID string, p queue.Progress) (out NotificationsResult, err error) {
	res, err := t.cfg.Syncer.Notifications(ctx, userID)
	out.Notifications = res.Notifications
	if !res.Since.IsZero() {
		since := api.TimeOf(res.Since)
		out.Since = &since
	}
	if err == nil {
		tellStage(ctx, p, "notifications_summary", out)
	}
	return out, err
}

func (t *Tasks) syncSocial(ctx context.Context, userID string, p queue.Progress) (out SocialResult, err error) {
	res, err := t.cfg.Syncer.Social(ctx, userID)
	out = SocialResult(res)
	tellStage(ctx, p, "social_summary", out)
	return out, err
}

// syncAll reads everything of a user: without an account at the code host the releases of what the user sees, and nothing else. What
// happened around the user may fail without the rest.
func (t *Tasks) syncAll(ctx context.Context, userID string, p queue.Progress) (out AllResult, err error) {
	has, err := t.cfg.Syncer.HasAccount(ctx, userID)
	if err != nil {
		return out, err
	}
	if !has {
		out.Releases, err = t.syncReleases(ctx, userID, p)
		return out, err
	}
	if out.Starred, err = t.syncStarred(ctx, userID, p); err != nil {
		return out, err
	}
	if out.Releases, err = t.syncReleases(ctx, userID, p); err != nil {
		return out, err
	}
	if out.Social, err = t.syncSocial(ctx, userID, p); err != nil {
		out.SocialError = fault.As(err).Message
	}
	out.Notifications, err = t.syncNotifications(ctx, userID, p)
	return out, err
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

// TranslatedKind returns the kind of what a task translates, "" for other tasks.
func TranslatedKind(task string) string {
	switch task {
	case TranslateRelease:
		return translation.KindSummary
	case TranslateDetail:
		return translation.KindDetail
	case TranslateNotification:
		return translation.KindNotification
	}
	return ""
}
