package containers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/services/containers/change"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// meeting is an engine of which a number of pulls, or of commands that recreate services, go on only when all of them are there.
type meeting struct {
	*fake.Engine
	op    string
	mu    sync.Mutex
	left  int
	ready chan struct{}
}

// meet has calls of op, pull or recreate, wait for each other.
func meet(n int, op string) func(*env) {
	return func(e *env) { e.asEngine = &meeting{Engine: e.engine, op: op, left: n, ready: make(chan struct{})} }
}

func (m *meeting) arrive(op string, n int) error {
	if op != m.op {
		return nil
	}
	m.mu.Lock()
	m.left -= n
	if m.left <= 0 && m.left+n > 0 {
		close(m.ready)
	}
	m.mu.Unlock()
	select {
	case <-m.ready:
		return nil
	case <-time.After(patience):
		return errors.New("the others did not come")
	}
}

// Pull implements client.Engine.
func (m *meeting) Pull(ctx context.Context, req engine.PullRequest, send func(engine.PullProgress) error) (*engine.Image, error) {
	if err := m.arrive("pull", 1); err != nil {
		return nil, err
	}
	return m.Engine.Pull(ctx, req, send)
}

// Inspect implements client.Engine.
func (m *meeting) Inspect(ctx context.Context, id string) (*engine.Detail, error) {
	d, err := m.Engine.Inspect(ctx, id)
	if err == nil && d.ImageID == imageID(2) && m.op == "inspect" {
		err = m.arrive("inspect", 1)
	}
	return d, err
}

// many is a project of n services, a1 and so on, without dependencies; more is added to the file. All have new versions: each its number
// after 10.
func (e *env) many(n int, more string) {
	e.Helper()
	images, text := map[string]string{}, "services:\n"
	for i := range n {
		name := fmt.Sprintf("a%d", i+1)
		images[name] = imageHost + "/acme/" + name + ":1"
		text += "  " + name + ":\n    image: " + images[name] + "\n"
	}
	e.project("shop", 1, images)
	e.file("shop/compose.yaml", text+more)
	for i := range n {
		e.publish(images[fmt.Sprintf("a%d", i+1)], 11+i)
	}
	e.discovered()
	e.checked()
}

// updateMany updates services of the project of many.
func (e *env) updateMany(names ...string) (Job, change.UpdateSummary) {
	e.Helper()
	var list [][2]string
	for _, name := range names {
		list = append(list, [2]string{"shop", name})
	}
	return e.updatedAll(list...)
}

// TestIndependentServicesAtOnce: up to four services are pulled at the same time, and a compose command recreates those that are ready.
func TestIndependentServicesAtOnce(t *testing.T) {
	e := newEnv(t, meet(change.StackPlaces, "pull"))
	e.many(6, "")
	job, sum := e.updateMany("a1", "a2", "a3", "a4", "a5", "a6")
	if job.Status != "success" || len(sum.Stacks) != 1 || len(sum.Stacks[0].Update.ChangedServices) != 6 {
		t.Fatalf("%s %+v\n%s", job.Status, sum, e.logs(job.ID))
	}
	if did := strings.Split(strings.Join(e.recreated(), "+"), "+"); len(did) != 6 {
		t.Errorf("recreated %v, want each service once", did)
	}
	if hashes := e.engine.CallsOf("hash"); len(hashes) > 12 {
		t.Errorf("compose was asked for hashes %d times", len(hashes))
	}
	if job.Progress == nil || job.Progress.Percent != 100 || job.Progress.Current != 6 || job.Progress.Total != 6 {
		t.Errorf("the progress is %+v", job.Progress)
	}
}

// TestWatchedServicesTakeNoPlace: more services than there are places are watched at the same time.
func TestWatchedServicesTakeNoPlace(t *testing.T) {
	e := newEnv(t, func(e *env) { e.set.HealthTimeout = patience }, meet(change.StackPlaces+2, "inspect"))
	e.many(change.StackPlaces+2, "")
	for i := range change.StackPlaces + 2 {
		e.publish(fmt.Sprintf("%s/acme/a%d:1", imageHost, i+1), 2)
	}
	e.checked()
	if job, _ := e.updateMany("a1", "a2", "a3", "a4", "a5", "a6"); job.Status != "success" {
		t.Errorf("%s\n%s", job.Status, e.logs(job.ID))
	}
}

// stackOrderCase is an order in which services of a stack must be recreated.
type stackOrderCase struct {
	name, more string
	before     [][2]string
}

// TestOrderOfServices: a service begins when those have ended that it depends on, directly or through one that is not updated.
func TestOrderOfServices(t *testing.T) {
	through := imageHost + "/acme/through:1"
	for _, tt := range []stackOrderCase{
		{"depends_on", "    depends_on: [a1]\n", [][2]string{{"a1", "a3"}}},
		{"through another service", "    depends_on: [through]\n  through:\n    image: " + through + "\n    depends_on: [a2]\n", [][2]string{{"a2", "a3"}}},
		{"a shared namespace", "    network_mode: service:a1\n", [][2]string{{"a1", "a3"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			e.many(3, tt.more)
			job, _ := e.updateMany("a3", "a2", "a1")
			did := e.recreated()
			for _, pair := range tt.before {
				at := func(name string) int {
					return slices.IndexFunc(did, func(s string) bool { return slices.Contains(strings.Split(s, "+"), name) })
				}
				if first, second := at(pair[0]), at(pair[1]); job.Status != "success" || first < 0 || first >= second {
					t.Errorf("%s: %v, want %s before %s\n%s", job.Status, did, pair[0], pair[1], e.logs(job.ID))
				}
			}
		})
	}
}

// TestFailuresAtOnce: services that are updated at the same time end each for itself, what had not begun is left out, and all that
// failed are told.
func TestFailuresAtOnce(t *testing.T) {
	e := newEnv(t, meet(3, "pull"))
	e.many(4, "    depends_on: [a3]\n")
	e.engine.ScriptImage(imageID(11), fake.Exited(1))
	e.engine.ScriptImage(imageID(12), fake.Exited(2))
	job, sum := e.updateMany("a1", "a2", "a3", "a4")
	u := sum.Stacks[0].Update
	id := func(name string) string { return e.serviceOf("shop", name).ID }
	if job.Status != "rolled_back" || len(u.AlsoFailed) != 1 || !u.AlsoFailed[0].RolledBack {
		t.Fatalf("%s %+v\n%s", job.Status, u, e.logs(job.ID))
	}
	failed := []string{u.FailedService, u.AlsoFailed[0].ServiceID}
	if slices.Sort(failed); !cmp.Equal(failed, slices.Sorted(slices.Values([]string{id("a1"), id("a2")}))) || !slices.Contains(u.ChangedServices, id("a3")) {
		t.Errorf("failed %v of %+v", failed, u)
	}
	for name, version := range map[string]int{"a1": 1, "a2": 1, "a3": 13} {
		if e.runs("shop", name) != imageID(version) {
			t.Errorf("%s runs %s", name, record.ShortDigest(e.runs("shop", name)))
		}
	}
	if text := job.ResultReason.Detail; !strings.Contains(text, e.nameOf(u.FailedService)+" was rolled back:") || !strings.Contains(text, e.nameOf(u.AlsoFailed[0].ServiceID)+" was rolled back too:") {
		t.Errorf("the job says %q", text)
	}
}

// TestFirstFailureDecides: of several failures one that was not rolled back decides, and no failure is lost.
func TestFirstFailureDecides(t *testing.T) {
	back := &change.RollbackSummary{}
	for _, tt := range []struct {
		name  string
		backs []*change.RollbackSummary
		main  string
		also  []string
	}{
		{"one", []*change.RollbackSummary{back}, "0", nil},
		{"both rolled back", []*change.RollbackSummary{back, back}, "0", []string{"1"}},
		{"the second was not", []*change.RollbackSummary{back, nil, back}, "1", []string{"0", "2"}},
		{"the first was not", []*change.RollbackSummary{nil, nil, back}, "0", []string{"1", "2"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var sum change.StackSummary
			for i, b := range tt.backs {
				sum.AddFailure(change.ServiceFailure{ServiceID: fmt.Sprint(i)}, b)
			}
			var also []string
			for _, f := range sum.Update.AlsoFailed {
				also = append(also, f.ServiceID)
			}
			if sum.Update.FailedService != tt.main || !cmp.Equal(also, tt.also) {
				t.Errorf("%s and %v, want %s and %v", sum.Update.FailedService, also, tt.main, tt.also)
			}
		})
	}
}

// TestStopWithSeveralOpen: a core that ends while several services are under way leaves them to the next one, which ends all of them, also
// those beside one that has failed meanwhile.
func TestStopWithSeveralOpen(t *testing.T) {
	for _, op := range []string{"pull", "tag", "compose recreate", "inspect"} {
		t.Run(op, func(t *testing.T) {
			forEach(t, func(t *testing.T, e *env) {
				e.many(5, "    depends_on: [a1]\n")
				e.engine.ScriptImage(imageID(12), fake.Exited(1))
				entered, release := e.engine.Hold(op)
				defer release()
				req := change.UpdateRequest{Scope: work.ScopeAll}
				for i := range 5 {
					svc := e.serviceOf("shop", fmt.Sprintf("a%d", i+1))
					req.Targets = append(req.Targets, project.Target{ServiceID: svc.ID, TargetTag: "1", TargetDigest: svc.CandidateDigest, PullTags: []string{}})
				}
				id, err := e.svc.Update(t.Context(), req)
				e.must(err)
				<-entered
				e.stop(e.queue, e.svc)
				e.start()
				job := e.ended(id)
				open, err := (&change.Store{Store: e.svc.repo}).OpenChanges(context.Background(), id)
				if p := job.Progress; p == nil || p.Current > p.Total {
					t.Errorf("the progress is %+v", p)
				}
				if e.must(err); job.Status != "rolled_back" || len(open) > 0 || e.locksHeld() != 0 {
					t.Fatalf("%s, open %+v, %d locks\n%s", job.Status, open, e.locksHeld(), e.logs(id))
				}
				changes, err := e.svc.ChangesOfJob(context.Background(), id)
				e.must(err)
				for i := range 5 {
					name := fmt.Sprintf("a%d", i+1)
					want := imageID(1)
					if changes[e.serviceOf("shop", name).ID].Status == record.ChangeSuccess {
						want = imageID(11 + i)
					}
					if got := e.runs("shop", name); got != want {
						t.Errorf("%s runs %s, want %s\n%s", name, record.ShortDigest(got), record.ShortDigest(want), e.logs(id))
					}
				}
			})
		})
	}
}

// followerCase is an update of a service and of one in its network namespace.
type followerCase struct {
	name     string
	prepare  func(e *env)
	status   string
	recreate []string
	runs     int // the version that the follower runs afterwards
}

// TestFollowersAreRecreatedOnce: a dependent that the same job updates is recreated with its own new image only, and with the former one where
// its update does not come to that.
func TestFollowersAreRecreatedOnce(t *testing.T) {
	for _, tt := range []followerCase{
		{"both", func(*env) {}, "success", []string{"a1", "a2"}, 12},
		{"the provider fails", func(e *env) { e.engine.ScriptImage(imageID(11), fake.Exited(1)) }, "rolled_back", []string{"a1", "a1", "a2!"}, 1},
		{"the follower fails", func(e *env) { e.engine.ScriptImage(imageID(12), fake.Exited(1)) }, "rolled_back", []string{"a1", "a2", "a2"}, 1},
		{"the follower cannot be pulled", func(e *env) {
			e.engine.Fail("pull", nil, errors.New("no such image"), errors.New("no such image"), errors.New("no such image"), errors.New("no such image"))
		}, "failed", []string{"a1", "a2!"}, 1},
		{"the follower cannot be named", func(e *env) { e.engine.Fail("tag", nil, errors.New("no"), errors.New("no")) }, "failed", []string{"a1", "a2!"}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			e.many(2, "    network_mode: service:a1\n")
			for _, name := range []string{"a1", "a2"} {
				for _, c := range e.engine.ContainersOf("shop", name) {
					e.engine.RemoveContainer(c.ID)
					c.CreatedAt = 1000
					e.engine.AddContainer(c)
				}
			}
			e.discovered()
			tt.prepare(e)
			before := e.idsOf("shop", "a2")
			job, _ := e.updateMany("a1", "a2")
			if diff := cmp.Diff(tt.recreate, e.recreated()); job.Status != tt.status || diff != "" {
				t.Fatalf("%s, want %s: %s\n%s", job.Status, tt.status, diff, e.logs(job.ID))
			}
			if e.runs("shop", "a2") != imageID(tt.runs) || slices.Equal(before, e.idsOf("shop", "a2")) {
				t.Errorf("a2 runs %s in %v", record.ShortDigest(e.runs("shop", "a2")), e.idsOf("shop", "a2"))
			}
		})
	}
}

// TestBegunTargetsAreKnown: after a crash every target that has a record counts as begun, so that what waits for one that has ended goes on.
func TestBegunTargetsAreKnown(t *testing.T) {
	e := newEnv(t)
	e.many(3, "    depends_on: [a2]\n")
	st := e.stackOf("shop")
	group := change.TargetGroup{Stack: *st}
	for i, status := range []string{record.ChangeFailed, record.ChangeSuccess, record.ChangeRunning} {
		svc := e.serviceOf("shop", fmt.Sprintf("a%d", i+1))
		group.Svcs, group.Targets = append(group.Svcs, *svc), append(group.Targets, project.Target{ServiceID: svc.ID})
		_, err := (&change.Store{Store: e.svc.repo}).BeginChange(t.Context(), &record.Change{ID: fmt.Sprintf("chg_%d", i), JobID: "job_1", Kind: record.ChangeUpdate, StackID: st.ID, ServiceID: svc.ID, Status: status, Step: change.StepUp, StartedAt: 1})
		e.must(err)
	}
	_, tasks, err := e.svc.OrderTargets(t.Context(), "job_1", group)
	e.must(err)
	for i, task := range tasks {
		if !task.Begun {
			t.Errorf("task %d does not count as begun", i)
		}
	}
}

// TestMigrationHasItsOwnCommand: what ends by itself is not run again because a service beside it could not be started.
func TestMigrationHasItsOwnCommand(t *testing.T) {
	e := newEnv(t, meet(2, "pull"))
	e.many(2, "")
	e.engine.EndContainer(e.idsOf("shop", "a1")[0], 0)
	e.discovered()
	e.engine.SetJob(imageID(11), 0)
	e.updateMany("a1", "a2")
	for _, did := range e.recreated() {
		if strings.Contains(did, "+") {
			t.Errorf("recreated %v with one command", did)
		}
	}
	if n := e.engine.Starts(imageID(11)); n != 1 {
		t.Errorf("the migration was started %d times", n)
	}
}
