package containers

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/services/containers/change"
	"github.com/patchbay-dev/patchbay/core/services/containers/lifecycle"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// replica adds a container of blog / web.
func (e *env) replica(name, number, state string, labels ...string) string {
	e.Helper()
	c := e.engine.ContainersOf("blog", "web")[0]
	c.ID, c.Name, c.State = "", name, state
	for k, v := range map[string]string{engine.LabelNumber: number} {
		c.Labels = cloneWith(c.Labels, k, v)
	}
	for i := 0; i+1 < len(labels); i += 2 {
		c.Labels = cloneWith(c.Labels, labels[i], labels[i+1])
	}
	return e.engine.AddContainer(c)
}

func cloneWith(m map[string]string, key, value string) map[string]string {
	out := map[string]string{key: value}
	for k, v := range m {
		if k != key {
			out[k] = v
		}
	}
	return out
}

// expectReplicas makes sure that blog / web has n containers of version v, which run under their names.
func (e *env) expectReplicas(n, v int) {
	e.Helper()
	list := e.engine.ContainersOf("blog", "web")
	var names []string
	for _, c := range list {
		names = append(names, c.Name)
		if c.ImageID != imageID(v) || c.State != "running" {
			e.Errorf("%s runs %s, %s", c.Name, record.ShortDigest(c.ImageID), c.State)
		}
	}
	slices.Sort(names)
	want := []string{"blog-web-1", "blog-web-2", "blog-web-3", "blog-web-4"}[:n]
	if !slices.Equal(names, want) {
		e.Errorf("the containers are %v, want %v", names, want)
	}
}

// TestInterruptedRecreate: however often compose is interrupted, and in whatever state, the job ends with as many
// containers as there were at its start.
func TestInterruptedRecreate(t *testing.T) {
	for _, state := range fake.Leftovers() {
		for _, replicas := range []int{1, 3} {
			for _, way := range []string{"update", "rolled back", "by hand"} {
				t.Run(strings.Join([]string{string(state), way, strings.Repeat("I", replicas)}, " "), func(t *testing.T) {
					t.Parallel()
					e := newEnv(t)
					e.blog()
					if replicas == 3 {
						e.replica("blog-web-2", "2", "running")
						e.replica("blog-web-3", "3", "running")
					}
					interrupt := func() { e.engine.InterruptCompose(engine.ActionRecreate, state, state) }
					switch way {
					case "update":
						interrupt()
						if job, _ := e.updated("blog", "web"); job.Status != "success" {
							t.Errorf("%s: %+v", job.Status, job.ResultReason)
						}
						e.expectReplicas(replicas, 2)
					case "rolled back":
						interrupt()
						e.engine.ScriptImage(imageID(2), fake.Unhealthy())
						if job, _ := e.updated("blog", "web"); job.Status != "rolled_back" {
							t.Errorf("%s: %+v", job.Status, job.ResultReason)
						}
						e.expectReplicas(replicas, 1)
					case "by hand":
						if job, _ := e.updated("blog", "web"); job.Status != "success" {
							t.Fatalf("%s: %+v", job.Status, job.ResultReason)
						}
						interrupt()
						id, err := e.svc.Rollback(t.Context(), e.serviceOf("blog", "web").ID, false)
						e.must(err)
						if job := e.ended(id); job.Status != "success" {
							t.Errorf("%s: %+v", job.Status, job.ResultReason)
						}
						e.expectReplicas(replicas, 1)
					}
				})
			}
		}
	}
}

// TestReplicasFromTheJournal: what a crash has left does not count: the number of the job's start does.
func TestReplicasFromTheJournal(t *testing.T) {
	for name, recorded := range map[string]int{"recorded": 1, "by an older version": 0} {
		for _, state := range fake.Leftovers() {
			t.Run(name+" "+string(state), func(t *testing.T) {
				run := func(t *testing.T, e *env) {
					e.blog()
					web := e.serviceOf("blog", "web")
					id := e.crashed(web, left{step: change.StepUp, pulled: true, named: true})
					e.must(e.store.Tx(t.Context(), "age", func(ctx context.Context) error {
						return e.store.Writer(ctx).Exec("UPDATE containers_changes SET replicas = ?", recorded).Error
					}))
					e.engine.InterruptCompose(engine.ActionRecreate, state)
					st := e.stackOf("blog")
					_, err := e.engine.Compose(t.Context(), engine.ComposeRequest{
						Bin: "docker-compose", Action: engine.ActionRecreate, Project: "blog", WorkingDir: st.WorkingDir, Files: st.Files,
						Services: []string{"web"},
					}, func(engine.Line) error { return nil })
					if err == nil {
						t.Fatal("it was not interrupted")
					}
					e.start()
					if job := e.ended(id); job.Status != "success" {
						t.Errorf("%s: %+v\n%s", job.Status, job.ResultReason, e.logs(id))
					}
					e.expectReplicas(1, 2)
				}
				if state == fake.FirstCreated {
					forEach(t, run)
					return
				}
				run(t, newEnv(t))
			})
		}
	}
}

// leavesOneBehind is an engine on which something is out of order after each recreation.
type leavesOneBehind struct {
	*fake.Engine
	after func()
}

func (l *leavesOneBehind) Compose(ctx context.Context, req engine.ComposeRequest,
	send func(engine.Line) error) (*engine.ComposeResult, error) {
	res, err := l.Engine.Compose(ctx, req, send)
	if req.Action == engine.ActionRecreate && !req.DryRun {
		l.after()
	}
	return res, err
}

// TestOutOfOrderIsNotGood: a change does not end well while a container is too many, missing, wrongly named or left over.
func TestOutOfOrderIsNotGood(t *testing.T) {
	for name, spoil := range map[string]func(*env){
		"one too many": func(e *env) { e.replica("blog-web-2", "2", "running") },
		"a leftover": func(e *env) {
			old := e.engine.ContainersOf("blog", "web")[0]
			e.replica(old.ID[:12]+"_blog-web-1", "1", "created", engine.LabelReplace, "web-1")
		},
		"none": func(e *env) {
			for _, c := range e.engine.ContainersOf("blog", "web") {
				e.engine.RemoveContainer(c.ID)
			}
		},
		"another name": func(e *env) {
			c := e.engine.ContainersOf("blog", "web")[0]
			e.engine.RemoveContainer(c.ID)
			c.Name = c.ID[:12] + "_" + c.Name
			e.engine.AddContainer(c)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t, func(e *env) { e.asEngine = &leavesOneBehind{Engine: e.engine, after: func() { spoil(e) }} })
			e.blog()
			job, _ := e.updated("blog", "web")
			if job.Status != "failed" {
				t.Errorf("%s: %+v", job.Status, job.ResultReason)
			}
		})
	}
}

// TestLeftoverAfterTheRepair: what appears late, from a request that the engine had still in hand, is put in order.
func TestLeftoverAfterTheRepair(t *testing.T) {
	e := newEnv(t, func(e *env) {
		once := false
		e.asEngine = &leavesOneBehind{Engine: e.engine, after: func() {
			if !once {
				old := e.engine.ContainersOf("blog", "web")[0]
				e.replica(old.ID[:12]+"_blog-web-1", "1", "created", engine.LabelReplace, "web-1")
			}
			once = true
		}}
	})
	e.blog()
	if job, _ := e.updated("blog", "web"); job.Status != "success" {
		t.Errorf("%s: %+v", job.Status, job.ResultReason)
	}
	e.expectReplicas(1, 2)
}

// TestRollbackStopsFirst: the engine may still be stopping what an interrupted command wanted to replace.
func TestRollbackStopsFirst(t *testing.T) {
	e := newEnv(t)
	e.blog()
	entered, release := e.engine.Hold("compose recreate")
	defer release()
	id, err := e.svc.Update(t.Context(), requestOf(e.serviceOf("blog", "web")))
	e.must(err)
	<-entered
	_, err = e.svc.CancelJob(t.Context(), id)
	e.must(err)
	if job := e.ended(id); job.Status != "rolled_back" {
		t.Errorf("%s: %+v", job.Status, job.ResultReason)
	}
	want := []string{"compose recreate blog web", "compose stop blog web", "compose recreate blog web"}
	if calls := e.engine.CallsOf("compose"); !slices.Equal(calls, want) {
		t.Errorf("the commands are %v, want %v", calls, want)
	}
}

// TestLifecycleKeepsReplicas: a start after a crash brings up as many as there were when the job began.
func TestLifecycleKeepsReplicas(t *testing.T) {
	forEach(t, func(t *testing.T, e *env) {
		e.blog()
		e.replica("blog-web-2", "2", "running")
		web := e.serviceOf("blog", "web")
		id, err := e.svc.ServiceAction(t.Context(), web.ID, lifecycle.ActionStop)
		e.must(err)
		e.ended(id)
		e.engine.InterruptCompose(engine.ActionStart, fake.FirstRenamed)
		id, err = e.svc.ServiceAction(t.Context(), web.ID, lifecycle.ActionStart)
		e.must(err)
		if job := e.ended(id); job.Status != "success" {
			t.Errorf("%+v\n%s", job, e.logs(id))
		}
		e.expectReplicas(2, 1)

		// A later attempt of the job goes by the number that the first one has noted.
		e.stop(e.queue, e.svc)
		id, err = e.svc.ServiceAction(t.Context(), web.ID, lifecycle.ActionStart)
		e.must(err)
		e.must(e.store.Tx(t.Context(), "crash", func(ctx context.Context) error {
			if err := e.store.Writer(ctx).Exec(`INSERT INTO job_checkpoints (job_id, data) VALUES (?, '{"web":3}')`, id).Error; err != nil {
				return err
			}
			return e.store.Writer(ctx).Exec("UPDATE jobs SET state = 'running', owner = 'gone', claims = 1, attempt = 1, started_at = ?, heartbeat_at = 1 WHERE id = ?", store.Millis(e.now()), id).Error
		}))
		e.start()
		if job := e.ended(id); job.Status != "success" {
			t.Errorf("%+v\n%s", job, e.logs(id))
		}
		e.expectReplicas(3, 1)
	})
}
