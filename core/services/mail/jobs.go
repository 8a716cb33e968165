package mail

import (
	"context"
	"time"

	"github.com/patchbay-dev/patchbay/core/queue"
)

const (
	// jobCleanUp destroys mailboxes whose time is over.
	jobCleanUp = "mail.clean_up"
	// jobRetention deletes messages that are too old, or too many.
	jobRetention = "mail.retention"
)

// cleanUpBatch is how many mailboxes are looked at at once.
const cleanUpBatch = 100

// Jobs are the handlers of the service's background work.
func (s *Service) Jobs() []queue.Handler {
	return []queue.Handler{
		{Type: jobCleanUp, Safe: true, Deletes: true, Limit: 1, Timeout: time.Hour, Run: s.cleanUp},
		{Type: jobRetention, Safe: true, Deletes: true, Limit: 1, Timeout: time.Hour, Run: s.deleteOldMessages},
	}
}

// Schedules say when that work is due.
func (s *Service) Schedules() []queue.Schedule {
	return []queue.Schedule{
		{Name: jobCleanUp, Cron: "* * * * *", Type: jobCleanUp},
		{Name: jobRetention, Cron: "@every 10m", Type: jobRetention},
	}
}

// Housekeeping are the types of jobs that clean up.
func Housekeeping() []string { return []string{jobCleanUp, jobRetention} }

// cleanUp carries on with interrupted changes of domains, adds those of the settings that are missing, such as one whose deletion has
// ended, and destroys the mailboxes that are due, until none is left or a whole batch has failed.
func (s *Service) cleanUp(ctx context.Context, _ *queue.Job, _ queue.Progress) (any, error) {
	if err := s.domains.Recover(ctx); err != nil {
		return nil, err
	}
	if err := s.addDomains(ctx); err != nil {
		return nil, err
	}
	if err := s.domains.CheckRecords(ctx); err != nil {
		return nil, err
	}
	for {
		destroyed, failed, err := s.mailboxes.CleanUp(ctx, cleanUpBatch)
		if err != nil || destroyed+failed < cleanUpBatch || destroyed == 0 {
			return nil, err
		}
	}
}
