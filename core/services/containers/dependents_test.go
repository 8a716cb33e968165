package containers

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/services/containers/change"
	"github.com/patchbay-dev/patchbay/core/services/containers/lifecycle"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// sharing is a project of which two services share namespaces with web, one through the other, and a third shares nothing.
func (e *env) sharing() {
	e.Helper()
	e.project("blog", 1, map[string]string{"web": webRepo + ":1", "app": appRepo + ":1", "tail": dbRepo + ":1",
		"idle": imageHost + "/acme/idle:1"})
	e.file("blog/compose.yaml", "services:\n  app:\n    image: "+appRepo+":1\n    pid: service:tail\n  idle:\n    image: "+imageHost+"/acme/idle:1\n  tail:\n    image: "+dbRepo+
		":1\n    network_mode: container:blog-web-1\n  web:\n    image: "+webRepo+":1\n  absent:\n    image: "+webRepo+":9\n    volumes_from: [web]\n")
	e.publish(webRepo+":1", 2)
	e.discovered()
	if job, _ := e.checked(); job.Status != "success" {
		e.Fatalf("the check is %+v", job)
	}
}

// recreated are the services that compose has recreated, in order; forced ones with an exclamation mark.
func (e *env) recreated() (out []string) {
	for _, c := range e.engine.Calls() {
		if c.Compose == nil || c.Compose.Action != engine.ActionRecreate || c.Compose.DryRun {
			continue
		}
		name := strings.Join(c.Compose.Services, "+")
		if c.Compose.Force {
			name += "!"
		}
		out = append(out, name)
	}
	return out
}

func (e *env) idsOf(project, service string) (out []string) {
	for _, c := range e.engine.ContainersOf(project, service) {
		out = append(out, c.ID)
	}
	return out
}

// TestDependents: services in namespaces of a service's containers are recreated with it, in order, and back with it.
func TestDependents(t *testing.T) {
	forEach(t, func(t *testing.T, e *env) {
		e.sharing()
		before := map[string][]string{}
		for _, name := range []string{"web", "app", "tail", "idle"} {
			before[name] = e.idsOf("blog", name)
		}
		_, plan := e.planned("web")
		var names []string
		for _, d := range plan.Services[0].Dependents {
			names = append(names, d.Name)
		}
		if diff := cmp.Diff([]string{"tail", "app"}, names); diff != "" || len(plan.Services[0].Commands) != 5 || len(e.recreated()) != 0 {
			t.Errorf("the plan is %+v, did %v: %s", plan.Services[0], e.recreated(), diff)
		}
		job, _ := e.updated("blog", "web")
		if diff := cmp.Diff([]string{"web", "tail!", "app!"}, e.recreated()); job.Status != "success" || diff != "" {
			t.Fatalf("%s: %s\n%s", job.Status, diff, e.logs(job.ID))
		}
		for name, ids := range before {
			now := e.idsOf("blog", name)
			if len(now) != 1 || slices.Equal(now, ids) != (name == "idle") {
				t.Errorf("%s had the containers %v and has %v", name, ids, now)
			}
		}
		if e.runs("blog", "tail") != imageID(1) || e.serviceOf("blog", "tail").RuntimeImage != imageID(1) {
			t.Errorf("tail runs %s", record.ShortDigest(e.runs("blog", "tail")))
		}
	})
}

// planned is a dry run.
func (e *env) planned(name string) (Job, change.Plan) {
	e.Helper()
	req := requestOf(e.serviceOf("blog", name))
	req.Mode = change.ModeDryRun
	id, err := e.svc.Update(e.Context(), req)
	e.must(err)
	job := e.ended(id)
	var plan change.Plan
	e.must(json.Unmarshal(job.Summary, &plan))
	return job, plan
}

// TestDependentsRollBack: a provider that does not become healthy comes back with its dependents, and so does one of which a
// dependent does not; dependents that did not run do not run after it.
func TestDependentsRollBack(t *testing.T) {
	for name, spoil := range map[string]func(e *env){
		"provider": func(e *env) { e.engine.ScriptImage(imageID(2), fake.Exited(1)) },
		"dependent": func(e *env) {
			e.engine.FailCompose(engine.ActionRecreate, engine.ComposeResult{}, engine.ComposeResult{ExitCode: 1, Tail: "cannot join"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.sharing()
			for _, c := range e.engine.ContainersOf("blog", "app") {
				e.engine.RemoveContainer(c.ID)
				c.State = "exited"
				e.engine.AddContainer(c)
			}
			before := e.idsOf("blog", "tail")
			spoil(e)
			job, _ := e.updated("blog", "web")
			did := e.recreated()
			if job.Status != "rolled_back" || e.runs("blog", "web") != imageID(1) || slices.Equal(before, e.idsOf("blog", "tail")) {
				t.Fatalf("%s, did %v\n%s", job.Status, did, e.logs(job.ID))
			}
			if diff := cmp.Diff([]string{"web", "tail!", "app!"}, did[len(did)-3:]); diff != "" {
				t.Errorf("the way back: %v", did)
			}
			if tail, app := e.engine.ContainersOf("blog", "tail"), e.engine.ContainersOf("blog", "app"); tail[0].State != "running" ||
				app[0].State == "running" {
				t.Errorf("tail is %s, app %s\n%s", tail[0].State, app[0].State, e.logs(job.ID))
			}
		})
	}
}

// TestDependentsAreLocked: nothing else works on a dependent while its provider is updated.
func TestDependentsAreLocked(t *testing.T) {
	e := newEnv(t)
	e.sharing()
	entered, release := e.engine.Hold("pull")
	id, err := e.svc.Update(t.Context(), requestOf(e.serviceOf("blog", "web")))
	e.must(err)
	<-entered
	_, err = e.svc.ServiceAction(t.Context(), e.serviceOf("blog", "app").ID, lifecycle.ActionRestart)
	if fault.CodeOf(err) != fault.Conflict {
		t.Errorf("a restart of a dependent meanwhile: %v", err)
	}
	other, err := e.svc.ServiceAction(t.Context(), e.serviceOf("blog", "idle").ID, lifecycle.ActionRestart)
	e.must(err)
	release()
	e.ended(other)
	if job := e.ended(id); job.Status != "success" || e.locksHeld() != 0 {
		t.Errorf("%+v, %d locks", job, e.locksHeld())
	}
}

// TestUnreadableFiles: whoever asks what is recreated with a service, and what that changes, is told that the files cannot be
// read. No job is made.
func TestUnreadableFiles(t *testing.T) {
	forEach(t, func(t *testing.T, e *env) {
		e.sharing()
		web := e.serviceOf("blog", "web")
		e.file("blog/compose.yaml", "services: [")
		if got, err := e.svc.Dependents(t.Context(), []string{web.ID}); fault.CodeOf(err) != fault.Conflict {
			t.Errorf("dependents %v, %v", got, err)
		}
		if got, err := e.svc.Drift(t.Context(), []string{web.ID}); fault.CodeOf(err) != fault.Conflict {
			t.Errorf("drift %v, %v", got, err)
		}
		id, err := e.svc.Update(t.Context(), requestOf(web))
		if fault.CodeOf(err) != fault.Conflict || !strings.Contains(err.Error(), "cannot be read") {
			t.Errorf("update %q, %v", id, err)
		}
	})
}

// TestDriftOfAnAbsentEngine: a drift that could not be found out is not told as none.
func TestDriftOfAnAbsentEngine(t *testing.T) {
	e := newEnv(t)
	e.sharing()
	web := e.serviceOf("blog", "web")
	e.engine.Fail("containers", fault.New(fault.PluginUnavailable, "The engine is away."))
	if got, err := e.svc.Drift(t.Context(), []string{web.ID}); fault.CodeOf(err) != fault.PluginUnavailable {
		t.Errorf("drift %v, %v", got, err)
	}
}
