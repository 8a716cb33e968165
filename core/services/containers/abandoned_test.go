package containers

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/backup"
	"github.com/patchbay-dev/patchbay/core/services/containers/change"
	"github.com/patchbay-dev/patchbay/core/services/containers/compose"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/store"
)

// exec runs a statement in a transaction of its own.
func (e *env) exec(statement string, args ...any) {
	e.Helper()
	e.must(e.store.Tx(context.Background(), "exec", func(ctx context.Context) error {
		return e.store.Writer(ctx).Exec(statement, args...).Error
	}))
}

// openBackup writes what a core leaves that ended while it copied a mount, and returns the file.
func (e *env) openBackup(jobID string, web *record.Service) (path string) {
	e.Helper()
	path = filepath.Join(e.dir, jobID+".tar.gz")
	e.must(os.WriteFile(path+".part", []byte("half"), 0o600))
	e.must(e.svc.Backups.Store.SaveBackup(context.Background(), &backup.Record{
		ID: store.NewID("bkp"), StackID: web.StackID, ServiceID: web.ID, JobID: jobID, Kind: compose.DockerVolume, Target: "data",
		Status: backup.StatusRunning, Path: path,
	}))
	return path
}

// wantAbandoned compares what is told of a change whose end is not known.
func (e *env) wantAbandoned(web *record.Service, step, copyID string) {
	e.Helper()
	hist, err := e.svc.History(context.Background(), web.ID)
	e.must(err)
	if len(hist) != 1 || hist[0].Status != record.ChangeFailed || hist[0].FinishedAt.IsZero() ||
		!strings.Contains(hist[0].Error, "the step "+step+", and how that ended is not known") {
		e.Errorf("the history is %+v", hist)
	}
	list, err := e.svc.ListBackups(context.Background(), web.ID)
	e.must(err)
	if len(list) != 1 || list[0].Status != backup.StatusFailed || list[0].Error == "" {
		e.Errorf("the backups are %+v", list)
	}
	if _, err := os.Stat(copyID + ".part"); !os.IsNotExist(err) {
		e.Errorf("a file is left: %v", err)
	}
}

// TestUpdateIsGivenUp: the changes of a job in which the core has ended too often end with it, people are told that their end is not
// known, and what runs is seen.
func TestUpdateIsGivenUp(t *testing.T) {
	for name, c := range map[string]struct {
		canceled       int
		status, reason string
	}{"interrupted": {0, "failed", queue.ReasonInterrupted}, "canceled": {1, "canceled", queue.ReasonCanceled}} {
		t.Run(name, func(t *testing.T) {
			forEach(t, func(t *testing.T, e *env) {
				e.switched()
				e.blog()
				web := e.serviceOf("blog", "web")
				id := e.crashed(web, left{step: change.StepUp, pulled: true, named: true, recreated: true})
				backup := e.openBackup(id, web)
				e.exec("UPDATE jobs SET recoveries = 3, cancel_requested = ? WHERE id = ?", c.canceled, id)
				e.start()
				job := e.ended(id)
				if job.Status != c.status || job.ResultReason.Raw != c.reason || e.locksHeld() != 0 {
					t.Errorf("%s %+v, %d locks", job.Status, job.ResultReason, e.locksHeld())
				}
				if !strings.Contains(e.logs(id), "error The process that ran this job has ended 4 times") {
					t.Errorf("the log is %s", e.logs(id))
				}
				e.wantAbandoned(web, change.StepUp, backup)
				if sent := e.told(1)[0]; !strings.Contains(string(sent.Payload), "how that ended is not known") ||
					!strings.Contains(string(sent.Payload), web.ID) {
					t.Errorf("people are told %s", sent.Payload)
				}
				e.discovered()
				if after := e.serviceOf("blog", "web"); after.RuntimeImage != imageID(2) || after.CandidateDigest != "" {
					t.Errorf("runs %s, candidate %q", record.ShortDigest(after.RuntimeImage), after.CandidateDigest)
				}
				if to, err := e.svc.RollbackTarget(t.Context(), web.ID); err != nil || !to.Available {
					t.Errorf("%+v, %v", to, err)
				}
			}, withChannels)
		})
	}
}

// TestHousekeepingEndsChanges: a change whose job has ended without it, or is not kept any more, is ended later; that of a job that goes
// on is not.
func TestHousekeepingEndsChanges(t *testing.T) {
	forEach(t, func(t *testing.T, e *env) {
		e.blog()
		web := e.serviceOf("blog", "web")
		id := e.crashed(web, left{step: change.StepPull})
		backup := e.openBackup(id, web)
		keep := func() {
			t.Helper()
			_, err := e.svc.purgeOldRecords(t.Context(), nil, nil)
			e.must(err)
		}
		keep()
		if open, err := (&change.Store{Store: e.svc.repo}).OpenChanges(t.Context(), id); err != nil || len(open) != 1 {
			t.Errorf("of a job that goes on: %+v, %v", open, err)
		}
		e.exec("DELETE FROM job_locks")
		e.exec("DELETE FROM jobs WHERE id = ?", id)
		keep()
		e.wantAbandoned(web, change.StepPull, backup)
	})
}
