package containers

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/containers/change"
	"github.com/patchbay-dev/patchbay/core/services/containers/host"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// broken is an engine that does not answer.
func broken() error { return errs.Unavailable(errs.ReasonConnect, "the engine does not answer") }

func times(n int, err error) (out []error) {
	for range n {
		out = append(out, err)
	}
	return out
}

// withData gives the service of blog a volume with something in it, so that a backup is made.
func (e *env) withData() {
	e.Helper()
	e.file("blog/compose.yaml", "services:\n  web:\n    image: "+webRepo+":1\n    volumes: [\"data:/data\"]\nvolumes:\n  data: {}\n")
	for _, c := range e.engine.ContainersOf("blog", "web") {
		e.engine.RemoveContainer(c.ID)
		c.Mounts = []engine.Mount{{Type: "volume", Name: "blog_data", Destination: "/data"}}
		e.engine.AddContainer(c)
		e.engine.SetContents(c.ID, "/data", []byte("data of the blog"))
	}
	e.discovered()
}

// updateFault is something that goes wrong in an update, and how it ends.
type updateFault struct {
	name string
	do   func(*env)
	// step is where it fails; what follows is with and without automatic rollback.
	step, with, without string
	// image is what runs afterwards, with and without automatic rollback.
	image [2]int
}

func updateFaults() []updateFault {
	script := func(steps ...fake.Step) func(*env) {
		return func(e *env) { e.engine.ScriptImage(imageID(2), steps...) }
	}
	fails := func(op string, n int) func(*env) {
		return func(e *env) { e.engine.Fail(op, times(n, broken())...) }
	}
	file := func(text string) func(*env) {
		return func(e *env) {
			entered, release := e.engine.Hold("pull")
			go func() {
				<-entered
				if text == "" {
					_ = os.Remove(filepath.Join(e.dir, "blog", "compose.yaml"))
				} else {
					_ = os.WriteFile(filepath.Join(e.dir, "blog", "compose.yaml"), []byte(text), 0o644)
				}
				release()
			}()
		}
	}
	both, stays := [2]int{1, 1}, [2]int{1, 2}
	return []updateFault{
		{"pull", fails("pull", 2), change.StepPull, "failed", "failed", both},
		{"backup", fails("archive", 1), change.StepBackup, "failed", "failed", both},
		{"stop for the backup", fails("compose stop", host.OutageAttempts), change.StepBackup, "failed", "failed", both},
		{"tag", fails("tag", 2), change.StepTag, "failed", "failed", both},
		{"up", fails("compose recreate", host.OutageAttempts), change.StepUp, "rolled_back", "failed", both},
		{"up ends with a code", func(e *env) {
			e.engine.FailCompose(engine.ActionRecreate, engine.ComposeResult{ExitCode: 1, Tail: "no space"})
		}, change.StepUp, "rolled_back", "failed", both},
		{"unhealthy", script(fake.Starting(), fake.Unhealthy()), change.StepHealth, "rolled_back", "failed", stays},
		{"exits", script(fake.Running(), fake.Exited(3)), change.StepHealth, "rolled_back", "failed", stays},
		{"restarts", script(fake.Running(), fake.Restarted(1, 7)), change.StepHealth, "rolled_back", "failed", stays},
		{"never healthy", script(fake.Starting()), change.StepHealth, "rolled_back", "failed", stays},
		{"another image runs", script(func(d *engine.Detail) { d.ImageID = imageID(66) }), change.StepHealth, "rolled_back", "failed",
			[2]int{1, 66}},
		{"file without the service", file(composeText(map[string]string{"db": dbRepo + ":1"})), change.StepUp, "failed", "failed", both},
		{"file with another image", file(composeText(map[string]string{"web": webRepo + ":7"})), change.StepUp, "failed", "failed", both},
		{"no file", file(""), change.StepUp, "failed", "failed", both},
	}
}

// TestUpdateFaults: whatever fails in an update, afterwards the former image runs, or the new one where people asked for that; the job
// says which step failed; the name in the project stands for what is to run; nothing is locked.
func TestUpdateFaults(t *testing.T) {
	for _, f := range updateFaults() {
		for i, auto := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/%v", f.name, auto), func(t *testing.T) {
				t.Parallel()
				e := newEnv(t)
				e.blog()
				e.withData()
				web := e.serviceOf("blog", "web")
				e.must(e.svc.ChangeService(t.Context(), web.ID, project.ServiceChange{AutoRollback: &auto}))
				f.do(e)
				job, sum := e.updated("blog", "web")
				want := []string{f.with, f.without}[i]
				if job.Status != want || len(sum.Stacks) != 1 || sum.Stacks[0].Update.FailureStep != f.step || job.ResultReason == nil {
					t.Fatalf("%s at %+v, want %s at %s\n%s", job.Status, sum.Stacks, want, f.step, e.logs(job.ID))
				}
				e.afterFault(web, f.image[i], want)
			})
		}
	}
}

func (e *env) afterFault(web *record.Service, image int, status string) {
	e.Helper()
	list := e.engine.ContainersOf("blog", "web")
	if len(list) != 1 || list[0].ImageID != imageID(image) {
		e.Errorf("the containers are %+v, want image %d", list, image)
	}
	if image == 1 && list[0].State != "running" {
		e.Errorf("the former container is %s", list[0].State)
	}
	hist, err := e.svc.History(context.Background(), web.ID)
	e.must(err)
	if len(hist) != 1 || hist[0].Status != status || hist[0].Error == "" || hist[0].FinishedAt.IsZero() {
		e.Errorf("the history is %+v", hist)
	}
	after := e.serviceOf("blog", "web")
	// Where the new container stays as it is, what runs is the candidate.
	if candidate := after.CandidateDigest == digest(2); candidate != (image != 2) {
		e.Errorf("the candidate is %q though image %d runs", after.CandidateDigest, image)
	}
	if n := e.locksHeld(); n != 0 {
		e.Errorf("%d locks are held", n)
	}
	name := e.engine.NameOf(webRepo + ":1")
	if image == 1 && name != imageID(1) || image == 2 && name != imageID(2) {
		e.Errorf("the name stands for %s while image %d runs", record.ShortDigest(name), image)
	}
}

// TestRollbackFails: when the way back fails too, the job says so, and the next one may go on.
func TestRollbackFails(t *testing.T) {
	for op, n := range map[string]int{"tag": 2, "compose recreate": host.OutageAttempts, "unhealthy": 0} {
		t.Run(op, func(t *testing.T) {
			e := newEnv(t)
			e.blog()
			e.engine.ScriptImage(imageID(2), fake.Unhealthy())
			e.engine.ScriptImage(imageID(1), fake.Exited(9))
			if n > 0 {
				e.engine.ScriptImage(imageID(1), fake.Healthy())
				// The first call is that of the update itself.
				e.engine.Fail(op, append([]error{nil}, times(n, broken())...)...)
			}
			job, sum := e.updated("blog", "web")
			if job.Status != "failed" || !strings.Contains(job.ResultReason.Summary, "so did the rollback") &&
				!strings.Contains(job.ResultReason.Detail, "so did the rollback") {
				t.Errorf("%s: %+v\n%+v", job.Status, job.ResultReason, sum.Stacks)
			}
			if e.locksHeld() != 0 {
				t.Error("something is still locked")
			}
		})
	}
}

// TestTwoStacks: what fails in one stack ends that stack's part of the job, and the other stack goes on.
func TestTwoStacks(t *testing.T) {
	forEach(t, func(t *testing.T, e *env) {
		e.project("a", 1, map[string]string{"app": appRepo + ":1", "web": webRepo + ":1"})
		e.file("a/compose.yaml", composeText(map[string]string{"app": appRepo +
			":1"})+"  web:\n    image: "+webRepo+":1\n    depends_on: [app]\n")
		e.project("b", 1, map[string]string{"db": dbRepo + ":1"})
		for i, ref := range []string{appRepo + ":1", webRepo + ":1", dbRepo + ":1"} {
			e.publish(ref, 10+i)
		}
		e.engine.ScriptImage(imageID(10), fake.Exited(1))
		e.discovered()
		e.checked()
		app, web, db := e.serviceOf("a", "app"), e.serviceOf("a", "web"), e.serviceOf("b", "db")
		req := change.UpdateRequest{Scope: work.ScopeAll}
		for _, svc := range []*record.Service{app, web, db} {
			req.Targets = append(req.Targets, project.Target{ServiceID: svc.ID, TargetTag: "1", TargetDigest: svc.CandidateDigest,
				PullTags: []string{}})
		}
		id, err := e.svc.Update(t.Context(), req)
		e.must(err)
		job, sum := e.summaryOf(id)
		if job.Status != "rolled_back" || len(sum.Stacks) != 2 {
			t.Fatalf("%s %+v", job.Status, sum.Stacks)
		}
		a, b := sum.Stacks[0].Update, sum.Stacks[1].Update
		if a.FailedService != app.ID || !cmp.Equal(a.Skipped, []string{web.ID}) || a.Rollback == nil ||
			!cmp.Equal(b.ChangedServices, []string{db.ID}) {
			t.Errorf("a: %+v\nb: %+v", a, b)
		}
		if e.runs("a", "app") != imageID(1) || e.runs("a", "web") != imageID(1) || e.runs("b", "db") != imageID(12) {
			t.Error("the wrong images run")
		}
	})
}

// TestExtraTags: further tags are pulled afterwards; one that cannot be is a warning.
func TestExtraTags(t *testing.T) {
	e := newEnv(t)
	e.blog()
	e.publish(webRepo+":1.4", 2)
	job, sum := e.updated("blog", "web", func(r *change.UpdateRequest) { r.PullTags = &[]string{"1.4", "9.9", "1", "1.4"} })
	if job.Status != "success" {
		t.Fatalf("%+v", job)
	}
	u := sum.Stacks[0].Update
	if !cmp.Equal(u.PullTagsPulled, []string{"1.4"}) || len(u.PullTagWarnings) != 1 || u.PullTagWarnings[0].TagRef != webRepo+":9.9" ||
		u.PullTagWarnings[0].Error == "" {
		t.Errorf("%+v", u)
	}
	if e.engine.NameOf(webRepo+":1.4") != imageID(2) {
		t.Error("the further tag was not pulled")
	}
}

// TestDryRun: the plan tells what would run, and nothing does.
func TestDryRun(t *testing.T) {
	e := newEnv(t)
	e.blog()
	e.withData()
	before := len(e.engine.CallsOf("pull", "tag", "archive", "restore"))
	req := requestOf(e.serviceOf("blog", "web"))
	req.Mode = change.ModeDryRun
	id, err := e.svc.Update(t.Context(), req)
	e.must(err)
	job := e.ended(id)
	var plan change.Plan
	e.must(record.DecodeColumn(job.Summary, &plan))
	if job.Status != "success" || len(plan.Services) != 1 || len(plan.Services[0].Commands) != 3 || len(plan.Services[0].BackupTargets) != 1 {
		t.Errorf("%s %+v", job.Status, plan)
	}
	if n := len(e.engine.CallsOf("pull", "tag", "archive", "restore")); n != before || e.runs("blog", "web") != imageID(1) {
		t.Error("a dry run has changed something")
	}
	e.file("blog/compose.yaml", composeText(map[string]string{"web": webRepo + ":7"}))
	id, err = e.svc.Update(t.Context(), req)
	e.must(err)
	if job := e.ended(id); job.Status != "failed" || !strings.Contains(job.ResultReason.Detail, "different image") {
		t.Errorf("with a file that has changed: %+v", job)
	}
}

// TestStopInTheMiddle: a core that is stopped while an update waits for the engine leaves the job to the next one, which ends it.
func TestStopInTheMiddle(t *testing.T) {
	for _, op := range []string{"pull", "compose stop", "archive", "tag", "compose recreate", "inspect"} {
		t.Run(op, func(t *testing.T) {
			forEach(t, func(t *testing.T, e *env) {
				e.blog()
				e.withData()
				entered, release := e.engine.Hold(op)
				defer release()
				id, err := e.svc.Update(t.Context(), requestOf(e.serviceOf("blog", "web")))
				e.must(err)
				<-entered
				e.stop(e.queue, e.svc)
				j, err := e.queue.Get(context.Background(), id)
				e.must(err)
				if j.State.Final() {
					t.Fatalf("the job has ended with its core: %+v", jobView(&j))
				}
				e.start()
				job := e.ended(id)
				if job.Status != "success" || e.runs("blog", "web") != imageID(2) || e.locksHeld() != 0 {
					t.Errorf("%s, %d locks\n%s", job.Status, e.locksHeld(), e.logs(id))
				}
			})
		})
	}
}

// TestSettling: without a health check a container has to run for a while without a restart.
func TestSettling(t *testing.T) {
	e := newEnv(t, func(e *env) { e.set.SettleTime = 700 * time.Millisecond })
	e.blog()
	e.engine.ScriptImage(imageID(2), fake.Running())
	began := time.Now()
	if job, _ := e.updated("blog", "web"); job.Status != "success" || time.Since(began) < 700*time.Millisecond {
		t.Errorf("%s after %s", job.Status, time.Since(began))
	}
	testkit.Eventually(t, patience, func() bool { return e.serviceOf("blog", "web").RuntimeDigest == digest(2) }, "what runs is read")
}
