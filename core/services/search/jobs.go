package search

import (
	"context"
	"errors"
	"time"

	"github.com/patchbay-dev/patchbay/core/queue"
)

const (
	jobPurge = "search.purge"
	jobSync  = "search.sync_usage"
)

// Jobs are the handlers of the service's background work.
func (s *Service) Jobs() []queue.Handler {
	return []queue.Handler{
		{Type: jobPurge, Safe: true, Deletes: true, Timeout: time.Hour, Run: s.purgeOldRecords},
		{Type: jobSync, Safe: true, Limit: 1, Timeout: time.Hour, Run: s.SyncDue},
	}
}

// Schedules say when that work is due.
func (s *Service) Schedules() []queue.Schedule {
	return []queue.Schedule{
		{Name: jobPurge, Cron: "17 * * * *", Type: jobPurge},
		{Name: jobSync, Cron: "*/15 * * * *", Type: jobSync},
	}
}

// Housekeeping are the types of jobs that clean up and keep figures.
func Housekeeping() []string { return []string{jobPurge, jobSync} }

// purgeOldRecords deletes what the audit keeps no longer.
func (s *Service) purgeOldRecords(ctx context.Context, _ *queue.Job, _ queue.Progress) (any, error) {
	return nil, errors.Join(s.Log.PurgeOldRecords(ctx, s.settings.Load().Retention), s.PurgeLeases(ctx))
}
