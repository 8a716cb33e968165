package app

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testplugin"
	"github.com/patchbay-dev/patchbay/core/queue"
)

// backupState returns what /readyz?verbose says of the backups, "" for nothing.
func backupState(t *testing.T, a *App) string {
	t.Helper()
	return a.checkReadiness(t.Context()).states()["backup"]
}

// writeBackup runs the job of scheduled backups and returns it when it has ended.
func writeBackup(t *testing.T, a *App) queue.Job {
	t.Helper()
	job, _, err := a.queue.Submit(t.Context(), queue.Submission{Type: jobBackup})
	must(t, err)
	testkit.Eventually(t, eventuallyWithin, func() bool {
		job, err = a.queue.Get(t.Context(), job.ID)
		must(t, err)
		return job.State.Final()
	}, "the backup ends")
	return job
}

// TestBackupFailureIsTold has a backup fail: readiness, pages and channels tell it, also after a restart, until one succeeds.
func TestBackupFailureIsTold(t *testing.T) {
	hcl := "search \"testsearch\" \"main\" {}\nnotify \"testchannel\" \"ops\" {}\nservice \"search\" { backend = search.main }\n"
	r, text := newReloadable(t, map[string]string{"testsearch": testplugin.Well, "testchannel": testplugin.Channel}, hcl)
	r.start()
	folder := filepath.Join(filepath.Dir(r.path), "backups")
	if got := backupState(t, r.App); got != "" {
		t.Errorf("without the block the readiness has %q", got)
	}
	r.write(text + fmt.Sprintf("backup {\n  to = %q\n  notify = [notify.ops]\n}\n", folder))
	must(t, r.reload())
	if job := writeBackup(t, r.App); job.State != queue.Success || backupState(t, r.App) != stateOK {
		t.Fatalf("the backup is %+v", job.Failure)
	}

	must(t, os.RemoveAll(folder))
	must(t, os.WriteFile(folder, nil, 0o600))
	job := writeBackup(t, r.App)
	if job.State != queue.Failed || !strings.Contains(job.Failure.Message, "not a directory") {
		t.Errorf("the job is %+v", job)
	}
	told := func() (state string, warned, lasting bool) {
		t.Helper()
		active, err := r.notify.Active(t.Context(), "core")
		must(t, err)
		return backupState(t, r.App), slices.Contains(r.warningIDs(r.set), "warning.backup"), slices.Contains(active, "backup_failed")
	}
	if state, warned, lasting := told(); !strings.Contains(state, "not a directory") || !warned || !lasting {
		t.Errorf("told are %q, %v, %v", state, warned, lasting)
	}
	if err := r.reload(); err == nil || !strings.Contains(err.Error(), "backups cannot be written") {
		t.Errorf("a reload with the folder as it is: %v", err)
	}
	must(t, r.Close())
	must(t, os.Remove(folder))
	r.start()
	if state, warned, lasting := told(); !strings.Contains(state, "not a directory") || !warned || !lasting {
		t.Errorf("after a restart told are %q, %v, %v", state, warned, lasting)
	}
	writeBackup(t, r.App)
	if state, warned, lasting := told(); state != stateOK || warned || lasting {
		t.Errorf("after a backup told are %q, %v, %v", state, warned, lasting)
	}
	schedules := func() (n int64) {
		t.Helper()
		must(t, r.store.DB(t.Context()).Raw("SELECT COUNT(*) FROM job_schedules WHERE name = ?", jobBackup).Scan(&n).Error)
		return n
	}
	if schedules() != 1 {
		t.Error("the backups have no schedule")
	}
	r.write(text)
	must(t, r.reload())
	if schedules() != 0 || backupState(t, r.App) != "" {
		t.Error("the schedule stays without the block")
	}
}

// TestScheduledBackupOfPostgres writes an archive with what pg_dump reads, and refuses the block where there is no pg_dump.
func TestScheduledBackupOfPostgres(t *testing.T) {
	hcl := fmt.Sprintf("storage \"postgres\" {\n  url = %q\n}\nsearch \"testsearch\" \"main\" {}\nservice \"search\" { backend = search.main }\n", testkit.Postgres(t))
	r, text := newReloadable(t, map[string]string{"testsearch": testplugin.Well}, hcl)
	r.start()
	testkit.Require(t, "postgresql-client", r.set.Store.CheckTools() == nil, "install postgresql-client")
	folder := filepath.Join(filepath.Dir(r.path), "backups")
	r.write(text + fmt.Sprintf("backup {\n  to = %q\n}\n", folder))
	must(t, r.reload())
	if job := writeBackup(t, r.App); job.State != queue.Success || backupState(t, r.App) != stateOK {
		t.Fatalf("the backup is %+v", job.Failure)
	}
	archives, err := filepath.Glob(filepath.Join(folder, "*.tar.gz"))
	if err != nil || len(archives) != 1 {
		t.Fatalf("there are the archives %q, %v", archives, err)
	}
	if list, err := exec.Command("tar", "-tzf", archives[0]).CombinedOutput(); err != nil ||
		!strings.Contains(string(list), "patchbay.pgdump\n") || strings.Contains(string(list), "sqlite3") {
		t.Errorf("the archive holds %s, %v", list, err)
	}
	t.Setenv("PATH", t.TempDir())
	if err := r.reload(); err == nil || !strings.Contains(err.Error(), "install the package postgresql-client") {
		t.Errorf("a reload without pg_dump: %v", err)
	}
}
