package releases

import (
	"context"
	"errors"
	"time"

	"github.com/patchbay-dev/patchbay/core/queue"
	own "github.com/patchbay-dev/patchbay/core/services/releases/account"
	"github.com/patchbay-dev/patchbay/core/services/releases/brief"
	"github.com/patchbay-dev/patchbay/core/services/releases/sync"
	"github.com/patchbay-dev/patchbay/core/services/releases/translate"
)

const (
	// jobSync reads the repositories and accounts that are due.
	jobSync = "releases.sync_due"
	// jobBriefs writes the briefs whose days have ended.
	jobBriefs = "releases.write_briefs"
	// jobIndex indexes the words of releases that are not indexed: those of before there was an index, and of repositories that
	// were renamed.
	jobIndex = "releases.index_words"
)

const (
	// reposAtOnce and accountsAtOnce are how many are read by one job: those that wait longest.
	reposAtOnce, accountsAtOnce = 300, 20
	// taskTimeout bounds a task.
	taskTimeout = 30 * time.Minute
	// indexedAtOnce is how many releases one transaction indexes.
	indexedAtOnce = 200
)

// Jobs are the handlers of the service's background work.
func (s *Service) Jobs() []queue.Handler {
	handlers := []queue.Handler{
		{Type: jobSync, Safe: true, Limit: 1, Timeout: taskTimeout, Run: s.syncDue},
		{Type: jobBriefs, Safe: true, Limit: 1, Timeout: taskTimeout, Run: s.writeBriefs},
		{Type: jobRefreshBriefs, Safe: true, Limit: 1, Timeout: taskTimeout, Run: s.refreshBriefs},
		{Type: jobIndex, Safe: true, Limit: 1, Timeout: taskTimeout, Run: s.indexWords},
		{Type: jobTranslateUpkeep, Safe: true, Limit: 1, Timeout: taskTimeout, Run: s.keepTranslations},
	}
	for _, task := range allTasks {
		h := queue.Handler{Type: jobType(task), Safe: true, Limit: 2, Timeout: taskTimeout, Run: s.runTask(task)}
		if translatedKind(task) != "" {
			h.Limit, h.Finished = 1, s.translations.ReleaseWorks
		}
		handlers = append(handlers, h)
	}
	return append(handlers, s.translations.Handler())
}

// Schedules say when that work is due.
func (s *Service) Schedules() []queue.Schedule {
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
func (s *Service) syncDue(ctx context.Context, _ *queue.Job, p queue.Progress) (any, error) {
	if len(s.state.Load().hosts) == 0 {
		return nil, nil
	}
	result := struct {
		Repos    int `json:"repos"`
		Releases int `json:"releases"`
		Accounts int `json:"accounts"`
	}{}
	due, err := s.accounts.Due(ctx, s.cfg.Now(), accountsAtOnce)
	if err != nil {
		return result, err
	}
	seen := map[string]bool{}
	for _, a := range due {
		if seen[a.UserID] {
			continue
		}
		seen[a.UserID] = true
		if err := s.syncAccounts(ctx, a, p); err != nil {
			s.log.Warn("the accounts of a user at a code host were not all read", "user", a.UserID, "error", err)
			continue
		}
		result.Accounts++
	}
	res, err := s.syncer.Due(ctx, reposAtOnce)
	result.Repos, result.Releases = res.Repos, res.Releases
	if err != nil && ctx.Err() == nil {
		// The repositories have noted what is wrong with each, and when they are due again.
		s.log.Debug("no repository that was due could be read", "error", err)
		err = nil
	}
	return result, err
}

// syncAccounts reads the accounts of the user of one that is due. Those of a user who is disabled wait.
func (s *Service) syncAccounts(ctx context.Context, a own.Account, p queue.Progress) error {
	next := sync.NextDue(a.UserID, s.cfg.Now(), s.state.Load().settings.Interval)
	if err := s.accounts.SetDue(ctx, a.UserID, next); err != nil {
		return err
	}
	user, err := s.cfg.Users.Get(ctx, a.UserID)
	if err != nil || user.Disabled {
		return err
	}
	if _, err := s.syncStarred(ctx, a.UserID, p); err != nil {
		return err
	}
	_, social := s.syncSocial(ctx, a.UserID, p)
	_, err = s.syncNotifications(ctx, a.UserID, p)
	return errors.Join(social, err)
}

// indexWords is the job that enters releases without an entry into the index of words, and reports how many it entered.
func (s *Service) indexWords(ctx context.Context, _ *queue.Job, _ queue.Progress) (any, error) {
	result := struct {
		Releases int `json:"releases"`
	}{}
	for ctx.Err() == nil {
		n, err := s.repos.IndexMissing(ctx, indexedAtOnce)
		result.Releases += n
		if err != nil || n < indexedAtOnce {
			return result, err
		}
	}
	return result, ctx.Err()
}

// writeBriefs writes the briefs whose days have ended. A user whose brief fails does not keep those of others from being written.
func (s *Service) writeBriefs(ctx context.Context, _ *queue.Job, _ queue.Progress) (any, error) {
	due, err := s.usersWithoutBrief(ctx)
	if err != nil {
		return nil, err
	}
	result := struct {
		Written int `json:"written"`
		Failed  int `json:"failed"`
	}{}
	for _, prefs := range due {
		n, err := s.writeBriefsOf(ctx, prefs)
		result.Written += n
		if err != nil {
			if ctx.Err() != nil {
				return result, err
			}
			result.Failed++
			s.log.Error("the brief of a user was not written", "user", prefs.UserID, "error", err)
		}
	}
	return result, nil
}

// usersWithoutBrief returns the preferences of the users who want a daily brief and do not have the latest one. How many queries it
// makes does not depend on how many users there are.
func (s *Service) usersWithoutBrief(ctx context.Context) (due []own.Preferences, err error) {
	users, err := s.cfg.Users.List(ctx)
	if err != nil {
		return nil, err
	}
	chosen, err := s.accounts.AllPreferences(ctx)
	if err != nil {
		return nil, err
	}
	latest, err := s.briefs.LatestDates(ctx)
	if err != nil {
		return nil, err
	}
	defaults, now := s.defaultPreferences(), s.cfg.Now()
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
			// writeBriefsOf tells of a zone that is unknown.
			zone, _ = time.LoadLocation(prefs.TimeZone)
			zones[prefs.TimeZone] = zone
		}
		if zone == nil || latest[u.ID] < brief.LatestWindow(now, prefs.BriefHour, zone).Date {
			due = append(due, prefs)
		}
	}
	return due, nil
}

// writeBriefsOf writes the briefs that a user lacks. One who sees no repository gets none.
func (s *Service) writeBriefsOf(ctx context.Context, prefs own.Preferences) (written int, err error) {
	userID := prefs.UserID
	visible, err := s.repos.SeesAny(ctx, userID)
	if err != nil || !visible {
		return 0, err
	}
	zone, err := time.LoadLocation(prefs.TimeZone)
	if err != nil {
		return 0, err
	}
	missing, err := s.briefs.Missing(ctx, userID, prefs.BriefHour, zone)
	if err != nil {
		return 0, err
	}
	for i, w := range missing {
		// The channels hear of the last one: the others are made up for.
		tell := prefs.NotifyBrief && i == len(missing)-1
		err := s.cfg.Store.Tx(ctx, "write brief", func(ctx context.Context) error {
			b, err := s.briefs.Generate(ctx, userID, w, zone)
			if err == nil && tell {
				s.notifyBrief(ctx, b)
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
