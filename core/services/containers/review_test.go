package containers

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/services/containers/candidate"
	"github.com/patchbay-dev/patchbay/core/services/containers/change"
	"github.com/patchbay-dev/patchbay/core/services/containers/host"
	"github.com/patchbay-dev/patchbay/core/services/containers/lifecycle"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// heldBack begins an update of blog / web, and keeps it from changing anything until release is called.
func (e *env) heldBack() (id string, release func()) {
	e.Helper()
	release, err := e.svc.applying.LockKey(context.Background(), e.stackOf("blog").ID)
	e.must(err)
	id, err = e.svc.Update(context.Background(), requestOf(e.serviceOf("blog", "web")))
	e.must(err)
	return id, release
}

// What an update was asked for is what it does: a service that got another image in its files, or was archived, while the
// job waited stays as it is, and no name is moved.
func TestChangedWhileQueued(t *testing.T) {
	tests := map[string]func(*env){
		"another tag": func(e *env) {
			e.file("blog/compose.yaml", composeText(map[string]string{"web": webRepo + ":2"}))
			e.discovered()
		},
		"another tag unseen": func(e *env) {
			e.file("blog/compose.yaml", composeText(map[string]string{"web": webRepo + ":2"}))
		},
		"archived service": func(e *env) { e.must(e.svc.ArchiveService(context.Background(), e.serviceOf("blog", "web").ID)) },
		"archived stack":   func(e *env) { e.must(e.svc.ArchiveStack(context.Background(), e.stackOf("blog").ID)) },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.blog()
			id, release := e.heldBack()
			change(e)
			release()
			if job := e.ended(id); job.Status != "failed" {
				t.Errorf("%+v\n%s", job, e.logs(id))
			}
			if e.runs("blog", "web") != imageID(1) || e.engine.NameOf(webRepo+":1") != imageID(1) || e.engine.NameOf(webRepo+":2") != "" {
				t.Errorf("it runs %s, :1 is %s, :2 is %q", e.runs("blog", "web"), e.engine.NameOf(webRepo+":1"), e.engine.NameOf(webRepo+":2"))
			}
			if n := len(e.engine.CallsOf("compose recreate", "compose stop")); n != 0 {
				t.Errorf("compose ran %d times", n)
			}
		})
	}
}

// Two stacks that use one name of an image take turns: the one that goes back does not have its container made from what
// the other has just named.
func TestSharedName(t *testing.T) {
	e := newEnv(t)
	e.project("other", 1, map[string]string{"web": webRepo + ":1"})
	e.blog()
	e.engine.ScriptImage(imageID(2), fake.Unhealthy())
	entered, release := e.engine.Hold("compose recreate")
	first, err := e.svc.Update(context.Background(), requestOf(e.serviceOf("blog", "web")))
	e.must(err)
	<-entered
	second, err := e.svc.Update(context.Background(), requestOf(e.serviceOf("other", "web")))
	e.must(err)
	for deadline := time.Now().Add(patience); ; {
		if list, err := (&change.Store{Store: e.svc.repo}).OpenChanges(context.Background(), second); err == nil && len(list) == 1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the second update does not begin")
		}
		time.Sleep(time.Millisecond)
	}
	if pulls := e.engine.CallsOf("pull"); len(pulls) != 1 {
		t.Errorf("both work with the name at once: %v", pulls)
	}
	release()
	for project, id := range map[string]string{"blog": first, "other": second} {
		if job := e.ended(id); job.Status != "rolled_back" || e.runs(project, "web") != imageID(1) {
			t.Errorf("%s: %+v\n%s", project, job, e.logs(id))
		}
	}
	if e.engine.NameOf(webRepo+":1") != imageID(1) {
		t.Error("the name stands for the new image")
	}
}

// A job that was cancelled, and whose core ended before it had gone back, goes back after the next start.
func TestCancelledThenEnded(t *testing.T) {
	forEach(t, func(t *testing.T, e *env) {
		e.blog()
		e.engine.ScriptImage(imageID(2), fake.Starting())
		entered, release := e.engine.Hold("inspect")
		id, err := e.svc.Update(context.Background(), requestOf(e.serviceOf("blog", "web")))
		e.must(err)
		<-entered
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		e.must(e.queue.Stop(ctx))
		release()
		if e.runs("blog", "web") != imageID(2) {
			t.Fatal("it was stopped too early")
		}
		e.must(e.store.Tx(ctx, "cancel", func(ctx context.Context) error {
			return e.store.Writer(ctx).Exec("UPDATE jobs SET cancel_requested = 1 WHERE id = ?", id).Error
		}))
		e.start()
		if job := e.ended(id); job.Status != "rolled_back" || e.runs("blog", "web") != imageID(1) {
			t.Errorf("%+v\n%s", job, e.logs(id))
		}
		if open, err := (&change.Store{Store: e.svc.repo}).OpenChanges(ctx, id); err != nil || len(open) != 0 || e.locksHeld() != 0 {
			t.Errorf("%+v, %v, %d locks", open, err, e.locksHeld())
		}
	})
}

// A job that goes on after the core ended waits for an engine that comes up later.
func TestEngineLateAfterCrash(t *testing.T) {
	e := newEnv(t)
	e.blog()
	entered, release := e.engine.Hold("compose recreate")
	id, err := e.svc.Update(context.Background(), requestOf(e.serviceOf("blog", "web")))
	e.must(err)
	<-entered
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	e.must(e.queue.Stop(ctx))
	release()
	e.engine.Fail("info", fault.New(fault.PluginUnavailable, "The engine does not answer."))
	e.start()
	if job := e.ended(id); job.Status != "success" || e.runs("blog", "web") != imageID(2) {
		t.Errorf("%+v\n%s", job, e.logs(id))
	}
}

func (e *env) setService(project, name string, columns map[string]any) {
	e.Helper()
	e.must(e.svc.repo.UpdateService(context.Background(), e.serviceOf(project, name).ID, columns, e.svc.now()))
}

// Where the automatic rollback is switched off, a person can go back by hand.
func TestRollbackAfterFailure(t *testing.T) {
	forEach(t, func(t *testing.T, e *env) {
		e.blog()
		e.engine.ScriptImage(imageID(2), fake.Unhealthy())
		e.setService("blog", "web", map[string]any{"auto_rollback": false})
		if job, _ := e.updated("blog", "web"); job.Status != "failed" || e.runs("blog", "web") != imageID(2) {
			t.Fatalf("%+v", job)
		}
		id, err := e.svc.Rollback(context.Background(), e.serviceOf("blog", "web").ID, false)
		e.must(err)
		if job := e.ended(id); job.Status != "success" || e.runs("blog", "web") != imageID(1) {
			t.Errorf("%+v\n%s", job, e.logs(id))
		}
	})
}

// A service whose files name another tag by now is not rolled back under that tag.
func TestRollbackOfAnotherTag(t *testing.T) {
	e := newEnv(t)
	e.blog()
	if job, _ := e.updated("blog", "web"); job.Status != "success" {
		t.Fatalf("%+v", job)
	}
	e.file("blog/compose.yaml", composeText(map[string]string{"web": webRepo + ":2"}))
	e.discovered()
	_, err := e.svc.Rollback(context.Background(), e.serviceOf("blog", "web").ID, false)
	if err == nil || fault.As(err).Ext["reason"] != "changed_since" {
		t.Errorf("%v", err)
	}
}

// A service that did not run has the new image after its update, and still does not run.
func TestStoppedBefore(t *testing.T) {
	e := newEnv(t)
	e.blog()
	e.engine.ScriptImage(imageID(2), fake.Unhealthy())
	action, err := e.svc.ServiceAction(context.Background(), e.serviceOf("blog", "web").ID, lifecycle.ActionStop)
	e.must(err)
	e.ended(action)
	job, _ := e.updated("blog", "web")
	list := e.engine.ContainersOf("blog", "web")
	if job.Status != "success" || len(list) != 1 || list[0].ImageID != imageID(2) || list[0].State != "created" ||
		e.engine.Starts(imageID(2)) != 0 {
		t.Errorf("%+v, %+v\n%s", job, list, e.logs(job.ID))
	}
}

// What people and jobs change while a discovery runs stands.
func TestChangedWhileDiscovered(t *testing.T) {
	forEach(t, func(t *testing.T, e *env) {
		ctx := context.Background()
		e.blog()
		st, svc := e.stackOf("blog"), e.serviceOf("blog", "web")
		known, err := e.svc.KnownProjects(ctx)
		e.must(err)
		e.must(e.svc.ArchiveProject(ctx, "blog", true))
		e.must(e.svc.ArchiveService(ctx, svc.ID))
		k := known["blog"]
		p := k.Project
		p.Status, p.LastScanAt = record.ProjectStopped, p.LastScanAt+project.QuietScan
		e.must(e.svc.SaveProject(ctx, k, p))
		next := *st
		next.Files = append(next.Files, filepath.Join(e.dir, "more.yaml"))
		change := project.ServiceRow{Old: *svc, Next: *svc}
		change.Next.Image, change.Next.CandidateDigest = webRepo+":2", ""
		e.setService("blog", "web", map[string]any{"auto_rollback": false, "generation": svc.Generation + 1})
		projects := &project.Store{Store: e.svc.repo}
		e.must(e.store.Tx(ctx, "sync", func(ctx context.Context) error {
			return errors.Join(projects.WriteStack(ctx, st, &next), projects.WriteService(ctx, &change))
		}))
		project, err := e.svc.repo.FindProject(ctx, "blog")
		e.must(err)
		gotStack, got := e.stackOf("blog"), e.serviceOf("blog", "web")
		if project.ArchivedReason != record.ArchivedByUser || project.Status != record.ProjectStopped ||
			gotStack.ArchivedReason != record.ArchivedByUser || len(gotStack.Files) != 2 {
			t.Errorf("%+v %+v", project, gotStack)
		}
		if got.ArchivedReason != record.ArchivedByUser || got.AutoRollback || got.Generation != svc.Generation+2 || got.Image != webRepo+":2" ||
			got.CandidateDigest != "" {
			t.Errorf("%+v", got)
		}
		e.must(projects.ArchiveMissing(ctx, st.ID, 5))
		if again := e.stackOf("blog"); again.ArchivedAt != gotStack.ArchivedAt || again.ArchivedReason != record.ArchivedByUser {
			t.Errorf("%+v", again)
		}
	})
}

// An engine that does not answer for a moment is no reason to go back.
func TestEngineGoneWhileWaiting(t *testing.T) {
	e := newEnv(t)
	e.blog()
	gone := fault.FromPlugin("engine.fake", broken())
	e.engine.Fail("inspect", gone, gone)
	if job, _ := e.updated("blog", "web"); job.Status != "success" || e.runs("blog", "web") != imageID(2) {
		t.Errorf("%+v\n%s", job, e.logs(job.ID))
	}
	e.publish(webRepo+":1", 3)
	e.checked()
	e.engine.Fail("inspect", times(1000, gone)...)
	if job, _ := e.updated("blog", "web"); job.Status != "failed" || e.engine.NameOf(webRepo+":1") != imageID(2) || e.locksHeld() != 0 {
		t.Errorf("%+v\n%s", job, e.logs(job.ID))
	}
}

// What compose says goes into the log of a job up to a limit.
func TestChattyCompose(t *testing.T) {
	e := newEnv(t, func(e *env) { e.asEngine = chatty{e.engine} })
	e.blog()
	job, _ := e.updated("blog", "web")
	events := 0
	for after := int64(0); ; {
		list, err := e.queue.Events(context.Background(), job.ID, after, 0)
		e.must(err)
		if len(list) == 0 {
			break
		}
		events, after = events+len(list), list[len(list)-1].Seq
	}
	if job.Status != "success" || events > host.MaxComposeLines+100 || events < host.MaxComposeLines {
		t.Errorf("%s with %d events", job.Status, events)
	}
}

type chatty struct{ *fake.Engine }

func (c chatty) Compose(ctx context.Context, req engine.ComposeRequest, send func(engine.Line) error) (*engine.ComposeResult, error) {
	for range 2 * host.MaxComposeLines {
		if err := send(engine.Line{Text: "and so on"}); err != nil {
			return nil, err
		}
	}
	return c.Engine.Compose(ctx, req, send)
}

// A search for a version that failed is not repeated each time that somebody looks at the service, until some time has passed or a
// person asks for it.
func TestFailedSearchIsRemembered(t *testing.T) {
	e := newEnv(t)
	e.project("blog", 1, map[string]string{"web": webRepo + ":latest"})
	e.publish(webRepo+":latest", 1)
	e.publish(webRepo+":1.2.3", 1)
	e.discovered()
	e.inferring()
	svc := e.serviceOf("blog", "web")
	asked := func() int {
		e.Helper()
		_, _, err := e.svc.DigestTags(context.Background(), svc.ID, "")
		e.must(err)
		e.svc.AwaitVersions(context.Background(), []string{svc.RuntimeDigest}, patience)
		return len(e.registry.Calls())
	}
	e.registry.Fail(imageHost, errs.New(errs.Upstream, codes.PermissionDenied, errs.ReasonStatus, "denied"))
	first := asked()
	if again := asked(); first == 0 || again != first {
		t.Errorf("%d requests, then %d", first, again)
	}
	e.advance(candidate.FailedFor)
	if later := asked(); later == first {
		t.Error("it is never tried again")
	}
	if _, snap, err := e.svc.DigestTags(context.Background(), svc.ID, ""); err != nil || snap == nil || snap.ResolvedTag != "1.2.3" {
		t.Errorf("%+v %v", snap, err)
	}
}
