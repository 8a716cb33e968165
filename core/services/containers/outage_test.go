package containers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/services/containers/change"
	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// outageCase is an engine that restarts in an update, and how the job ends.
type outageCase struct {
	name string
	// prepare arranges the outage.
	prepare func(e *env)
	want    string
}

// stopsIn has the engine stop once an operation has begun the given time, and calls fail until so many have.
func (e *env) stopsIn(op string, calls int) {
	e.Helper()
	entered, release := e.engine.Hold(op)
	go func() {
		<-entered
		e.engine.Stop(calls)
		release()
	}()
}

// outageCases are outages at each step. Calls of 0 are an engine whose socket is held meanwhile: its calls take longer and do not fail.
func outageCases() (out []outageCase) {
	bad := func(e *env) { e.engine.ScriptImage(imageID(2), fake.Unhealthy()) }
	for name, calls := range map[string]int{"": 2, " behind a held socket": 0} {
		for _, op := range []string{"pull", "compose stop", "archive", "tag", "inspect"} {
			out = append(out, outageCase{op + name, func(e *env) { e.stopsIn(op, calls) }, "success"})
		}
		leftovers := fake.Leftovers()
		if calls == 0 {
			leftovers = []fake.Leftover{fake.FirstCreated, fake.SecondRenamed}
		}
		for _, l := range leftovers {
			out = append(out, outageCase{"up " + string(l) + name, func(e *env) { e.engine.StopInCompose(engine.ActionRecreate, calls, l) },
				"success"},
				outageCase{"rollback up " + string(l) + name, func(e *env) {
					bad(e)
					e.engine.StopInCompose(engine.ActionRecreate, calls, fake.NotInterrupted, l)
				}, "rolled_back"})
		}
		out = append(out,
			outageCase{"up twice" + name, func(e *env) {
				e.engine.StopInCompose(engine.ActionRecreate, calls, fake.SecondRenamed, fake.SecondRenamed)
			}, "success"},
			outageCase{"rollback stop" + name, func(e *env) {
				bad(e)
				e.engine.StopInCompose(engine.ActionStop, calls, fake.NotInterrupted, fake.SecondStopped)
			}, "rolled_back"},
			outageCase{"it ends by itself too" + name, func(e *env) {
				e.engine.ScriptImage(imageID(2), fake.Running(), fake.Exited(3))
				e.stopsIn("inspect", calls)
			}, "rolled_back"},
		)
	}
	return out
}

// TestEngineRestartsInAnUpdate: an engine that restarts says nothing about an update. Its step is done again, what it has stopped is
// started, and only then it is judged.
func TestEngineRestartsInAnUpdate(t *testing.T) {
	for _, tt := range outageCases() {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			e.blog()
			e.withData()
			tt.prepare(e)
			job, sum := e.updated("blog", "web")
			image := imageID(2)
			if tt.want == "rolled_back" {
				image = imageID(1)
			}
			list := e.engine.ContainersOf("blog", "web")
			if job.Status != tt.want || len(list) != 1 || list[0].ImageID != image || list[0].State != "running" || list[0].Name != "blog-web-1" ||
				e.locksHeld() != 0 {
				t.Errorf("%s, want %s: %+v\n%+v\n%s", job.Status, tt.want, list, sum.Stacks, e.logs(job.ID))
			}
			if n := e.svc.Outages.Load(); n == 0 {
				t.Errorf("no outage was seen:\n%s", e.logs(job.ID))
			}
		})
	}
}

// TestEngineAndCoreRestart: an engine that restarts while no core runs says nothing about an update either, at whatever step the core
// ended.
func TestEngineAndCoreRestart(t *testing.T) {
	for _, l := range leftovers() {
		t.Run(fmt.Sprintf("%s stopped=%v named=%v recreated=%v", l.step, l.stopped, l.named, l.recreated), func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			e.blog()
			e.withData()
			id := e.crashed(e.serviceOf("blog", "web"), l)
			e.engine.Stop(0)
			e.start()
			want, image := "success", imageID(2)
			if l.back {
				want, image = "rolled_back", imageID(1)
			}
			job, list := e.ended(id), e.engine.ContainersOf("blog", "web")
			if job.Status != want || len(list) != 1 || list[0].ImageID != image || list[0].State != "running" || e.locksHeld() != 0 {
				t.Errorf("%s, want %s: %+v\n%s", job.Status, want, list, e.logs(id))
			}
		})
	}
}

// TestEngineRestartLeavesTheOthers: what ran before a job and is stopped with the engine runs after it, whether the job has changed it or
// not; what was stopped before stays so.
func TestEngineRestartLeavesTheOthers(t *testing.T) {
	for name, tt := range map[string]struct {
		failing bool
		want    string
		image   map[string]int
	}{
		"updated":             {false, "success", map[string]int{"app": 10, "web": 11}},
		"skipped by the rest": {true, "rolled_back", map[string]int{"app": 1, "web": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.project("blog", 1, map[string]string{"app": appRepo + ":1", "web": webRepo + ":1", "old": dbRepo + ":1"})
			e.file("blog/compose.yaml", composeText(map[string]string{"app": appRepo + ":1",
				"old": dbRepo + ":1"})+"  web:\n    image: "+webRepo+":1\n    depends_on: [app]\n")
			e.publish(appRepo+":1", 10)
			e.publish(webRepo+":1", 11)
			e.discovered()
			e.checked()
			old := e.engine.ContainersOf("blog", "old")[0]
			e.engine.RemoveContainer(old.ID)
			old.State = "exited"
			e.engine.AddContainer(old)
			if tt.failing {
				e.engine.ScriptImage(imageID(10), fake.Unhealthy())
				e.engine.StopInCompose(engine.ActionRecreate, 2, fake.NotInterrupted, fake.SecondStopped)
			} else {
				e.engine.StopInCompose(engine.ActionRecreate, 2, fake.NotInterrupted, fake.SecondRenamed)
			}
			job, sum := e.updatedAll([2]string{"blog", "app"}, [2]string{"blog", "web"})
			if job.Status != tt.want {
				t.Fatalf("%s, want %s: %+v\n%s", job.Status, tt.want, sum.Stacks, e.logs(job.ID))
			}
			for svc, image := range tt.image {
				if list := e.engine.ContainersOf("blog", svc); len(list) != 1 || list[0].State != "running" || list[0].ImageID != imageID(image) {
					t.Errorf("%s: %+v\n%s", svc, list, e.logs(job.ID))
				}
			}
			if got := e.engine.ContainersOf("blog", "old")[0].State; got != "exited" {
				t.Errorf("what was stopped before is %s", got)
			}
		})
	}
}

// TestStoppedServiceStaysStopped: a service that did not run before an update is never started by it, nor by the rollback, though the
// engine restarted.
func TestStoppedServiceStaysStopped(t *testing.T) {
	for name, tt := range map[string]struct {
		prepare func(e *env)
		status  string
		image   int
	}{
		"updated": {func(e *env) { e.engine.StopInCompose(engine.ActionRecreate, 2, fake.SecondRenamed) }, "success", 2},
		"rolled back": {func(e *env) {
			e.engine.FailCompose(engine.ActionRecreate, engine.ComposeResult{ExitCode: 1, Tail: "no space"})
		}, "rolled_back", 1},
		"rolled back by an engine that restarts": {func(e *env) {
			e.engine.FailCompose(engine.ActionRecreate, engine.ComposeResult{ExitCode: 1, Tail: "no space"})
			e.engine.StopInCompose(engine.ActionStop, 2, fake.SecondStopped)
		}, "rolled_back", 1},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.blog()
			web := e.engine.ContainersOf("blog", "web")[0]
			e.engine.RemoveContainer(web.ID)
			web.State = "exited"
			e.engine.AddContainer(web)
			e.discovered()
			tt.prepare(e)
			job, sum := e.updated("blog", "web")
			list := e.engine.ContainersOf("blog", "web")
			if job.Status != tt.status || len(list) != 1 || list[0].State == "running" || list[0].ImageID != imageID(tt.image) ||
				e.engine.Starts(imageID(1))+e.engine.Starts(imageID(2)) != 0 {
				t.Errorf("%s: %+v\n%s", job.Status, list, e.logs(job.ID))
			}
			if back := sum.Stacks[0].Update.Rollback; (back != nil) != (tt.status == "rolled_back") || back != nil && !back.Stopped ||
				job.ResultReason != nil && strings.Contains(job.ResultReason.Summary, "runs again") {
				t.Errorf("the summary is %+v, %+v", back, job.ResultReason)
			}
		})
	}
}

// TestEngineDoesNotComeBack: a job whose engine does not come back in time fails and says so; when it answers, another job goes on from the
// step, also after the core was started again.
func TestEngineDoesNotComeBack(t *testing.T) {
	for name, tt := range map[string]struct {
		prepare func(e *env)
		want    string
	}{
		"pull":         {func(e *env) { e.stopsIn("pull", -1) }, "success"},
		"backup":       {func(e *env) { e.stopsIn("archive", -1) }, "success"},
		"up":           {func(e *env) { e.engine.StopInCompose(engine.ActionRecreate, -1, fake.SecondRenamed) }, "success"},
		"health check": {func(e *env) { e.stopsIn("inspect", -1) }, "success"},
		"rollback": {func(e *env) {
			bad(e)
			e.engine.StopInCompose(engine.ActionRecreate, -1, fake.NotInterrupted, fake.FirstCreated)
		}, "rolled_back"},
		"rollback stop": {func(e *env) {
			bad(e)
			e.engine.StopInCompose(engine.ActionStop, -1, fake.NotInterrupted, fake.SecondStopped)
		}, "rolled_back"},
	} {
		for _, restarted := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				e := newEnv(t, func(e *env) { e.outageWait = 300 * time.Millisecond })
				e.blog()
				e.withData()
				tt.prepare(e)
				job, sum := e.updated("blog", "web")
				if job.Status != "failed" || !strings.Contains(job.ResultReason.Summary, "did not come back in time") || len(sum.Stacks) != 1 ||
					sum.Stacks[0].Update.Reason != failure.EngineAway {
					t.Fatalf("%s: %+v %+v\n%s", job.Status, job.ResultReason, sum.Stacks, e.logs(job.ID))
				}
				if restarted {
					e.stop(e.queue, e.svc)
					e.start()
				}
				// Nobody takes the change for one whose job was given up.
				e.must(e.svc.EndLeftOpen(t.Context()))
				e.engine.Start()
				e.must(e.svc.ResumeWaiting(t.Context()))
				next := e.jobAfter(job.ID)
				image := map[string]string{"success": imageID(2), "rolled_back": imageID(1)}[tt.want]
				done := e.ended(next)
				list := e.engine.ContainersOf("blog", "web")
				if done.Status != tt.want || len(list) != 1 || list[0].ImageID != image || list[0].State != "running" || e.locksHeld() != 0 {
					t.Errorf("%s, want %s: %+v\n%s", done.Status, tt.want, list, e.logs(next))
				}
				hist, err := e.svc.History(t.Context(), e.serviceOf("blog", "web").ID)
				e.must(err)
				if len(hist) != 1 || hist[0].Status != tt.want || hist[0].JobID != next {
					t.Errorf("the history is %+v", hist)
				}
				e.must(e.svc.ResumeWaiting(t.Context()))
				if again := e.updateJobs(); len(again) != 2 {
					t.Errorf("the change is gone on with twice: %v", again)
				}
			})
		}
	}
}

func bad(e *env) { e.engine.ScriptImage(imageID(2), fake.Unhealthy()) }

// updateJobs are the ids of the updates, newest first.
func (e *env) updateJobs() (ids []string) {
	e.Helper()
	e.must(e.store.DB(context.Background()).Raw("SELECT id FROM jobs WHERE type = ? ORDER BY id DESC",
		work.QueueType(work.JobUpdate)).Scan(&ids).Error)
	return ids
}

// jobAfter returns the only update besides the given one.
func (e *env) jobAfter(id string) string {
	e.Helper()
	ids := slices.DeleteFunc(e.updateJobs(), func(other string) bool { return other == id })
	if len(ids) != 1 {
		e.Fatalf("the updates besides %s are %v", id, ids)
	}
	return ids[0]
}

// TestChangedSinceIsNotResumed: a change that waits is given up once another job has changed its service.
func TestChangedSinceIsNotResumed(t *testing.T) {
	e := newEnv(t, func(e *env) { e.outageWait = 300 * time.Millisecond })
	e.blog()
	e.engine.StopInCompose(engine.ActionRecreate, -1, fake.SecondRenamed)
	first, _ := e.updated("blog", "web")
	e.engine.Start()
	second, _ := e.updated("blog", "web")
	if first.Status != "failed" || second.Status != "success" {
		t.Fatalf("%s, %s\n%s", first.Status, second.Status, e.logs(second.ID))
	}
	e.must(e.svc.ResumeWaiting(t.Context()))
	third := e.ended(e.updateJobs()[0])
	if third.ID == second.ID || third.Status != "failed" || !strings.Contains(third.ResultReason.Detail, change.ChangedSince) ||
		e.runs("blog", "web") != imageID(2) {
		t.Errorf("%+v", third)
	}
	hist, err := e.svc.History(t.Context(), e.serviceOf("blog", "web").ID)
	e.must(err)
	if len(hist) != 2 || hist[0].Status != "success" || hist[1].Status != "failed" {
		t.Errorf("%+v", hist)
	}
}
