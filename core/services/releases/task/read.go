package task

import (
	"context"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/queue"
)

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
