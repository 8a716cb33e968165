package containers

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/services/containers/change"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// asVersion gives version n of an image, of a repository with the tag 1, a version in its labels.
func (e *env) asVersion(repo string, n int, version string) {
	img := e.image(repo, n)
	img.RepoTags, img.Labels = []string{repo + ":1"}, map[string]string{project.LabelVersion: version}
	if n == 1 {
		e.engine.AddImage(img)
		return
	}
	img.RepoTags = nil
	e.engine.Publish(repo+":1", img)
}

// updatedAll updates services of a project to their candidates in one job, in this order.
func (e *env) updatedAll(services ...[2]string) (Job, change.UpdateSummary) {
	e.Helper()
	req := change.UpdateRequest{Scope: work.ScopeAll}
	for _, name := range services {
		svc := e.serviceOf(name[0], name[1])
		req.Targets = append(req.Targets, project.Target{ServiceID: svc.ID, TargetTag: "1", TargetDigest: svc.CandidateDigest,
			PullTags: []string{}})
	}
	id, err := e.svc.Update(context.Background(), req)
	e.must(err)
	return e.summaryOf(id)
}

// TestTheFailedServiceIsNamed: when one service of a stack was updated and another one rolled back, job and notification are
// about the latter, and name the former beside it, both with their versions.
func TestTheFailedServiceIsNamed(t *testing.T) {
	e := newEnv(t, withChannels, func(e *env) { e.set.Locale = "en" })
	for _, repo := range []string{webRepo, dbRepo} {
		e.asVersion(repo, 1, "1.1.0")
	}
	e.project("blog", 1, map[string]string{"web": webRepo + ":1", "db": dbRepo + ":1"})
	e.publish(webRepo+":1", 2)
	e.publish(dbRepo+":1", 3)
	e.asVersion(webRepo, 2, "1.2.0")
	e.engine.ScriptImage(imageID(3), fake.Exited(3))
	e.discovered()
	e.switched()
	e.checked()
	job, sum := e.updatedAll([2]string{"blog", "web"}, [2]string{"blog", "db"})
	db := e.serviceOf("blog", "db")
	if part := sum.Deciding(); job.Status != "rolled_back" || part == nil || part.FailedService != db.ID ||
		!strings.Contains(part.LastError, "blog-db-1") {
		t.Fatalf("%+v %+v\n%s", job, sum, e.logs(job.ID))
	}
	if why := job.ResultReason; !strings.HasPrefix(why.Detail, "blog / db was rolled back: ") ||
		why.Summary != "The new container did not become healthy. The former version runs again." {
		t.Errorf("the reason is %+v", why)
	}
	m := e.told(1)[0]
	var payload struct{ Human struct{ Detail string } }
	e.must(json.Unmarshal(m.Payload, &payload))
	if m.Summary != "blog / db (1.1.0 -> 1): the update failed and was rolled back." {
		t.Errorf("the summary is %q", m.Summary)
	}
	failed, changed, _ := strings.Cut(payload.Human.Detail, "Updated services:")
	if !strings.Contains(failed, "blog / db") || strings.Contains(failed, "blog / web") ||
		!strings.Contains(changed, "blog / web (1.1.0 -> 1.2.0)") || strings.Contains(changed, "- blog / db") {
		t.Errorf("the detail is\n%s", payload.Human.Detail)
	}
}

// TestTheLastingFailureDecides: of a failure in one stack and a rollback in another, the job tells the failure, with its step.
func TestTheLastingFailureDecides(t *testing.T) {
	e := newEnv(t)
	for project, ref := range map[string]string{"a": appRepo + ":1", "b": dbRepo + ":1"} {
		e.project(project, 1, map[string]string{"svc": ref})
	}
	e.publish(appRepo+":1", 10)
	e.publish(dbRepo+":1", 11)
	e.engine.ScriptImage(imageID(11), fake.Exited(1))
	e.discovered()
	e.checked()
	e.engine.Fail("pull", fault.FromPlugin("engine.fake", errs.New(errs.Upstream, codes.NotFound, "NOT_FOUND", "pull: manifest unknown")))
	job, sum := e.updatedAll([2]string{"a", "svc"}, [2]string{"b", "svc"})
	if why := job.ResultReason; job.Status != "failed" || why.Summary != "The new image could not be pulled." ||
		why.Detail != "a / svc: pull: manifest unknown" {
		t.Errorf("%s, %+v, %+v", job.Status, why, sum)
	}
}

// TestFinalDigests: what runs at the end is what the engine says, whatever was planned.
func TestFinalDigests(t *testing.T) {
	denied := fault.FromPlugin("engine.fake", errs.New(errs.Upstream, codes.NotFound, "NOT_FOUND", "manifest unknown"))
	for name, tt := range map[string]struct {
		prepare func(e *env)
		want    string
	}{
		"updated":                  {func(*env) {}, digest(2)},
		"not pulled":               {func(e *env) { e.engine.Fail("pull", denied) }, digest(1)},
		"rolled back":              {func(e *env) { e.engine.ScriptImage(imageID(2), fake.Exited(1)) }, digest(1)},
		"left as it failed":        {func(e *env) { e.engine.ScriptImage(imageID(2), fake.Exited(1)); e.noRollback() }, digest(2)},
		"nothing runs at the end":  {func(e *env) { e.atTheEnd(func(string) { e.engine.RemoveContainer(e.idsOf("blog", "web")[0]) }) }, ""},
		"the engine does not tell": {func(e *env) { e.atTheEnd(func(string) { e.engine.Fail("containers", denied, denied) }) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t, withTap)
			e.blog()
			tt.prepare(e)
			job, sum := e.updated("blog", "web")
			web := e.serviceOf("blog", "web").ID
			if got, ok := sum.Stacks[0].Update.FinalDigests[web]; got != tt.want || ok != (tt.want != "") {
				t.Errorf("%s ends with %q\n%s", job.Status, record.ShortDigest(got), e.logs(job.ID))
			}
		})
	}
}

// noRollback leaves a container that fails as it is.
func (e *env) noRollback() {
	e.Helper()
	e.must(e.svc.ChangeService(context.Background(), e.serviceOf("blog", "web").ID, project.ServiceChange{AutoRollback: new(bool)}))
}

// tap is an engine of which a test hears when containers are listed.
type tap struct {
	client.Engine
	before func()
}

// Containers implements client.Engine.
func (t *tap) Containers(ctx context.Context, f engine.Filter) ([]engine.Container, error) {
	if t.before != nil {
		t.before()
	}
	return t.Engine.Containers(ctx, f)
}

func withTap(e *env) { e.asEngine = &tap{Engine: e.engine} }

// atTheEnd does something once, before the first list of containers after the change of blog / web has ended.
func (e *env) atTheEnd(do func(jobID string)) {
	web, once := e.serviceOf("blog", "web"), sync.Once{}
	e.asEngine.(*tap).before = func() {
		list, err := (&change.Store{Store: e.svc.repo}).ChangesOf(context.Background(), web.ID, 1)
		if err == nil && len(list) == 1 && list[0].Status != record.ChangeRunning {
			once.Do(func() { do(list[0].JobID) })
		}
	}
}

// TestCanceledUpdateSaysSo: job, history and notification tell that somebody has canceled it, also where something had to be
// undone, and nothing is said to have failed. Once all is done a cancellation comes too late.
func TestCanceledUpdateSaysSo(t *testing.T) {
	for name, tt := range map[string]struct{ hold, status, headline, message string }{
		"while pulling": {"pull", "canceled", "The job was canceled.", "blog / web: the update was canceled."},
		"while recreating": {"compose recreate", "rolled_back", "The job was canceled. The former version runs again.",
			"blog / web: the update was canceled; the former version runs again."},
		"too late": {"", "success", "", "blog / web: updated."},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t, withTap, withChannels, func(e *env) { e.set.Locale = "en" })
			e.blog()
			e.switched()
			cancel := func(id string) {
				_, err := e.svc.CancelJob(context.Background(), id)
				e.must(err)
			}
			var entered <-chan struct{}
			if tt.hold == "" {
				e.atTheEnd(cancel)
			} else {
				entered, _ = e.engine.Hold(tt.hold)
			}
			id, err := e.svc.Update(t.Context(), requestOf(e.serviceOf("blog", "web")))
			e.must(err)
			if entered != nil {
				<-entered
				cancel(id)
			}
			job, sum := e.summaryOf(id)
			if job.Status != tt.status {
				t.Fatalf("%+v\n%s", job, e.logs(id))
			}
			if m := e.told(1)[0]; m.Summary != tt.message || strings.Contains(string(m.Payload), "fail") {
				t.Errorf("the notification is %q\n%s", m.Summary, m.Payload)
			}
			if tt.hold == "" {
				return
			}
			part := sum.Stacks[0].Update
			if !part.Canceled || part.LastError != "The job was canceled." || job.ResultReason.Summary != tt.headline ||
				strings.Contains(e.logs(id), "failed") {
				t.Errorf("%+v, %+v\n%s", part, job.ResultReason, e.logs(id))
			}
			hist, err := e.svc.History(t.Context(), part.FailedService)
			e.must(err)
			if len(hist) != 1 || hist[0].Error != "The job was canceled." || e.runs("blog", "web") != imageID(1) {
				t.Errorf("the history is %+v", hist)
			}
		})
	}
}

// TestCanceledWhileMoreIsPulled: the service is updated, and the job that was to pull further tags is canceled.
func TestCanceledWhileMoreIsPulled(t *testing.T) {
	e := newEnv(t, withChannels, func(e *env) { e.set.Locale = "en" })
	e.blog()
	e.publish(webRepo+":1.4", 2)
	e.switched()
	recreating, release := e.engine.Hold("compose recreate")
	req := requestOf(e.serviceOf("blog", "web"))
	req.PullTags = &[]string{"1.4"}
	id, err := e.svc.Update(t.Context(), req)
	e.must(err)
	<-recreating
	pulling, _ := e.engine.Hold("pull")
	release()
	<-pulling
	_, err = e.svc.CancelJob(t.Context(), id)
	e.must(err)
	job, sum := e.summaryOf(id)
	if job.Status != "canceled" || len(sum.Stacks) != 1 || len(sum.Stacks[0].Update.ChangedServices) != 1 || sum.Deciding() != nil ||
		e.runs("blog", "web") != imageID(2) {
		t.Fatalf("%+v, %+v\n%s", job, sum, e.logs(id))
	}
	var payload struct{ Human struct{ Detail string } }
	m := e.told(1)[0]
	e.must(json.Unmarshal(m.Payload, &payload))
	if m.Summary != "The update job was canceled." || !strings.Contains(payload.Human.Detail, "Updated services:\n- blog / web") {
		t.Errorf("%q\n%s", m.Summary, payload.Human.Detail)
	}
}

// TestCanceledTooLateToBeTheCause: a job that was on its way back when somebody canceled it tells why it was.
func TestCanceledTooLateToBeTheCause(t *testing.T) {
	e := newEnv(t, withChannels, func(e *env) { e.set.Locale = "en" })
	e.blog()
	e.switched()
	e.engine.ScriptImage(imageID(2), fake.Exited(4))
	entered, release := e.engine.Hold("compose stop")
	id, err := e.svc.Update(t.Context(), requestOf(e.serviceOf("blog", "web")))
	e.must(err)
	<-entered
	_, err = e.svc.CancelJob(t.Context(), id)
	e.must(err)
	release()
	job := e.ended(id)
	if why := job.ResultReason; job.Status != "rolled_back" || why.Raw != "" ||
		why.Summary != "The new container did not become healthy. The former version runs again." ||
		!strings.Contains(why.Detail, "exit code 4") {
		t.Errorf("%s %+v", job.Status, why)
	}
	if m := e.told(1)[0]; m.Summary != "blog / web: the update failed and was rolled back." {
		t.Errorf("%q", m.Summary)
	}
}

// TestExitCodesAreOfTheRunThatEnded: a message has the exit code of the command or container that ended, and none for one that
// runs again.
func TestExitCodesAreOfTheRunThatEnded(t *testing.T) {
	again := func(d *engine.Detail) { d.State, d.Health, d.RestartCount, d.ExitCode = "running", "", 1, 0 }
	for name, tt := range map[string]struct {
		prepare      func(e *env)
		want, denied string
	}{
		"a command": {func(e *env) {
			e.engine.FailCompose(engine.ActionRecreate, engine.ComposeResult{ExitCode: 17, Tail: "no such network"},
				engine.ComposeResult{ExitCode: 18})
		}, "exit code 17: no such network", ""},
		"a container that ended": {func(e *env) { e.engine.ScriptImage(imageID(2), fake.Exited(5)) }, "ended with exit code 5.", ""},
		"a container between runs": {func(e *env) { e.engine.ScriptImage(imageID(2), fake.Restarted(1, 3)) },
			"keeps restarting, exit code 3.", ""},
		"a container that runs again": {func(e *env) { e.engine.ScriptImage(imageID(2), fake.Running(), again) }, "keeps restarting.",
			"exit code"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.blog()
			tt.prepare(e)
			job, sum := e.updated("blog", "web")
			if got := sum.Stacks[0].Update.LastError; !strings.Contains(got, tt.want) || tt.denied != "" && strings.Contains(got, tt.denied) {
				t.Errorf("%q\n%s", got, e.logs(job.ID))
			}
		})
	}
}

// TestNoStatusTexts: what gRPC says about a call, and what an engine quotes of it, is not what people read.
func TestNoStatusTexts(t *testing.T) {
	broken := fault.FromPlugin("engine.fake", fmt.Errorf("call: %w", status.Error(codes.Internal, "stream terminated by RST_STREAM")))
	quoted := fault.FromPlugin("engine.fake", fmt.Errorf("call: %w",
		errs.New(errs.Upstream, codes.Internal, "ENGINE_ERROR", "pull x: rpc error: code = Unknown desc = no such host").GRPCStatus().Err()))
	for name, tt := range map[string]struct {
		prepare func(e *env)
		want    string
	}{
		"a broken connection": {func(e *env) { e.engine.Fail("pull", broken, broken) },
			"The provider engine.fake is not running. Try again later."},
		"a quoted status": {func(e *env) { e.engine.Fail("pull", quoted, quoted) }, "pull x: no such host"},
		"an output of compose": {func(e *env) {
			e.engine.FailCompose(engine.ActionRecreate, engine.ComposeResult{ExitCode: 1, Tail: "rpc error: code = NotFound desc = gone"})
		}, "exit code 1: gone"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t, withChannels)
			e.blog()
			e.switched()
			tt.prepare(e)
			job, sum := e.updated("blog", "web")
			all := body(job) + body(sum) + e.logs(job.ID) + string(e.told(1)[0].Payload) +
				e.send("GET", "/api/services/"+e.serviceOf("blog", "web").ID+"/history", "").body
			if strings.Contains(all, "rpc error") || strings.Contains(all, "RST_STREAM") ||
				!strings.Contains(sum.Stacks[0].Update.LastError, tt.want) {
				t.Errorf("%s\n%s", sum.Stacks[0].Update.LastError, all)
			}
		})
	}
	e := newEnv(t)
	e.blog()
	e.registry.Fail(imageHost, broken, broken, broken, broken, broken, broken)
	e.checked()
	if why := e.serviceOf("blog", "web").CheckError; why != "The provider engine.fake is not running. Try again later." {
		t.Errorf("a check: %q", why)
	}
}
