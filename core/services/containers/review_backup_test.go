package containers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/backup"
	"github.com/patchbay-dev/patchbay/core/services/containers/change"
	"github.com/patchbay-dev/patchbay/core/services/containers/compose"
	"github.com/patchbay-dev/patchbay/core/services/containers/host"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// withVolume is a project that runs, whose only service has a named volume, as compose would have made it.
func (e *env) withVolume(project, mounted string) (id string) {
	e.Helper()
	img := e.image(webRepo, 1)
	img.RepoTags = []string{webRepo + ":1"}
	e.engine.AddImage(img)
	path := e.file(project+"/compose.yaml", "services:\n  web:\n    image: "+webRepo+":1\n    volumes: [\"data:/data\"]\nvolumes:\n  data:\n    name: shared-data\n")
	return e.engine.AddContainer(engine.Container{
		Name: project + "-web-1", Image: webRepo + ":1", Mounts: []engine.Mount{{Type: "volume", Name: mounted, Destination: "/data"}},
		Labels: map[string]string{host.LabelProject: project, host.LabelService: "web", host.LabelWorkingDir: filepath.Dir(path),
			host.LabelFiles: path, host.LabelConfigHash: "hash", host.LabelComposeVersion: "2.40.3"},
	})
}

// backedUp makes a backup of the volume of blog / web, and returns its id.
func (e *env) backedUp(container string) string {
	e.Helper()
	ctx := context.Background()
	e.engine.SetContents(container, "/data", []byte("what was"))
	svc, st := e.serviceOf("blog", "web"), e.stackOf("blog")
	of := backup.Subject{StackID: st.ID, ServiceID: svc.ID, Name: "blog / web", Log: work.NewReporter(e.now, &queue.Job{}, silent{})}
	res, err := e.svc.BackupMount(ctx, of, container, backup.BackupPlan{Mount: svc.Mounts[0]})
	e.must(err)
	e.engine.SetContents(container, "/data", []byte("what is"))
	return res.ID
}

func (e *env) restored(id string) Job {
	e.Helper()
	job, err := e.svc.Restore(context.Background(), id)
	e.must(err)
	return e.ended(job)
}

// A restore that has replaced nothing leaves nothing stopped, and never reaches for another volume or one in use elsewhere.
func TestRestoreLeavesNothingStopped(t *testing.T) {
	refused := fault.FromPlugin("engine.fake", errs.New(errs.Caller, codes.FailedPrecondition, "WRONG_STATE", "the mount is read-only"))
	broken := fault.FromPlugin("engine.fake", errs.New(errs.Upstream, codes.DataLoss, "RESTORE_INCOMPLETE", "only partly filled"))
	tests := []struct {
		name, mounted string
		prepare       func(e *env)
		status, state string
		content       string
	}{
		{"it works", "shared-data", func(*env) {}, "success", "running", "what was"},
		{"the engine refuses", "shared-data", func(e *env) { e.engine.Fail("restore", refused) }, "failed", "running", "what is"},
		{"the engine fails in the middle", "shared-data", func(e *env) { e.engine.Fail("restore", broken) }, "failed", "exited", "what is"},
		{"stopping fails", "shared-data", func(e *env) { e.engine.FailCompose("stop", engine.ComposeResult{ExitCode: 1}) }, "failed", "running",
			"what is"},
		{"another volume is mounted", "other-data", func(*env) {}, "failed", "running", "what is"},
		{"another stack uses it", "shared-data", func(e *env) { e.withVolume("shop", "shared-data"); e.discovered() }, "failed", "running",
			"what is"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := newEnv(t)
			container := e.withVolume("blog", tt.mounted)
			e.discovered()
			id := e.backedUp(container)
			tt.prepare(e)
			job := e.restored(id)
			list := e.engine.ContainersOf("blog", "web")
			if job.Status != tt.status || len(list) != 1 || list[0].State != tt.state ||
				string(e.engine.Contents(container, "/data")) != tt.content {
				t.Errorf("%+v, %+v, %q\n%s", job, list, e.engine.Contents(container, "/data"), e.logs(job.ID))
			}
		})
	}
}

// Backups that must stay, however many, do not keep others from being removed; those of a stack at work stay.
func TestRemoveBackups(t *testing.T) {
	forEach(t, func(t *testing.T, e *env) {
		ctx := context.Background()
		e.withVolume("blog", "shared-data")
		e.discovered()
		svc := e.serviceOf("blog", "web")
		add := func(id, target string, at int64) string {
			path := filepath.Join(e.dir, id)
			e.must(os.WriteFile(path, nil, 0o600))
			e.must(e.svc.Backups.Store.SaveBackup(ctx,
				&backup.Record{ID: id, StackID: svc.StackID, ServiceID: svc.ID, Kind: compose.DockerVolume, Target: target, Status: backup.StatusSuccess,
					Path: path, CreatedAt: at, CleanupAfter: at}))
			return path
		}
		for i := range backup.DueSlice + 1 {
			e.must(e.svc.Backups.Store.SaveBackup(ctx,
				&backup.Record{ID: fmt.Sprintf("bkp_keep%d", i), StackID: svc.StackID, ServiceID: svc.ID, Kind: compose.DockerVolume,
					Target: fmt.Sprint("v", i), Status: backup.StatusSuccess, CreatedAt: 1, CleanupAfter: 1}))
		}
		old, fresh := add("bkp_old", "data", 2), add("bkp_new", "data", 3)
		job, err := e.svc.queue.SubmitNew(ctx, work.Submission{Kind: "sleeping", Locks: []string{work.ServiceLock(svc.ID)}})
		e.must(err)
		e.must(e.svc.RemoveDue(ctx))
		if _, err := os.Stat(old); err != nil {
			t.Errorf("it was removed while a job works on the service: %v", err)
		}
		_, err = e.queue.Cancel(ctx, job)
		e.must(err)
		e.must(e.svc.RemoveDue(ctx))
		if _, err := os.Stat(old); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("it is still there: %v", err)
		}
		if _, err := os.Stat(fresh); err != nil {
			t.Errorf("the newest is gone: %v", err)
		}
	})
}

// TestBackupOfAKilledCore: the files of a backup whose end was not recorded are removed by the next attempt, whether it is whole or not,
// and also if nothing is to be backed up any more.
func TestBackupOfAKilledCore(t *testing.T) {
	for _, suffix := range []string{"", ".part"} {
		for _, enabled := range []bool{true, false} {
			t.Run(fmt.Sprintf("suffix %q enabled %v", suffix, enabled), func(t *testing.T) {
				e := newEnv(t)
				e.blog()
				e.withData()
				web := e.serviceOf("blog", "web")
				id := e.crashed(web, left{step: change.StepBackup, pulled: true, stopped: true})
				file := filepath.Join(e.dir, "begun.tar.gz")
				e.must(os.WriteFile(file+suffix, []byte("data of the blog"), 0o600))
				e.must(e.svc.Backups.Store.SaveBackup(t.Context(), &backup.Record{
					ID: "bkp_begun", StackID: web.StackID, ServiceID: web.ID, JobID: id, Kind: compose.DockerVolume, Target: "blog_data",
					Destination: "/data",
					Status:      backup.StatusRunning, Path: file, CreatedAt: 1,
				}))
				e.must(e.svc.ChangeSettings(t.Context(), SettingsChange{Backup: &BackupChange{Enabled: &enabled}}))
				e.start()
				if job, _ := e.summaryOf(id); job.Status != "success" {
					t.Fatalf("%+v\n%s", job, e.logs(id))
				}
				if _, err := os.Stat(file + suffix); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("it is still there: %v", err)
				}
				if b, err := e.svc.Backups.Store.FindBackup(t.Context(), "bkp_begun"); err != nil || b.Status != backup.StatusFailed {
					t.Errorf("%+v, %v", b, err)
				}
			})
		}
	}
}

// silent is a queue.Progress that keeps nothing.
type silent struct{}

func (silent) Log(context.Context, string, ...any)         {}
func (silent) Step(context.Context, string)                {}
func (silent) Percent(context.Context, int)                {}
func (silent) Emit(context.Context, string, any)           {}
func (silent) Note(context.Context, any)                   {}
func (silent) Checkpoint(context.Context, any) (err error) { return nil }

// TestVolumeOverTheLimit: where backups must succeed a volume that is too large stops the update before anything is changed;
// where they need not, it is left out.
func TestVolumeOverTheLimit(t *testing.T) {
	for _, require := range []bool{true, false} {
		t.Run(fmt.Sprintf("require %v", require), func(t *testing.T) {
			e := newEnv(t)
			container := e.withVolume("blog", "shared-data")
			e.engine.ScriptImage(imageID(1), fake.Healthy())
			e.publish(webRepo+":1", 2)
			e.discovered()
			e.checked()
			e.engine.SetContents(container, "/data", []byte("more than four bytes"))
			e.must(e.svc.ChangeSettings(t.Context(), SettingsChange{Backup: &BackupChange{RequireSuccess: &require, SkipOverBytes: new(int64(4))}}))
			job, sum := e.updated("blog", "web")
			if len(sum.Stacks) != 1 || len(sum.Stacks[0].Backup) != 1 || sum.Stacks[0].Backup[0].Status != backup.StatusSkipped {
				t.Fatalf("%+v\n%s", sum, e.logs(job.ID))
			}
			if !require {
				if job.Status != "success" || e.runs("blog", "web") != imageID(2) {
					t.Errorf("%+v\n%s", job, e.logs(job.ID))
				}
				return
			}
			if job.Status != "failed" || e.runs("blog", "web") != imageID(1) || e.engine.ContainersOf("blog", "web")[0].State != "running" {
				t.Errorf("%+v\n%s", job, e.logs(job.ID))
			}
			if why := job.ResultReason; why == nil || why.Summary != "The backup failed, so nothing was changed." ||
				!strings.Contains(why.Detail, "limit of 4 bytes. Raise the limit") {
				t.Errorf("the reason is %+v", why)
			}
		})
	}
}
