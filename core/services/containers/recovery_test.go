package containers

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/services/containers/backup"
	"github.com/patchbay-dev/patchbay/core/services/containers/change"
	"github.com/patchbay-dev/patchbay/core/services/containers/lifecycle"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// left is what a core that ended in a step has left on the engine, besides the journal.
type left struct {
	step string
	// done are the parts of the update that the engine has carried out.
	pulled, stopped, named, recreated bool
	// back tells that the way back had begun, and restored that the former image has its name again.
	back, restored bool
}

func leftovers() []left {
	return []left{
		{step: change.StepPull}, {step: change.StepPull, pulled: true},
		{step: change.StepBackup, pulled: true}, {step: change.StepBackup, pulled: true, stopped: true},
		{step: change.StepTag, pulled: true, stopped: true}, {step: change.StepTag, pulled: true, stopped: true, named: true},
		{step: change.StepUp, pulled: true, named: true}, {step: change.StepUp, pulled: true, named: true, recreated: true},
		{step: change.StepHealth, pulled: true, named: true, recreated: true},
		{step: change.StepSync, pulled: true, named: true, recreated: true}, {step: change.StepSync, pulled: true, recreated: true},
		{step: change.StepExtraTags, pulled: true, named: true, recreated: true},
		{step: change.StepRollbackTag, pulled: true, named: true, recreated: true, back: true},
		{step: change.StepRollbackTag, pulled: true, recreated: true, back: true, restored: true},
		{step: change.StepRollbackUp, pulled: true, recreated: true, back: true, restored: true},
		{step: change.StepRollbackWait, pulled: true, back: true, restored: true},
	}
}

// TestRecovery: an update whose core has ended, in any step and with or without the step's work done, is brought to its end by the
// next attempt: the new image where the update was on its way, the former one where the way back had begun.
func TestRecovery(t *testing.T) {
	for _, l := range leftovers() {
		t.Run(fmt.Sprintf("%s pulled=%v stopped=%v named=%v recreated=%v", l.step, l.pulled, l.stopped, l.named, l.recreated),
			func(t *testing.T) {
				forEach(t, func(t *testing.T, e *env) {
					e.blog()
					e.withData()
					web := e.serviceOf("blog", "web")
					id := e.crashed(web, l)
					e.start()
					job, sum := e.summaryOf(id)
					want, image := "success", imageID(2)
					if l.back {
						want, image = "rolled_back", imageID(1)
					}
					if job.Status != want || len(sum.Stacks) != 1 || e.runs("blog", "web") != image || e.engine.NameOf(webRepo+":1") != image {
						t.Errorf("%s %+v, runs %s, the name stands for %s\n%s", job.Status, sum.Stacks, record.ShortDigest(e.runs("blog", "web")),
							record.ShortDigest(e.engine.NameOf(webRepo+":1")), e.logs(id))
					}
					if list := e.engine.ContainersOf("blog", "web"); list[0].State != "running" {
						t.Errorf("the container is %s", list[0].State)
					}
					hist, err := e.svc.History(t.Context(), web.ID)
					e.must(err)
					if len(hist) != 1 || hist[0].Status != want || hist[0].FromDigest != digest(1) || hist[0].ToDigest != digest(2) || e.locksHeld() != 0 {
						t.Errorf("the history is %+v, %d locks", hist, e.locksHeld())
					}
					if after := e.serviceOf("blog", "web"); (after.CandidateDigest == "") != (image == imageID(2)) || after.RuntimeImage != image {
						t.Errorf("the service: candidate %q, runs %s", after.CandidateDigest, record.ShortDigest(after.RuntimeImage))
					}
					if !strings.Contains(e.logs(id), "The core ended while this job ran") {
						t.Errorf("the log does not tell of the second attempt:\n%s", e.logs(id))
					}
				})
			})
	}
}

// crashed writes what a core leaves that ended in a step of an update: the job, which another owner runs, the journal, and the engine.
func (e *env) crashed(web *record.Service, l left) string {
	e.Helper()
	ctx := context.Background()
	e.stop(e.queue, e.svc)
	id, err := e.svc.Update(ctx, requestOf(web))
	e.must(err)
	e.must(e.store.Tx(ctx, "crash", func(ctx context.Context) error {
		return e.store.Writer(ctx).Exec("UPDATE jobs SET state = 'running', owner = 'gone', claims = 1, attempt = 1, started_at = ?, heartbeat_at = 1, detail = '{}' WHERE id = ?", store.Millis(e.now()), id).Error
	}))
	rec := &record.Change{
		ID: store.NewID("chg"), JobID: id, Kind: record.ChangeUpdate, StackID: web.StackID, ServiceID: web.ID, Status: record.ChangeRunning,
		Step: l.step, Image: web.Image,
		FromImage: imageID(1), FromDigest: digest(1), ToDigest: digest(2), StartedAt: store.Millis(e.now()),
	}
	if l.step != change.StepPull {
		rec.ToImage = imageID(2)
	}
	if l.back {
		rec.Error = "it was unhealthy"
	}
	_, err = (&change.Store{Store: e.svc.repo}).BeginChange(ctx, rec)
	e.must(err)
	e.leave(l)
	return id
}

func (e *env) leave(l left) {
	e.Helper()
	ctx := context.Background()
	nothing := func(engine.Line) error { return nil }
	if l.pulled {
		_, err := e.engine.Pull(ctx, engine.PullRequest{Ref: webRepo + "@" + digest(2)}, func(engine.PullProgress) error { return nil })
		e.must(err)
	}
	run := func(action string) {
		st := e.stackOf("blog")
		_, err := e.engine.Compose(ctx, engine.ComposeRequest{Bin: "docker-compose", Action: action, Project: "blog", WorkingDir: st.WorkingDir,
			Files: st.Files, Services: []string{"web"}}, nothing)
		e.must(err)
	}
	if l.stopped {
		run(engine.ActionStop)
	}
	if l.named || l.recreated {
		e.must(e.engine.Tag(ctx, imageID(2), webRepo+":1"))
	}
	if l.recreated {
		run(engine.ActionRecreate)
	}
	if !l.named && l.recreated || l.restored {
		e.must(e.engine.Tag(ctx, imageID(1), webRepo+":1"))
	}
}

// TestRecoveryOfOtherJobs: every other type of job ends after a crash, too.
func TestRecoveryOfOtherJobs(t *testing.T) {
	forEach(t, func(t *testing.T, e *env) {
		ctx := t.Context()
		e.blog()
		if job, _ := e.updated("blog", "web"); job.Status != "success" {
			t.Fatalf("%+v", job)
		}
		web := e.serviceOf("blog", "web")
		for name, submit := range map[string]func() (string, error){
			work.JobCheck:            func() (string, error) { return e.svc.Check(ctx, project.ScanRequest{Scope: work.ScopeAll}) },
			work.JobDiscovery:        func() (string, error) { return e.svc.Discover(ctx) },
			work.JobRuntimeScan:      func() (string, error) { return e.svc.RuntimeScan(ctx, project.ScanRequest{Scope: work.ScopeAll}) },
			work.JobServiceLifecycle: func() (string, error) { return e.svc.ServiceAction(ctx, web.ID, lifecycle.ActionRestart) },
			work.JobStackLifecycle:   func() (string, error) { return e.svc.StackAction(ctx, web.StackID, lifecycle.ActionRestart) },
			work.JobRollback:         func() (string, error) { return e.svc.Rollback(ctx, web.ID, false) },
		} {
			e.stop(e.queue, e.svc)
			id, err := submit()
			e.must(err)
			e.must(e.store.Tx(ctx, "crash", func(ctx context.Context) error {
				return e.store.Writer(ctx).Exec("UPDATE jobs SET state = 'running', owner = 'gone', claims = 1, attempt = 1, started_at = 1, heartbeat_at = 1 WHERE id = ?", id).Error
			}))
			e.start()
			if job := e.ended(id); job.Status != "success" || e.locksHeld() != 0 {
				t.Errorf("%s: %+v, %d locks\n%s", name, job, e.locksHeld(), e.logs(id))
			}
		}
	})
}

// TestCancelAtEachStep: a person who ends an update finds the former image running, whatever it was doing.
func TestCancelAtEachStep(t *testing.T) {
	for op, status := range map[string][]string{
		"pull": {"canceled"}, "compose stop": {"canceled"}, "archive": {"canceled"}, "tag": {"canceled"}, "compose recreate": {"rolled_back"},
		"inspect": {"rolled_back"},
	} {
		t.Run(op, func(t *testing.T) {
			e := newEnv(t)
			e.blog()
			e.withData()
			entered, release := e.engine.Hold(op)
			defer release()
			id, err := e.svc.Update(t.Context(), requestOf(e.serviceOf("blog", "web")))
			e.must(err)
			<-entered
			_, err = e.svc.CancelJob(t.Context(), id)
			e.must(err)
			job := e.ended(id)
			list := e.engine.ContainersOf("blog", "web")
			if !slices.Contains(status, job.Status) || list[0].ImageID != imageID(1) || list[0].State != "running" ||
				e.engine.NameOf(webRepo+":1") != imageID(1) || e.locksHeld() != 0 {
				t.Errorf("%s, %s %s\n%s", job.Status, record.ShortDigest(list[0].ImageID), list[0].State, e.logs(id))
			}
			files, _ := filepath.Glob(filepath.Join(e.dir, "data", "backups", "*", "*.part"))
			if len(files) != 0 {
				t.Errorf("left behind: %v", files)
			}
		})
	}
}

// TestBackupAndRestore: what an update has copied comes back, and only whole files do.
func TestBackupAndRestore(t *testing.T) {
	forEach(t, func(t *testing.T, e *env) {
		e.blog()
		e.withData()
		e.engine.ScriptImage(imageID(1), fake.Healthy())
		_, sum := e.updated("blog", "web")
		if len(sum.Stacks[0].Backup) != 1 || sum.Stacks[0].Backup[0].Status != backup.StatusSuccess {
			t.Fatalf("%+v", sum.Stacks)
		}
		id := sum.Stacks[0].Backup[0].ID
		ct := e.engine.ContainersOf("blog", "web")[0].ID
		e.engine.SetContents(ct, "/data", []byte("spoiled"))
		restore := func() Job {
			job, err := e.svc.Restore(t.Context(), id)
			e.must(err)
			return e.ended(job)
		}
		if job := restore(); job.Status != "success" || string(e.engine.Contents(ct, "/data")) != "data of the blog" ||
			e.engine.ContainersOf("blog", "web")[0].State != "running" {
			t.Errorf("%+v, %q", job, e.engine.Contents(ct, "/data"))
		}
		e.engine.Fail("restore", broken())
		if job := restore(); job.Status != "failed" || !strings.Contains(job.ResultReason.Detail, "stay stopped") ||
			e.engine.ContainersOf("blog", "web")[0].State != "exited" {
			t.Errorf("a restore that fails in the middle: %+v", job.ResultReason)
		}
		if job := restore(); job.Status != "success" {
			t.Errorf("again: %+v", job)
		}
		rec, err := e.svc.Backups.Store.FindBackup(t.Context(), id)
		e.must(err)
		e.must(os.WriteFile(rec.Path, []byte("something else"), 0o600))
		if job := restore(); job.Status != "failed" || !strings.Contains(job.ResultReason.Detail, "Nothing was restored") ||
			string(e.engine.Contents(ct, "/data")) != "data of the blog" {
			t.Errorf("a file that was changed: %+v", job.ResultReason)
		}
	})
}
