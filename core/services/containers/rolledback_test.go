package containers

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/services/containers/candidate"
	"github.com/patchbay-dev/patchbay/core/services/containers/change"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

// candidateOf returns the new version of a service as the API tells it.
func (e *env) candidateOf(project, name string) *project.Candidate {
	e.Helper()
	d, _, err := e.svc.Service(context.Background(), e.serviceOf(project, name).ID)
	e.must(err)
	return d.Candidate
}

// TestRolledBackIsLeftOut: an update of everything leaves out a version that was rolled back and says so; it is applied to
// its service alone, and the next version counts again.
func TestRolledBackIsLeftOut(t *testing.T) {
	forEach(t, func(t *testing.T, e *env) {
		e.project("blog", 1, map[string]string{"web": webRepo + ":1", "db": dbRepo + ":1"})
		e.publish(webRepo+":1", 2)
		e.publish(dbRepo+":1", 3)
		e.engine.ScriptImage(imageID(2), fake.Exited(3))
		e.discovered()
		e.checked()
		bad, _ := e.updated("blog", "web")
		web := e.serviceOf("blog", "web")
		c := e.candidateOf("blog", "web")
		if bad.Status != "rolled_back" || c == nil || c.RolledBack == nil || c.RolledBack.JobID != bad.ID || c.RolledBack.Manual ||
			c.RolledBack.Error == "" || c.RolledBack.At.IsZero() {
			t.Fatalf("%s leaves %+v", bad.Status, c)
		}
		both := change.UpdateRequest{Scope: work.ScopeAll}
		for _, name := range []string{"web", "db"} {
			svc := e.serviceOf("blog", name)
			both.Targets = append(both.Targets, project.Target{ServiceID: svc.ID, TargetTag: "1", TargetDigest: svc.CandidateDigest,
				PullTags: []string{}})
		}
		var refused *fault.Error
		if _, err := e.svc.Update(t.Context(), both); !errors.As(err, &refused) || refused.Code != fault.InvalidArgument ||
			!slices.Equal(refused.Ext["extraServiceIds"].([]string), []string{web.ID}) {
			t.Errorf("with the version that was rolled back: %v", err)
		}
		job, sum := e.updatedAll([2]string{"blog", "db"})
		want := []change.LeftOut{{ServiceID: web.ID, StackID: web.StackID, Name: "blog / web", Digest: digest(2), Reason: "rolled_back",
			JobID: bad.ID}}
		if job.Status != "success" || !slices.Equal(sum.LeftOut, want) || !strings.Contains(e.logs(job.ID), "blog / web: left out") {
			t.Errorf("%s leaves out %+v\n%s", job.Status, sum.LeftOut, e.logs(job.ID))
		}
		e.engine.ScriptImage(imageID(2), fake.Healthy())
		alone, sum := e.updated("blog", "web")
		if alone.Status != "success" || len(sum.LeftOut) != 0 || e.runs("blog", "web") != imageID(2) {
			t.Errorf("by itself it ends %s: %+v", alone.Status, sum)
		}

		// A rollback by hand marks the version that it takes away, and a newer version is not marked.
		back, err := e.svc.Rollback(t.Context(), web.ID, false)
		e.must(err)
		e.ended(back)
		e.checked()
		if c := e.candidateOf("blog", "web"); c == nil || c.RolledBack == nil || !c.RolledBack.Manual || c.RolledBack.JobID != back {
			t.Errorf("after a rollback by hand: %+v", c)
		}
		e.publish(webRepo+":1", 4)
		e.checked()
		if c := e.candidateOf("blog", "web"); c == nil || c.RolledBack != nil {
			t.Errorf("the next version is %+v", c)
		}
		if job, sum := e.updatedAll([2]string{"blog", "web"}); job.Status != "success" || len(sum.LeftOut) != 0 {
			t.Errorf("the next version: %s %+v", job.Status, sum)
		}
	})
}

// TestCanceledUpdateIsNoVerdict: an update that somebody canceled says nothing about its version.
func TestCanceledUpdateIsNoVerdict(t *testing.T) {
	e := newEnv(t)
	e.blog()
	entered, release := e.engine.Hold("compose recreate")
	id, err := e.svc.Update(t.Context(), requestOf(e.serviceOf("blog", "web")))
	e.must(err)
	<-entered
	_, err = e.svc.CancelJob(t.Context(), id)
	e.must(err)
	release()
	job := e.ended(id)
	if c := e.candidateOf("blog", "web"); job.Status == "success" || c == nil || c.RolledBack != nil {
		t.Errorf("%s leaves %+v", job.Status, c)
	}
}

// TestIgnoreDigest: a rule of a digest keeps that version back, and the next one counts again under the same tag.
func TestIgnoreDigest(t *testing.T) {
	e := newEnv(t)
	e.blog()
	web := e.serviceOf("blog", "web")
	_, err := e.svc.AddIgnoreRule(t.Context(),
		candidate.IgnoreRule{Enabled: true, Scope: candidate.IgnoreScope{Type: work.ScopeService, ServiceID: web.ID},
			Match: candidate.RuleMatch{Kind: "digest", Value: digest(2)}})
	e.must(err)
	d, _, err := e.svc.Service(t.Context(), web.ID)
	e.must(err)
	if d.Status != project.StatusBlocked || d.Ignore == nil || d.Ignore.Reason != "digest "+digest(2) {
		t.Errorf("with the rule: %s, %+v", d.Status, d.Ignore)
	}
	e.publish(webRepo+":1", 3)
	e.checked()
	if d, _, err = e.svc.Service(t.Context(), web.ID); err != nil || d.Status != project.StatusUpdatable {
		t.Errorf("the next version: %s, %v", d.Status, err)
	}
}
