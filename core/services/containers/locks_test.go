package containers

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/services/containers/backup"
	"github.com/patchbay-dev/patchbay/core/services/containers/change"
	"github.com/patchbay-dev/patchbay/core/services/containers/compose"
	"github.com/patchbay-dev/patchbay/core/services/containers/lifecycle"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// gated is an engine of which commands, pulls and restores wait until they are told how to end. What waits is known by the
// project that it is about, since jobs of one stack go one after the other.
type gated struct {
	*fake.Engine
	mu   sync.Mutex
	open bool
	wait chan struct{}
}

func newGated(e *fake.Engine) *gated { return &gated{Engine: e, wait: make(chan struct{})} }

func (g *gated) gate(ctx context.Context) error {
	g.mu.Lock()
	wait, open := g.wait, g.open
	g.mu.Unlock()
	if open {
		return nil
	}
	select {
	case <-wait:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// let opens the gate for all that comes, or closes it again.
func (g *gated) let(open bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open == open {
		return
	}
	if g.open = open; open {
		close(g.wait)
	} else {
		g.wait = make(chan struct{})
	}
}

// Compose implements client.Engine.
func (g *gated) Compose(ctx context.Context, req engine.ComposeRequest, send func(engine.Line) error) (*engine.ComposeResult, error) {
	if !req.DryRun {
		if err := g.gate(ctx); err != nil {
			return nil, err
		}
	}
	return g.Engine.Compose(ctx, req, send)
}

// Pull implements client.Engine.
func (g *gated) Pull(ctx context.Context, req engine.PullRequest, send func(engine.PullProgress) error) (*engine.Image, error) {
	if err := g.gate(ctx); err != nil {
		return nil, err
	}
	return g.Engine.Pull(ctx, req, send)
}

var _ client.Engine = (*gated)(nil)

// lockModel knows which job holds which services.
type lockModel struct {
	*env
	gate   *gated
	round  int // the version that was published last
	stacks map[string][]string
	names  map[string][2]string
	jobs   map[string][]string
	dry    []string
}

// TestExclusion: a random sequence of updates, rollbacks, lifecycle jobs, restores and cancels against the real queue. What
// may not run beside another is a conflict that names a job which really holds one of the services; dry runs and checks hold
// nothing; in the end nothing is held.
func TestExclusion(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		checks := 25
		if testing.Short() || cfg.Dialect == store.Postgres {
			checks = 5
		}
		setRapid(t, checks)
		m := newLockModel(t, cfg)
		rapid.Check(t, func(rt *rapid.T) {
			m.begin()
			rt.Repeat(map[string]func(*rapid.T){
				"update one": m.updateOne, "update a stack": m.updateStack, "update all": m.updateAll, "roll back": m.rollBack, "act on a service": m.actService,
				"act on a stack": m.actStack, "restore": m.restore, "dry run": m.dryRun, "check": m.check, "cancel": m.cancel, "end all": func(*rapid.T) { m.endAll() }, "": m.holders,
			})
			m.endAll()
			if n := m.locksHeld(); n != 0 {
				rt.Fatalf("%d locks are held though everything has ended", n)
			}
		})
	})
}

// setRapid says how many sequences are tried, unless the command line does.
func setRapid(t *testing.T, checks int) {
	t.Helper()
	if f := flag.Lookup("rapid.checks"); f.Value.String() != f.DefValue {
		return
	}
	for name, value := range map[string]string{"rapid.checks": fmt.Sprint(checks), "rapid.steps": "25"} {
		old := flag.Lookup(name).Value.String()
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = flag.Set(name, old) })
	}
}

func newLockModel(t *testing.T, cfg store.Config) *lockModel {
	m := &lockModel{round: 1, stacks: map[string][]string{}, names: map[string][2]string{}, jobs: map[string][]string{}}
	st := testkit.OpenStore(t, cfg, allMigrations()...)
	m.env = newEnvOn(t, st, func(e *env) {
		m.gate = newGated(e.engine)
		e.asEngine, e.workers = m.gate, 64
	})
	m.gate.let(true)
	images := map[string]map[string]string{"blog": {"web": webRepo + ":1", "app": appRepo + ":1"}, "shop": {"web": webRepo + ":2", "db": dbRepo + ":1"}, "solo": {"app": appRepo + ":2"}}
	for project, all := range images {
		m.project(project, 1, all)
	}
	m.discovered()
	for project, all := range images {
		id := m.stackOf(project).ID
		for _, name := range sortedKeys(all) {
			svc := m.serviceOf(project, name)
			m.stacks[id] = append(m.stacks[id], svc.ID)
			m.names[svc.ID] = [2]string{project, name}
			m.must(m.svc.Backups.Store.SaveBackup(t.Context(), &backup.Record{ID: "bkp_" + svc.ID, StackID: id, ServiceID: svc.ID, Kind: compose.DockerVolume, Target: "data", Status: backup.StatusSuccess, Path: "/nowhere", CreatedAt: 1}))
		}
	}
	return m
}

// begin gives each service a version before the one that runs.
func (m *lockModel) begin() {
	m.jobs = map[string][]string{}
	m.endAll()
	m.gate.let(true)
	id, err := m.svc.Update(context.Background(), change.UpdateRequest{Scope: work.ScopeAll, Targets: m.targets(m.services()...)})
	m.must(err)
	if job := m.ended(id); job.Status != "success" {
		m.Fatalf("the update of everything: %+v", job)
	}
	m.endAll()
}

func (m *lockModel) services() []string { return sortedKeys(m.names) }

func (m *lockModel) service(t *rapid.T) string {
	return rapid.SampledFrom(m.services()).Draw(t, "service")
}

func (m *lockModel) stack(t *rapid.T) string {
	return rapid.SampledFrom(sortedKeys(m.stacks)).Draw(t, "stack")
}

func (m *lockModel) record(id string) *record.Service {
	return m.serviceOf(m.names[id][0], m.names[id][1])
}

// asked holds the answer to a request that needs some services against the model.
func (m *lockModel) asked(t *rapid.T, id string, err error, services ...string) {
	var blockers []string
	for job, held := range m.jobs {
		if slices.ContainsFunc(held, func(s string) bool { return slices.Contains(services, s) }) {
			blockers = append(blockers, job)
		}
	}
	if len(blockers) == 0 {
		if err != nil {
			t.Fatalf("nothing stands in the way of %v: %v", services, err)
		}
		m.jobs[id] = services
		return
	}
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != fault.Conflict {
		t.Fatalf("want a conflict with one of %v: %s %v", blockers, id, err)
	}
	if existing, _ := f.Ext["existingJobId"].(string); !slices.Contains(blockers, existing) {
		t.Fatalf("the conflict names %q, what holds the services is %v", existing, blockers)
	}
}

func (m *lockModel) targets(ids ...string) (out []project.Target) {
	for _, id := range ids {
		svc := m.record(id)
		out = append(out, project.Target{ServiceID: id, TargetTag: svc.Tag, TargetDigest: svc.CandidateDigest, PullTags: []string{}})
	}
	return out
}

func (m *lockModel) updateOne(t *rapid.T) {
	id := m.service(t)
	job, err := m.svc.Update(context.Background(), requestOf(m.record(id)))
	m.asked(t, job, err, id)
}

func (m *lockModel) updateStack(t *rapid.T) {
	id := m.stack(t)
	job, err := m.svc.Update(context.Background(), change.UpdateRequest{Scope: work.ScopeStack, StackID: id, Targets: m.targets(m.stacks[id]...)})
	m.asked(t, job, err, m.stacks[id]...)
}

func (m *lockModel) updateAll(t *rapid.T) {
	job, err := m.svc.Update(context.Background(), change.UpdateRequest{Scope: work.ScopeAll, Targets: m.targets(m.services()...)})
	m.asked(t, job, err, m.services()...)
}

func (m *lockModel) rollBack(t *rapid.T) {
	id := m.service(t)
	job, err := m.svc.Rollback(context.Background(), id, false)
	m.asked(t, job, err, id)
}

func (m *lockModel) actService(t *rapid.T) {
	id := m.service(t)
	job, err := m.svc.ServiceAction(context.Background(), id, rapid.SampledFrom([]string{lifecycle.ActionStart, lifecycle.ActionRestart}).Draw(t, "action"))
	m.asked(t, job, err, id)
}

func (m *lockModel) actStack(t *rapid.T) {
	id := m.stack(t)
	job, err := m.svc.StackAction(context.Background(), id, lifecycle.ActionRestart)
	m.asked(t, job, err, m.stacks[id]...)
}

// restore: the backups have no file, so the jobs fail soon; what counts is that they are let in, or not.
func (m *lockModel) restore(t *rapid.T) {
	id := m.service(t)
	job, err := m.svc.Restore(context.Background(), "bkp_"+id)
	m.asked(t, job, err, m.stacks[m.record(id).StackID]...)
	if err == nil {
		m.ended(job)
		delete(m.jobs, job)
	}
}

func (m *lockModel) dryRun(t *rapid.T) {
	before := m.locksHeld()
	req := requestOf(m.record(m.service(t)))
	req.Mode = change.ModeDryRun
	id, err := m.svc.Update(context.Background(), req)
	if err != nil {
		t.Fatalf("a dry run: %v", err)
	}
	// It may have to wait for its turn behind updates.
	if m.dry = append(m.dry, id); m.locksHeld() != before {
		t.Fatalf("a dry run holds something: %d locks after %d", m.locksHeld(), before)
	}
}

func (m *lockModel) check(t *rapid.T) {
	before := m.locksHeld()
	if job, _ := m.checked(); job.Status != "success" || m.locksHeld() != before {
		t.Fatalf("a check: %+v", job)
	}
}

func (m *lockModel) cancel(t *rapid.T) {
	if len(m.jobs) == 0 {
		t.Skip("no jobs")
	}
	id := rapid.SampledFrom(sortedKeys(m.jobs)).Draw(t, "job")
	asked, err := m.svc.CancelJob(context.Background(), id)
	if err != nil {
		t.Fatalf("cancel %s: %v", id, err)
	}
	if asked.Type == work.JobRollback {
		// What it has begun is undone first, which needs the engine.
		m.endAll()
		return
	}
	if job := m.ended(id); job.Status != "canceled" && job.Status != "failed" && job.Status != "success" {
		t.Fatalf("canceled: %+v", job)
	}
	delete(m.jobs, id)
}

// endAll lets everything end, and gives each service a new version again.
func (m *lockModel) endAll() {
	m.gate.let(true)
	for id := range m.jobs {
		m.ended(id)
	}
	for _, id := range m.dry {
		if job := m.ended(id); job.Status != "success" {
			m.Fatalf("a dry run: %+v", job)
		}
	}
	m.jobs, m.dry = map[string][]string{}, nil
	m.round++
	for _, name := range m.names {
		m.publish(m.serviceOf(name[0], name[1]).Image, m.round)
	}
	if job, _ := m.checked(); job.Status != "success" {
		m.Fatalf("the check: %+v", job)
	}
	m.gate.let(false)
}

// holders: after each step the status of every service names the job that the model has.
func (m *lockModel) holders(t *rapid.T) {
	for _, id := range m.services() {
		st, err := m.svc.ServiceLifecycle(context.Background(), id)
		if err != nil {
			t.Fatal(err)
		}
		want := ""
		for job, held := range m.jobs {
			if slices.Contains(held, id) {
				want = job
			}
		}
		if have := st.ActiveJob.Of; want == "" && have != nil || want != "" && (have == nil || have.ID != want) {
			t.Fatalf("the job of %s is %+v, want %q", id, have, want)
		}
	}
}
