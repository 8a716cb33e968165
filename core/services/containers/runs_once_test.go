package containers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/services/containers/change"
	"github.com/patchbay-dev/patchbay/core/services/containers/health"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// addMigration is a project whose web waits for the end of migrate, beside cron, which ends by itself without anybody waiting. Both have
// ended, and there are new versions of all: 10 of migrate, 11 of web, 12 of cron.
func (e *env) addMigration() {
	e.Helper()
	e.project("shop", 1, map[string]string{"web": webRepo + ":1", "migrate": appRepo + ":1", "cron": dbRepo + ":1"})
	e.file("shop/compose.yaml", "services:\n  web:\n    image: "+webRepo+":1\n    depends_on: {migrate: {condition: service_completed_successfully}}\n  migrate:\n    image: "+appRepo+":1\n  cron:\n    image: "+dbRepo+":1\n")
	for _, name := range []string{"migrate", "cron"} {
		e.engine.EndContainer(e.idsOf("shop", name)[0], 0)
	}
	e.publish(appRepo+":1", 10)
	e.publish(webRepo+":1", 11)
	e.publish(dbRepo+":1", 12)
	e.discovered()
	if job, _ := e.checked(); job.Status != "success" {
		e.Fatalf("the check is %+v", job)
	}
}

// runOnceCase is an update of services of which some end by themselves.
type runOnceCase struct {
	name     string
	prepare  func(e *env)
	services []string
	status   string
	// recreated are the services that compose has recreated, in order; nil for any.
	recreated []string
	// images are the versions that the containers have afterwards, states the states.
	images map[string]int
	states map[string]string
	// starts is how often the containers of version 10 of migrate are started, completed who is said to stay at its new version.
	starts    int
	completed []string
}

func runOnceCases() []runOnceCase {
	job := func(version, code int) func(*env) { return func(e *env) { e.engine.SetJob(imageID(version), code) } }
	all := func(list ...func(*env)) func(*env) {
		return func(e *env) {
			for _, f := range list {
				f(e)
			}
		}
	}
	return []runOnceCase{
		{"a migration before its dependent", job(10, 0), []string{"web", "migrate"}, "success", []string{"migrate", "web"},
			map[string]int{"migrate": 10, "web": 11}, map[string]string{"migrate": "exited", "web": "running"}, 1, nil},
		{"a migration that fails", job(10, 3), []string{"web", "migrate"}, "failed", []string{"migrate"},
			map[string]int{"migrate": 10, "web": 1}, map[string]string{"migrate": "exited", "web": "running"}, 1, nil},
		{"a dependent that fails", all(job(10, 0), func(e *env) { e.engine.ScriptImage(imageID(11), fake.Unhealthy()) }),
			[]string{"web", "migrate"}, "rolled_back", []string{"migrate", "web", "web"},
			map[string]int{"migrate": 10, "web": 1}, map[string]string{"migrate": "exited", "web": "running"}, 1, []string{"migrate"}},
		{"one that ended before", job(12, 0), []string{"cron"}, "success", []string{"cron"},
			map[string]int{"cron": 12, "migrate": 1}, map[string]string{"cron": "exited"}, 0, nil},
		{"one that ended before and fails", job(12, 1), []string{"cron"}, "failed", []string{"cron"},
			map[string]int{"cron": 12}, map[string]string{"cron": "exited"}, 0, nil},
		{"one that ended before and goes on", func(e *env) { e.engine.ScriptImage(imageID(12), fake.Running()) }, []string{"cron"}, "success",
			[]string{"cron"},
			map[string]int{"cron": 12}, map[string]string{"cron": "running"}, 0, nil},
		{"one that ran and ends", all(job(11, 0)), []string{"web"}, "rolled_back", []string{"web", "web"},
			map[string]int{"web": 1}, map[string]string{"web": "running"}, 0, nil},
		{"a server that somebody has stopped", func(e *env) { e.engine.PublishPort(e.idsOf("shop", "cron")[0], "0.0.0.0:80:80/tcp") },
			[]string{"cron"}, "success", []string{"cron"},
			map[string]int{"cron": 12}, map[string]string{"cron": "created"}, 0, nil},
		{"one that the engine would start again", func(e *env) { e.engine.SetRestartPolicy(e.idsOf("shop", "cron")[0], "unless-stopped") },
			[]string{"cron"}, "success", []string{"cron"},
			map[string]int{"cron": 12}, map[string]string{"cron": "created"}, 0, nil},
		{"one that somebody has stopped", func(e *env) { e.engine.EndContainer(e.idsOf("shop", "cron")[0], 143) }, []string{"cron"}, "success",
			[]string{"cron"},
			map[string]int{"cron": 12}, map[string]string{"cron": "created"}, 0, nil},
		{"an engine that restarts while it runs",
			all(job(10, 0), func(e *env) { e.engine.StopInCompose(engine.ActionRecreate, 2, fake.SecondRenamed) }), []string{"web", "migrate"},
			"success",
			nil, map[string]int{"migrate": 10, "web": 11}, map[string]string{"migrate": "exited", "web": "running"}, 1, nil},
	}
}

// TestServicesThatEndByThemselves: a service that ends by itself is run once to its end, before those that wait for it, and never again
// with its former image; one that ran before and ends has failed; one that somebody has stopped stays stopped.
func TestServicesThatEndByThemselves(t *testing.T) {
	for _, tt := range runOnceCases() {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			e.addMigration()
			tt.prepare(e)
			// As if what is prepared had happened before anybody looked.
			e.setService("shop", "cron", map[string]any{"ended": ""})
			e.discovered()
			job, sum := e.updateServices("shop", tt.services...)
			diff := cmp.Diff(tt.recreated, e.recreated())
			if tt.recreated == nil {
				diff = ""
			}
			if job.Status != tt.status || diff != "" {
				t.Fatalf("%s, want %s: %s\n%s", job.Status, tt.status, diff, e.logs(job.ID))
			}
			for name, version := range tt.images {
				if got := e.runs("shop", name); got != imageID(version) {
					t.Errorf("%s has the image %s, want version %d\n%s", name, record.ShortDigest(got), version, e.logs(job.ID))
				}
			}
			for name, state := range tt.states {
				if got := e.engine.ContainersOf("shop", name)[0].State; got != state {
					t.Errorf("%s is %s, want %s\n%s", name, got, state, e.logs(job.ID))
				}
			}
			if n := e.engine.Starts(imageID(10)); n != tt.starts {
				t.Errorf("the migration was started %d times, want %d", n, tt.starts)
			}
			if n := e.engine.Starts(imageID(1)); n > 0 && !slices.Contains(tt.services, "web") {
				t.Errorf("a former image was started %d times", n)
			}
			var completed []string
			for _, id := range sum.Stacks[0].Update.Completed {
				completed = append(completed, e.nameOf(id))
			}
			if diff := cmp.Diff(tt.completed, completed); diff != "" {
				t.Error(diff)
			}
			if says := job.ResultReason != nil && strings.Contains(job.ResultReason.Detail, "stays so"); says != (tt.completed != nil) {
				t.Errorf("the error of the job is %+v", job.ResultReason)
			}
			if e.locksHeld() != 0 {
				t.Error("locks are left")
			}
		})
	}
}

// updateServices updates services of a project in one job that includes no other ones.
func (e *env) updateServices(project string, names ...string) (Job, change.UpdateSummary) {
	e.Helper()
	if len(names) == 1 {
		return e.updated(project, names[0])
	}
	for _, svc := range []string{"web", "migrate", "cron"} {
		if !slices.Contains(names, svc) {
			e.setService(project, svc, record.NoCandidate())
		}
	}
	var list [][2]string
	for _, name := range names {
		list = append(list, [2]string{project, name})
	}
	return e.updatedAll(list...)
}

// nameOf returns the name of a service.
func (e *env) nameOf(id string) string {
	e.Helper()
	svc, err := e.svc.repo.FindService(e.Context(), id)
	e.must(err)
	return svc.Name
}

// TestPlanOfServicesThatEndByThemselves: a dry run says who ends by itself and who stays stopped, in the order of the update, and that a
// rollback by hand brings no former image of a migration back.
func TestPlanOfServicesThatEndByThemselves(t *testing.T) {
	e := newEnv(t)
	e.addMigration()
	e.engine.SetJob(imageID(10), 0)
	e.engine.EndContainer(e.idsOf("shop", "cron")[0], 143)
	e.setService("shop", "cron", map[string]any{"ended": ""})
	e.discovered()
	var ids []string
	for _, name := range []string{"cron", "migrate", "web"} {
		ids = append(ids, e.serviceOf("shop", name).ID)
	}
	outline, err := e.svc.Outline(t.Context(), ids)
	e.must(err)
	var got []string
	for _, id := range ids {
		p := outline[id]
		got = append(got, fmt.Sprintf("%s runs once %v, stays stopped %v: %s", e.nameOf(id), p.RunsOnce, p.StaysStopped,
			p.Commands[len(p.Commands)-1]))
	}
	want := []string{
		"cron runs once false, stays stopped true: docker-compose recreate shop cron",
		"migrate runs once true, stays stopped false: docker-compose recreate shop migrate",
		"web runs once false, stays stopped false: docker-compose recreate shop web",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if job, _ := e.updated("shop", "migrate"); job.Status != "success" {
		t.Fatalf("%s\n%s", job.Status, e.logs(job.ID))
	}
	back, err := e.svc.RollbackTarget(t.Context(), e.serviceOf("shop", "migrate").ID)
	e.must(err)
	if back.Available || back.UnavailableReason != "runs_once" {
		t.Errorf("the rollback is %+v", back)
	}
}

// TestCompletedRunIsNotRepeated: a core that ended while a migration ran to its end does not run it a second time.
func TestCompletedRunIsNotRepeated(t *testing.T) {
	for _, l := range leftovers() {
		if l.back || !l.named && l.recreated {
			continue
		}
		t.Run(fmt.Sprintf("%s recreated=%v", l.step, l.recreated), func(t *testing.T) {
			e := newEnv(t)
			e.blog()
			e.file("blog/compose.yaml", "services:\n  web:\n    image: "+webRepo+":1\n  app:\n    image: "+appRepo+":1\n    depends_on: {web: {condition: service_completed_successfully}}\n")
			e.discovered()
			e.engine.EndContainer(e.idsOf("blog", "web")[0], 0)
			e.engine.SetJob(imageID(2), 0)
			id := e.crashed(e.serviceOf("blog", "web"), l)
			e.must(e.store.Tx(t.Context(), "mark", func(ctx context.Context) error {
				return e.store.Writer(ctx).Exec("UPDATE containers_changes SET runs_once = ?, from_state = ? WHERE job_id = ?", health.RunsAwaited,
					record.StateStopped, id).Error
			}))
			e.start()
			if job := e.ended(id); job.Status != "success" || e.engine.Starts(imageID(2)) != 1 || e.runs("blog", "web") != imageID(2) {
				t.Errorf("%s, started %d times\n%s", job.Status, e.engine.Starts(imageID(2)), e.logs(id))
			}
		})
	}
}
