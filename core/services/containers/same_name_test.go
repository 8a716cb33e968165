package containers

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/host"
	"github.com/patchbay-dev/patchbay/core/services/containers/lifecycle"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// TestProjectsOfOneName: two projects of one name in two directories are both listed, whether both or one of them was there first,
// and the one with the stack has its own containers alone.
func TestProjectsOfOneName(t *testing.T) {
	forEach(t, func(t *testing.T, e *env) {
		first := e.file("a/compose.yaml", composeText(map[string]string{"web": webRepo + ":1", "db": webRepo + ":1"}))
		second := e.file("b/compose.yaml", composeText(map[string]string{"api": appRepo + ":6"}))
		dirA, dirB := filepath.Dir(first), filepath.Dir(second)
		e.labelled("shop-web-1", webRepo+":1", forged("shop", "web", dirA, first, nil))
		api := e.labelled("shop-api-1", appRepo+":6", forged("shop", "api", dirB, second, nil))
		other := project.SameNameKey("shop", dirB)
		for range 2 {
			res := e.discovered()
			p, q, st := e.projectOf("shop"), e.projectOf(other), e.stackOf("shop")
			if p.Status != record.ProjectActive || p.WorkingDir != dirA || st.WorkingDir != dirA || !slices.Equal(st.Files, []string{first}) {
				t.Errorf("the first is %+v with %+v", p, st)
			}
			if q.Status != record.ProjectInvalid || q.StackID != "" || q.LastError != host.ReasonSameName || q.WorkingDir != dirB ||
				!slices.Equal(q.Files, []string{second}) {
				t.Errorf("the second is %+v", q)
			}
			if res.Summary.ProjectsSeen != 2 {
				t.Errorf("%d projects were seen", res.Summary.ProjectsSeen)
			}
		}
		if services, err := e.svc.repo.ListStackServices(t.Context(), e.stackOf("shop").ID); err != nil || len(services) != 2 {
			t.Errorf("the stack has the services %+v, %v", services, err)
		}
		// The directory of the stack stays the project's, also where another one comes first by name.
		e.labelled("shop-early-1", appRepo+":6", forged("shop", "early", filepath.Join(dirA, "..", "0"), second, nil))
		e.discovered()
		if st := e.stackOf("shop"); st.WorkingDir != dirA {
			t.Errorf("the stack moved to %s", st.WorkingDir)
		}
		e.engine.RemoveContainer(api)
		e.discovered()
		if _, err := e.svc.repo.FindProject(t.Context(), other); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("the second is listed still: %v", err)
		}
	})
}

// TestSameNameIsRefused: every action that compose would do to containers of the other directory is refused before it does anything.
func TestSameNameIsRefused(t *testing.T) {
	e := newEnv(t)
	e.project("shop", 1, map[string]string{"web": webRepo + ":1", "db": appRepo + ":6"})
	e.discovered()
	file := e.file("b/compose.yaml", composeText(map[string]string{"web": webRepo + ":1"}))
	foreign := e.labelled("other-web", webRepo+":1", forged("shop", "web", filepath.Dir(file), file, nil))
	e.discovered()
	web, db, st := e.serviceOf("shop", "web"), e.serviceOf("shop", "db"), e.stackOf("shop")
	ctx := t.Context()
	for name, submit := range map[string]func() (string, error){
		"service stop":    func() (string, error) { return e.svc.ServiceAction(ctx, web.ID, lifecycle.ActionStop) },
		"service start":   func() (string, error) { return e.svc.ServiceAction(ctx, web.ID, lifecycle.ActionStart) },
		"service restart": func() (string, error) { return e.svc.ServiceAction(ctx, web.ID, lifecycle.ActionRestart) },
		"stack stop":      func() (string, error) { return e.svc.StackAction(ctx, st.ID, lifecycle.ActionStop) },
		"stack restart":   func() (string, error) { return e.svc.StackAction(ctx, st.ID, lifecycle.ActionRestart) },
	} {
		id, err := submit()
		if err != nil {
			if fault.As(err).Ext["reason"] != host.ReasonSameName {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if job := e.ended(id); job.Status != string(queue.Failed) {
			t.Errorf("%s ended as %s", name, job.Status)
		}
	}
	e.publish(webRepo+":1", 2)
	e.checked()
	if job, _ := e.updateServices("shop", "web"); job.Status != string(queue.Failed) {
		t.Errorf("the update ended as %s", job.Status)
	}
	for _, c := range e.engine.CallsOf("compose") {
		t.Errorf("compose was run: %s", c)
	}
	if list, err := e.engine.Containers(ctx, engine.Filter{IDs: []string{foreign}}); err != nil || len(list) != 1 ||
		list[0].State != "running" {
		t.Errorf("the other container is %+v, %v", list, err)
	}
	// A service whose name the other has not is not concerned.
	id, err := e.svc.ServiceAction(ctx, db.ID, lifecycle.ActionStop)
	if err != nil {
		t.Fatal(err)
	}
	if job := e.ended(id); job.Status != string(queue.Success) {
		t.Errorf("the other service: %+v", job)
	}
}
