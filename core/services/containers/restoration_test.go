package containers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/backup"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// inTheMiddle is in what a restore says that may have replaced a part.
const inTheMiddle = "failed in the middle, and the services that use it stay stopped"

// crashedRestore is a restore whose core has ended after it had stopped the service and kept a checkpoint.
func (e *env) crashedRestore(backup, checkpoint string) (id string) {
	e.Helper()
	ctx := context.Background()
	e.stop(e.queue, e.svc)
	id, err := e.svc.Restore(ctx, backup)
	e.must(err)
	e.must(e.store.Tx(ctx, "crash", func(ctx context.Context) error {
		w := e.store.Writer(ctx)
		if err := w.Exec("INSERT INTO job_checkpoints (job_id, data) VALUES (?, ?)", id, checkpoint).Error; err != nil {
			return err
		}
		return w.Exec("UPDATE jobs SET state = 'running', owner = 'gone', claims = 1, attempt = 1, started_at = ?, heartbeat_at = 1 WHERE id = ?", store.Millis(e.now()), id).Error
	}))
	st := e.stackOf("blog")
	stop := engine.ComposeRequest{Bin: "docker-compose", Action: engine.ActionStop, Project: "blog", WorkingDir: st.WorkingDir,
		Files: st.Files, Services: []string{"web"}}
	_, err = e.engine.Compose(ctx, stop, func(engine.Line) error { return nil })
	e.must(err)
	return id
}

// TestRestoreOfAKilledCore: after a crash a restore is done to its end, or ends in order: what it has stopped is started again, unless
// the contents may be there in part.
func TestRestoreOfAKilledCore(t *testing.T) {
	checkpoints := map[string]string{"stopped": `{"services":["web"],"begun":false}`, "begun": `{"services":["web"],"begun":true}`,
		"former version": `["web"]`}
	for _, tt := range []struct {
		what, checkpoint       string
		status, state, content string
		middle                 bool
	}{
		{"goes on", "stopped", "success", "running", "what was", false},
		{"goes on", "begun", "success", "running", "what was", false},
		{"goes on", "former version", "success", "running", "what was", false},
		{"canceled", "stopped", "canceled", "running", "what is", false},
		{"canceled", "begun", "canceled", "exited", "what is", true},
		{"canceled", "former version", "canceled", "exited", "what is", true},
		{"file changed", "stopped", "failed", "running", "what is", false},
		{"file changed", "begun", "failed", "exited", "what is", true},
	} {
		t.Run(tt.what+" "+tt.checkpoint, func(t *testing.T) {
			forEach(t, func(t *testing.T, e *env) {
				container := e.withVolume("blog", "shared-data")
				e.discovered()
				backup := e.backedUp(container)
				id := e.crashedRestore(backup, checkpoints[tt.checkpoint])
				switch tt.what {
				case "canceled":
					_, err := e.svc.CancelJob(t.Context(), id)
					e.must(err)
				case "file changed":
					rec, err := e.svc.Backups.Store.FindBackup(t.Context(), backup)
					e.must(err)
					e.must(os.WriteFile(rec.Path, []byte("something else"), 0o600))
				}
				e.start()
				job, list := e.ended(id), e.engine.ContainersOf("blog", "web")
				if job.Status != tt.status || list[0].State != tt.state || string(e.engine.Contents(container, "/data")) != tt.content ||
					e.locksHeld() != 0 {
					t.Errorf("%s, %s, %q\n%s", job.Status, list[0].State, e.engine.Contents(container, "/data"), e.logs(id))
				}
				if strings.Contains(e.logs(id), inTheMiddle) != tt.middle {
					t.Errorf("the log is\n%s", e.logs(id))
				}
			})
		})
	}
}

// TestCancelRestore: a restore that is canceled leaves what it has stopped running, or says why it does not.
func TestCancelRestore(t *testing.T) {
	for op, want := range map[string]string{"compose stop": "running", "restore": "exited", "compose start": "running"} {
		t.Run(op, func(t *testing.T) {
			e := newEnv(t)
			container := e.withVolume("blog", "shared-data")
			e.discovered()
			backup := e.backedUp(container)
			entered, release := e.engine.Hold(op)
			defer release()
			id, err := e.svc.Restore(t.Context(), backup)
			e.must(err)
			<-entered
			_, err = e.svc.CancelJob(t.Context(), id)
			e.must(err)
			job, list := e.ended(id), e.engine.ContainersOf("blog", "web")
			if told := strings.Contains(e.logs(id), inTheMiddle); job.Status != "canceled" || list[0].State != want || told != (want == "exited") {
				t.Errorf("%s\n%s", fmt.Sprint(job.Status, list[0].State), e.logs(id))
			}
		})
	}
}

// waitedFor is a context that tells when somebody waits for its end.
type waitedFor struct {
	context.Context
	waits chan<- struct{}
}

func (c waitedFor) Done() <-chan struct{} {
	select {
	case c.waits <- struct{}{}:
	default:
	}
	return c.Context.Done()
}

// TestCancelRestoreThatWaits: a restore that was interrupted and is canceled while another change of the stack goes on starts what it has
// stopped when that has ended.
func TestCancelRestoreThatWaits(t *testing.T) {
	e := newEnv(t)
	container := e.withVolume("blog", "shared-data")
	e.discovered()
	copyID := e.backedUp(container)
	e.crashedRestore(copyID, "")
	stack := e.stackOf("blog").ID
	unlock, err := e.svc.applying.LockKey(t.Context(), stack)
	e.must(err)
	ctx, cancel := context.WithCancelCause(t.Context())
	waits, ended := make(chan struct{}, 1), make(chan error, 1)
	go func() {
		job := &queue.Job{Checkpoint: []byte(`{"services":["web"],"begun":false}`)}
		_, err := e.svc.RunRestore(waitedFor{ctx, waits}, job,
			backup.RestoreJob{Subject: work.Subject{StackID: stack}, BackupIDs: []string{copyID}}, work.NewReporter(e.now, job, silent{}))
		ended <- err
	}()
	<-waits
	cancel(queue.ErrCanceled)
	unlock()
	if err, list := <-ended, e.engine.ContainersOf("blog", "web"); !errors.Is(err, queue.ErrCanceled) || list[0].State != "running" {
		t.Errorf("%v, %s", err, list[0].State)
	}
}

// lost is a queue.Progress whose job is another worker's after some checkpoints.
type lost struct {
	silent
	after int
}

func (l *lost) Checkpoint(context.Context, any) error {
	if l.after--; l.after < 0 {
		return queue.ErrLost
	}
	return nil
}

// TestRestoreOfAnotherWorker: a restore that another worker has taken over starts nothing, since that one may be replacing the contents.
func TestRestoreOfAnotherWorker(t *testing.T) {
	for after, what := range []string{"before it begins", "when it is done"} {
		t.Run(what, func(t *testing.T) {
			e := newEnv(t)
			container := e.withVolume("blog", "shared-data")
			e.discovered()
			copyID := e.backedUp(container)
			e.crashedRestore(copyID, "")
			job := &queue.Job{Checkpoint: []byte(`{"services":["web"],"begun":false}`)}
			spec := backup.RestoreJob{Subject: work.Subject{StackID: e.stackOf("blog").ID}, BackupIDs: []string{copyID}}
			_, err := e.svc.RunRestore(t.Context(), job, spec, work.NewReporter(e.now, job, &lost{after: after}))
			if list := e.engine.ContainersOf("blog", "web"); !errors.Is(err, queue.ErrLost) || list[0].State != "exited" {
				t.Errorf("%v, %s", err, list[0].State)
			}
		})
	}
}
