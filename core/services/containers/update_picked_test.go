package containers

import (
	"context"
	"slices"
	"testing"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/containers/change"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

// picked returns a request for the candidates of services, each a project and a name.
func (e *env) picked(names ...[2]string) (req change.UpdateRequest) {
	e.Helper()
	for _, n := range names {
		svc := e.serviceOf(n[0], n[1])
		req.Targets = append(req.Targets, project.Target{ServiceID: svc.ID, TargetTag: svc.Tag, TargetDigest: svc.CandidateDigest,
			PullTags: []string{}})
	}
	return req
}

// scopesOf returns the scopes of jobs once they have ended well.
func (e *env) scopesOf(ids []string) (out []string) {
	e.Helper()
	for _, id := range ids {
		job := e.ended(id)
		if job.Status != "success" {
			e.Errorf("a job of scope %s ends %s: %s", job.Scope, job.Status, e.logs(id))
		}
		out = append(out, job.Scope)
	}
	return out
}

// TestUpdatePicked: an update of some services is one job for each stack that was picked whole and one for each other service;
// what was not picked stays as it is, and what other work keeps back is named.
func TestUpdatePicked(t *testing.T) {
	forEach(t, func(t *testing.T, e *env) {
		ctx := context.Background()
		e.project("blog", 1, map[string]string{"web": webRepo + ":1", "db": dbRepo + ":1"})
		e.project("shop", 1, map[string]string{"web": webRepo + ":1", "db": dbRepo + ":1"})
		e.publish(webRepo+":1", 2)
		e.publish(dbRepo+":1", 3)
		e.discovered()
		e.checked()

		done, err := e.svc.UpdatePicked(ctx, e.picked([2]string{"blog", "db"}, [2]string{"blog", "web"}, [2]string{"shop", "web"}))
		e.must(err)
		if got := e.scopesOf(done.Jobs); !slices.Equal(got, []string{work.ScopeStack, work.ScopeService}) || len(done.Refused) != 0 {
			t.Errorf("a stack and a service are the jobs %v, refused %+v", got, done.Refused)
		}
		for _, c := range []struct{ project, name, want string }{{"blog", "web", imageID(2)}, {"blog", "db", imageID(3)},
			{"shop", "web", imageID(2)}, {"shop", "db", imageID(1)}} {
			if got := e.runs(c.project, c.name); got != c.want {
				t.Errorf("%s / %s runs %s, want %s", c.project, c.name, got, c.want)
			}
		}

		e.publish(webRepo+":1", 4)
		e.checked()
		entered, release := e.engine.Hold("compose recreate")
		busy, err := e.svc.Update(ctx, requestOf(e.serviceOf("shop", "web")))
		e.must(err)
		<-entered
		done, err = e.svc.UpdatePicked(ctx, e.picked([2]string{"shop", "web"}, [2]string{"blog", "web"}))
		e.must(err)
		release()
		if len(done.Jobs) != 1 || len(done.Refused) != 1 || !slices.Equal(done.Refused[0].Services, []string{"shop / web"}) ||
			fault.CodeOf(done.Refused[0].Err) != fault.Conflict {
			t.Errorf("with other work on one of them: %+v", done)
		}
		e.scopesOf(append(done.Jobs, busy))

		done, err = e.svc.UpdatePicked(ctx, e.picked([2]string{"shop", "db"}))
		e.must(err)
		if got := e.scopesOf(done.Jobs); !slices.Equal(got, []string{work.ScopeAll}) {
			t.Errorf("all that can be updated are the jobs %v", got)
		}
		gone := change.UpdateRequest{Targets: []project.Target{{ServiceID: "svc_none", TargetTag: "1", TargetDigest: digest(2),
			PullTags: []string{}}}}
		if _, err := e.svc.UpdatePicked(ctx, gone); fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("a service that is not there: %v", err)
		}
		if _, err := e.svc.UpdatePicked(ctx, change.UpdateRequest{}); fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("no targets: %v", err)
		}
	})
}
