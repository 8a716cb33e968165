package task

import (
	"context"
	"errors"
	"time"

	"github.com/patchbay-dev/patchbay/core/queue"
	own "github.com/patchbay-dev/patchbay/core/services/releases/account"
	"github.com/patchbay-dev/patchbay/core/services/releases/brief"
	"github.com/patchbay-dev/patchbay/core/services/releases/sync"
	"github.com/patchbay-dev/patchbay/core/services/releases/translate"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Rounds does the work that is due by the clock.
type Rounds struct {
	cfg   Config
	tasks *Tasks
}

// NewRounds returns what does the work that is due. tasks reads the accounts of users.
func NewRounds(cfg Config, tasks *Tasks) *Rounds { return &Rounds{cfg, tasks} }

const (
	// jobSync reads the repositories and accounts that are due.
	jobSync = "releases.sync_due"
	// jobBriefs writes the briefs whose days have ended.
	jobBriefs = "releases.write_briefs"
	// jobIndex indexes the words of releases that are not indexed: those of before there was an index, and of repositories that
	// were renamed.
	jobIndex = "releases.index_words"
	// jobRefreshBriefs writes briefs again for which summaries have come.
	jobRefreshBriefs = "releases.refresh_briefs"
	// jobTranslateUpkeep deletes what is old, and picks up what was left over.
	jobTranslateUpkeep = "releases.translate_upkeep"
)

const (
	// reposAtOnce and accountsAtOnce are how many are read by one job: those that wait longest.
	reposAtOnce, accountsAtOnce = 300, 20
	// taskTimeout bounds a task.
	taskTimeout = 30 * time.Minute
	// refreshedFor is how long after its end a brief waits for summaries.
	refreshedFor = 48 * time.Hour
	// refreshedAtOnce is how many briefs one job writes again.
	refreshedAtOnce = 500
	// indexedAtOnce is how many releases one transaction indexes.
	indexedAtOnce = 200
)

// Jobs are the handlers of the service's background work.
func (ro *Rounds) Jobs() []queue.Handler {
	handlers := []queue.Handler{
		{Type: jobSync, Safe: true, Limit: 1, Timeout: taskTimeout, Run: ro.syncDue},
		{Type: jobBriefs, Safe: true, Limit: 1, Timeout: taskTimeout, Run: ro.writeBriefs},
		{Type: jobRefreshBriefs, Safe: true, Limit: 1, Timeout: taskTimeout, Run: ro.refreshBriefs},
		{Type: jobIndex, Safe: true, Limit: 1, Timeout: taskTimeout, Run: ro.indexWords},
		{Type: jobTranslateUpkeep, Safe: true, Limit: 1, Timeout: taskTimeout, Run: ro.keepTranslations},
	}
	for _, task := range allTasks {
		h := queue.Handler{Type: jobType(task), Safe: true, Limit: 2, Timeout: taskTimeout, Run: ro.tasks.Run(task)}
		if TranslatedKind(task) != "" {
			h.Limit, h.Finished = 1, ro.cfg.Translations.ReleaseWorks
		}
		handlers = append(handlers, h)
	}
	return append(handlers, ro.cfg.Translations.Handler())
}

// Schedules say when that work is due.
func (ro *Rounds) Schedules() []queue.Schedule {
	return []queue.Schedule{
		{Name: jobSync, Cron: "* * * * *", Type: jobSync},
		{Name: jobBriefs, Cron: "*/5 * * * *", Type: jobBriefs},
		{Name: jobRefreshBriefs, Cron: "* * * * *", Type: jobRefreshBriefs},
		{Name: jobIndex, Cron: "*/5 * * * *", Type: jobIndex},
		{Name: jobTranslateUpkeep, Cron: "* * * * *", Type: jobTranslateUpkeep},
	}
}

// Housekeeping are the types of jobs that run by the clock.
func Housekeeping() []string {
	return []string{jobSync, jobBriefs, jobRefreshBriefs, jobIndex, jobTranslateUpkeep, translate.JobType}
}

// syncDue reads the repositories and accounts that are due.
func (ro *Rounds) syncDue(ctx context.Context, _ *queue.Job, p queue.Progress) (any, error) {
	if len(ro.cfg.Hosts()) == 0 {
		return nil, nil
	}
	result := struct {
		Repos    int `json:"repos"`
		Releases int `json:"releases"`
		Accounts int `json:"accounts"`
	}{}
	due, err := ro.cfg.Accounts.Due(ctx, ro.cfg.Now(), accountsAtOnce)
	if err != nil {
		return result, err
	}
	seen := map[string]bool{}
	for _, a := range due {
		if seen[a.UserID] {
			continue
		}
		seen[a.UserID] = true
		if err := ro.syncAccounts(ctx, a, p); err != nil {
			ro.cfg.Logger.Warn("cannot read all code host accounts of a user", "user", a.UserID, "error", err)
			continue
		}
		result.Accounts++
	}
	res, err := ro.cfg.Syncer.Due(ctx, reposAtOnce)
	result.Repos, result.Releases = res.Repos, res.Releases
	if err != nil && ctx.Err() == nil {
		// The repositories have noted what is wrong with each, and when they are due again.
		ro.cfg.Logger.Debug("no repository that was due could be read", "error", err)
		err = nil
	}
	return result, err
}

// syncAccounts reads the accounts of the user of one that is due. Those of a user who is disabled wait.
func (ro *Rounds) syncAccounts(ctx context.Context, a own.Account, p queue.Progress) error {
	next := sync.NextDue(a.UserID, ro.cfg.Now(), ro.cfg.Interval())
	if err := ro.cfg.Accounts.SetDue(ctx, a.UserID, next); err != nil {
		return err
	}
	user, err := ro.cfg.Users.Get(ctx, a.UserID)
	if err != nil || user.Disabled {
		return err
	}
	if _, err := ro.tasks.syncStarred(ctx, a.UserID, p); err != nil {
		return err
	}
	_, social := ro.tasks.syncSocial(ctx, a.UserID, p)
	_, err = ro.tasks.syncNotifications(ctx, a.UserID, p)
	return errors.Join(social, err)
}

// indexWords is the job that enters releases without an entry into the index of words, and reports how many it entered.
func (ro *Rounds) indexWords(ctx context.Context, _ *queue.Job, _ queue.Progress) (any, error) {
	result := struct {
		Releases int `json:"releases"`
	}{}
	for ctx.Err() == nil {
		n, err := ro.cfg.Repos.IndexMissing(ctx, indexedAtOnce)
		result.Releases += n
		if err != nil || n < indexedAtOnce {
			return result, err
		}
	}
	return result, ctx.Err()
}

// writeBriefs writes the briefs whose days have ended. A user whose brief fails does not keep those of others from being written.
func (ro *Rounds) writeBriefs(ctx context.Context, _ *queue.Job, _ queue.Progress) (any, error) {
	due, err := ro.usersWithoutBrief(ctx)
	if err != nil {
		return nil, err
	}
	result := struct {
		Written int `json:"written"`
		Failed  int `json:"failed"`
	}{}
	for _, prefs := range due {
		n, err := ro.writeUserBriefs(ctx, prefs)
		result.Written += n
		if err != nil {
			if ctx.Err() != nil {
				return result, err
			}
			result.Failed++
			ro.cfg.Logger.Error("cannot write a brief", "user", prefs.UserID, "error", err)
		}
	}
	return result, nil
}

// usersWithoutBrief returns the preferences of the users who want a daily brief and do not have the latest one. How many queries it
// makes does not depend on how many users there are.
func (ro *Rounds) usersWithoutBrief(ctx context.Context) (due []own.Preferences, err error) {
	users, err := ro.cfg.Users.List(ctx)
	if err != nil {
		return nil, err
	}
	chosen, err := ro.cfg.Accounts.AllPreferences(ctx)
	if err != nil {
		return nil, err
	}
	latest, err := ro.cfg.Briefs.LatestDates(ctx, ro.cfg.Now())
	if err != nil {
		return nil, err
	}
	defaults, now := ro.cfg.Readers.DefaultPreferences(), ro.cfg.Now()
	zones := map[string]*time.Location{}
	for _, u := range users {
		prefs, ok := chosen[u.ID]
		if !ok {
			prefs = defaults
			prefs.UserID = u.ID
		}
		if u.Disabled || !prefs.BriefDaily {
			continue
		}
		zone, ok := zones[prefs.TimeZone]
		if !ok {
			// writeUserBriefs tells of a zone that is unknown.
			zone, _ = time.LoadLocation(prefs.TimeZone)
			zones[prefs.TimeZone] = zone
		}
		if zone == nil || latest[u.ID] < brief.LatestWindow(now, prefs.BriefHour, zone).Date {
			due = append(due, prefs)
		}
	}
	return due, nil
}

// writeUserBriefs writes the briefs that a user lacks. One who sees no repository gets none.
func (ro *Rounds) writeUserBriefs(ctx context.Context, prefs own.Preferences) (written int, err error) {
	userID := prefs.UserID
	visible, err := ro.cfg.Repos.SeesAny(ctx, userID)
	if err != nil || !visible {
		return 0, err
	}
	zone, err := time.LoadLocation(prefs.TimeZone)
	if err != nil {
		return 0, err
	}
	missing, err := ro.cfg.Briefs.Missing(ctx, userID, prefs.BriefHour, zone)
	if err != nil {
		return 0, err
	}
	for i, w := range missing {
		// The channels hear of the last one: the others are made up for.
		tell := prefs.NotifyBrief && i == len(missing)-1
		err := ro.cfg.Store.Tx(ctx, "write brief", func(ctx context.Context) error {
			b, err := ro.cfg.Briefs.Generate(ctx, userID, w, zone)
			if err == nil && tell {
				ro.cfg.Announcer.AnnounceBrief(ctx, b)
			}
			return err
		})
		if err != nil {
			return written, err
		}
		written++
	}
	return written, nil
}

// refreshBriefs writes the briefs again that wait for summaries, and reports how many.
func (ro *Rounds) refreshBriefs(ctx context.Context, _ *queue.Job, _ queue.Progress) (any, error) {
	result := struct {
		Written int `json:"written"`
	}{}
	waiting, err := ro.cfg.Briefs.ListAwaiting(ctx, store.Millis(ro.cfg.Now().Add(-refreshedFor)), refreshedAtOnce)
	for _, b := range waiting {
		written, err := ro.cfg.Briefs.Refresh(ctx, b)
		if err != nil {
			return result, err
		}
		if written {
			result.Written++
		}
	}
	return result, err
}

// keepTranslations picks up translations that wait without a job, and deletes what is old.
func (ro *Rounds) keepTranslations(ctx context.Context, _ *queue.Job, _ queue.Progress) (any, error) {
	return nil, errors.Join(ro.cfg.Translations.SubmitLeftOver(ctx), ro.cfg.Translations.DeleteOld(ctx))
}
