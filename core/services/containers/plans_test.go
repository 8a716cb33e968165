package containers

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/containers/backup"
	"github.com/patchbay-dev/patchbay/core/services/containers/candidate"
	"github.com/patchbay-dev/patchbay/core/services/containers/change"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/store"
)

// fillTables makes rows as of many services, and returns the tables that have many.
func fillTables(t testing.TB, st *store.Store, now int64) (big []string) {
	t.Helper()
	for _, r := range []struct {
		// In values, ? is the time.
		table, columns, values string
		count                  int
	}{
		{"containers_stacks", "id, project, working_dir, created_at, updated_at",
			"'stk' || (i - 1), 'p' || i, '/x', ?, 1", 501},
		{"containers_services", "id, stack_id, name, image, repo, tag, pinned, mounts, profiles, state, min_age, created_at, updated_at, auto_rollback, backup_targets",
			"'svc' || i, 'stk' || (i / 10), 's' || i, 'registry.example/a/r' || i || ':1', 'registry.example/a/r' || i, '1', '', '[]', '[]', 'running', -1, ?, 1, TRUE, '{}'", 5_000},
		{"containers_changes", "id, job_id, kind, stack_id, service_id, status, step, image, started_at",
			"'chg' || i, 'job' || i, 'update', 'stk' || (i % 5000 / 10), 'svc' || (i % 5000), 'success', 'done', 'x', i + 0 * ?", 50_000},
		{"containers_backups", "id, stack_id, service_id, job_id, kind, target, destination, status, created_at, cleanup_after, deleted_at",
			"'bkp' || i, 'stk1', 'svc' || (i % 5000), 'job' || i, 'docker-volume', 'data', '/data', 'success', i + 0 * ?, i, CASE WHEN i % 100 = 0 THEN 0 ELSE 5 END", 50_000},
		{"containers_samples", "service_id, at, cpu, mem_used, mem_limit, net_rx, net_tx, block_read, block_write, pids, containers",
			"'svc' || (i % 100), ? - 5000 * (i / 100), 1, 1, 1, 1, 1, 1, 1, 1, 1", 300_000},
		{"containers_deliveries", "delivery_id, first_at, last_at, decision, status",
			"'d' || i, ? - 1000 * i, ? - 1000 * i, 'processed', 202", 50_000},
		{"containers_delivery_events", "at, data",
			"? - 1000 * i, '{}'", 50_000},
		{"containers_snapshots", "repo, digest, platform, tags, scan, checked_at",
			"'r' || i, 'd' || i, 'linux/amd64', '[]', '{}', ? - i", 10_000},
	} {
		testkit.FillTable(t, st, r.table, r.columns, strings.ReplaceAll(r.values, "?", fmt.Sprintf("CAST(%d AS BIGINT)", now)), r.count)
		// PostgreSQL reads a table of a few pages whole, although it has an index.
		if r.count >= 1000 {
			big = append(big, r.table)
		}
	}
	testkit.Analyze(t, st)
	return big
}

// TestNoQueryScans: with many rows the lookups of the service find theirs by an index.
func TestNoQueryScans(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		st := testkit.OpenStore(t, cfg, allMigrations()...)
		now := time.Now().UnixMilli()
		tables := fillTables(t, st, now)
		statements := testkit.WatchStatements(t, st)
		e := newEnvOn(t, st)
		ctx, r := t.Context(), e.svc.repo
		statements.CheckScans(t, st, map[string]func() error{
			"a service":           func() error { _, err := r.FindService(ctx, "svc77"); return err },
			"services of a stack": func() error { _, err := r.ListStackServices(ctx, "stk7"); return err },
			"services of a repo":  func() error { _, err := r.ListRepoServices(ctx, "registry.example/a/r77"); return err },
			"history":             func() error { _, err := (&change.Store{Store: r}).ChangesOf(ctx, "svc77", 50); return err },
			"last change": func() error {
				_, err := (&change.Store{Store: r}).LastChange(ctx, &record.Service{ID: "svc77"})
				return err
			},
			"open changes":         func() error { _, err := (&change.Store{Store: r}).OpenChanges(ctx, "job77"); return err },
			"change of a job":      func() error { _, err := (&change.Store{Store: r}).ChangeOf(ctx, "job77", "svc77"); return err },
			"backups of a service": func() error { _, err := (&backup.Store{Store: r}).ListBackups(ctx, "svc77", 100); return err },
			"open backups":         func() error { return (&backup.Store{Store: r}).FailOpen(ctx, "job77", "svc77", now) },
			"due backups": func() error {
				_, err := (&backup.Store{Store: r}).ListDue(ctx, 1000, &backup.Record{})
				return err
			},
			"short history": func() error { _, err := e.svc.Usage.History(ctx, "svc77", "3m"); return err },
			"long history":  func() error { _, err := e.svc.Usage.History(ctx, "svc77", "24h"); return err },
			"use of all":    func() error { _, err := e.svc.Usage.Overview(ctx); return err },
			"snapshot": func() error {
				_, err := (&candidate.Store{Store: r}).SnapshotByKey(ctx,
					candidate.VersionKey{Repo: "r77", Digest: "d77", Platform: "linux/amd64"})
				return err
			},
			"delivery events":     func() error { _, err := e.svc.Inbox.EventsAfter(ctx, 49_990); return err },
			"last delivery event": func() error { _, err := e.svc.Inbox.LastEventID(ctx); return err },
			"old samples":         func() error { return e.svc.Usage.DeleteOld(ctx) },
			"old deliveries":      func() error { return e.svc.Inbox.DeleteOld(ctx) },
		}, tables...)
	})
}
