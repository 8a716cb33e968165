package releases

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/releases/brief"
)

// taskPrefix begins the type of a job that is a task of a user. What follows is the type of the task, with "_" for ".".
const taskPrefix = "releases.task_"

// The types of tasks.
const (
	taskStarred       = "sync.starred"
	taskReleases      = "sync.releases"
	taskNotifications = "sync.notifications"
	taskAll           = "sync.all"
	taskBrief         = "brief.generate"

	taskTranslateRelease      = "translate.release"
	taskTranslateDetail       = "translate.release_detail"
	taskTranslateNotification = "translate.notification"
)

// allTasks are the types of tasks.
var allTasks = []string{taskStarred, taskReleases, taskNotifications, taskAll, taskBrief, taskTranslateRelease, taskTranslateDetail, taskTranslateNotification}

// taskPayload is what a task works on.
type taskPayload struct {
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

// taskType returns the type of the task that a job is. It reports false for other jobs.
func taskType(job string) (string, bool) {
	for _, task := range allTasks {
		if jobType(task) == job {
			return task, true
		}
	}
	return "", false
}

// taskStatus returns the status of a task whose job is in a state.
func taskStatus(state queue.State) string {
	switch state {
	case queue.Success:
		return "succeeded"
	case queue.RolledBack:
		return string(queue.Failed)
	}
	return string(state)
}

// submitTask queues a task of a user. A sync that is under way already is returned instead of another one.
func (s *Service) submitTask(ctx context.Context, task string, in taskPayload) (queue.Job, error) {
	sub := queue.Submission{Type: jobType(task), Payload: in, Actor: in.UserID, Tags: []string{"releases:" + in.UserID}}
	if task != taskBrief {
		sub.DedupKey = in.UserID + in.EntityID
	}
	job, _, err := s.cfg.Queue.Submit(ctx, sub)
	return job, err
}

// findTask returns the job of a task of a user.
func (s *Service) findTask(ctx context.Context, userID, id string) (queue.Job, error) {
	none := fault.New(fault.NotFound, "There is no such task.")
	job, err := s.cfg.Queue.Get(ctx, id)
	if err != nil {
		if fault.As(err).Code == fault.NotFound {
			err = none
		}
		return job, err
	}
	var payload taskPayload
	if _, ok := taskType(job.Type); !ok || job.Decode(&payload) != nil || payload.UserID != userID {
		return job, none
	}
	return job, nil
}

// waitForTask returns the result of a task when it has ended, or its failure.
func (s *Service) waitForTask(ctx context.Context, job queue.Job) (json.RawMessage, error) {
	following, stop := context.WithCancel(ctx)
	defer stop()
	events, err := s.cfg.Queue.Follow(following, job.ID, 0)
	if err != nil {
		return nil, err
	}
	for range events {
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if job, err = s.cfg.Queue.Get(ctx, job.ID); err != nil {
		return nil, err
	}
	switch {
	case !job.State.Final():
		return nil, errors.New("the events of a task ended before it did")
	case job.State == queue.Success:
		return job.Result, nil
	}
	return nil, s.taskFault(ctx, job)
}

// taskFault returns why a task did not succeed. Where a code host asked for a pause, it has how long that lasts.
func (s *Service) taskFault(ctx context.Context, job queue.Job) error {
	if job.Failure == nil {
		return fault.New(fault.Internal, "The task did not succeed.")
	}
	f := fault.New(job.Failure.Code, "%s", job.Failure.Message)
	switch job.Failure.Code {
	case codeTokenRequired:
		f = f.WithStatus(http.StatusForbidden)
	case codeTokenInvalid:
		f = f.WithStatus(http.StatusUnprocessableEntity)
	case fault.RateLimited:
		var in taskPayload
		err := job.Decode(&in)
		var pause time.Duration
		if err == nil {
			pause, err = s.syncer.PauseOf(ctx, in.UserID)
		}
		if err != nil {
			return err
		}
		f = f.WithRetryAfter(pause)
	}
	return f.With("task_id", job.ID)
}

// The codes of faults about personal access tokens.
const (
	codeTokenRequired fault.Code = "pat_required"
	codeTokenInvalid  fault.Code = "pat_invalid"
)

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

// runTask does the work of a task.
func (s *Service) runTask(task string) func(context.Context, *queue.Job, queue.Progress) (any, error) {
	return func(ctx context.Context, job *queue.Job, p queue.Progress) (any, error) {
		var in taskPayload
		if err := job.Decode(&in); err != nil {
			return nil, err
		}
		if kind := translatedKind(task); kind != "" {
			return s.translateInTask(ctx, job, kind, in)
		}
		switch task {
		case taskStarred:
			return s.syncStarred(ctx, in.UserID, p)
		case taskReleases:
			return s.syncReleases(ctx, in.UserID, p)
		case taskNotifications:
			return s.syncNotifications(ctx, in.UserID, p)
		case taskAll:
			return s.syncAll(ctx, in.UserID, p)
		}
		return s.generateBrief(ctx, in.UserID, in.Date, p)
	}
}

// eventStage is the type of the events by which a task tells what it has done.
const eventStage = "task_stage"

// tellStage adds an event to a task: the name of a stage, and what it has brought.
func tellStage(ctx context.Context, p queue.Progress, stage string, result any) {
	p.Emit(ctx, eventStage, map[string]any{"stage": stage, "result": result})
}

func (s *Service) syncStarred(ctx context.Context, userID string, p queue.Progress) (out StarredResult, err error) {
	out.Repos, err = s.syncer.Starred(ctx, userID)
	if err == nil {
		tellStage(ctx, p, "star_refreshed", out)
	}
	return out, err
}

// tellEvery is how often the progress of reading repositories is told.
const tellEvery = 2 * time.Second

func (s *Service) syncReleases(ctx context.Context, userID string, p queue.Progress) (out ReleasesResult, err error) {
	told := s.cfg.Now()
	res, err := s.syncer.Releases(ctx, userID, func(done, total int) {
		if now := s.cfg.Now(); now.Sub(told) >= tellEvery {
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

func (s *Service) syncNotifications(ctx context.Context, userID string, p queue.Progress) (out NotificationsResult, err error) {
	res, err := s.syncer.Notifications(ctx, userID)
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

func (s *Service) syncSocial(ctx context.Context, userID string, p queue.Progress) (out SocialResult, err error) {
	res, err := s.syncer.Social(ctx, userID)
	out = SocialResult(res)
	tellStage(ctx, p, "social_summary", out)
	return out, err
}

// syncAll reads everything of a user: without an account at the code host the releases of what the user sees, and nothing else. What happened around
// the user may fail without the rest.
func (s *Service) syncAll(ctx context.Context, userID string, p queue.Progress) (out AllResult, err error) {
	has, err := s.syncer.HasAccount(ctx, userID)
	if err != nil {
		return out, err
	}
	if !has {
		out.Releases, err = s.syncReleases(ctx, userID, p)
		return out, err
	}
	if out.Starred, err = s.syncStarred(ctx, userID, p); err != nil {
		return out, err
	}
	if out.Releases, err = s.syncReleases(ctx, userID, p); err != nil {
		return out, err
	}
	if out.Social, err = s.syncSocial(ctx, userID, p); err != nil {
		out.SocialError = fault.As(err).Message
	}
	out.Notifications, err = s.syncNotifications(ctx, userID, p)
	return out, err
}

// generateBrief writes the brief of a user for a date, "" for the latest.
func (s *Service) generateBrief(ctx context.Context, userID, date string, p queue.Progress) (BriefContent, error) {
	w, zone, err := s.briefWindow(ctx, userID, date)
	if err != nil {
		return BriefContent{}, err
	}
	b, err := s.briefs.Generate(ctx, userID, w, zone)
	if err != nil {
		return BriefContent{}, err
	}
	tellStage(ctx, p, "generate", map[string]any{"id": b.ID, "date": b.Date})
	return briefContentOf(b), nil
}

// briefWindow returns the window of a user for a date, "" for the latest.
func (s *Service) briefWindow(ctx context.Context, userID, date string) (w brief.Window, zone *time.Location, err error) {
	prefs, err := s.preferencesOf(ctx, userID)
	if err != nil {
		return w, nil, err
	}
	if zone, err = time.LoadLocation(prefs.TimeZone); err != nil {
		return w, nil, err
	}
	if date == "" {
		return brief.LatestWindow(s.cfg.Now(), prefs.BriefHour, zone), zone, nil
	}
	w, err = brief.WindowOn(date, s.cfg.Now(), prefs.BriefHour, zone)
	return w, zone, err
}
