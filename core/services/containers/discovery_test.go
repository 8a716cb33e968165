package containers

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/core/services/containers/compose"
	"github.com/patchbay-dev/patchbay/core/services/containers/host"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// did is what a scan did with a project: the action, and the reason after a slash.
func did(res project.ScanResult, project string) string {
	for _, a := range res.Actions {
		if a.Project == project {
			return strings.TrimSuffix(a.Action+" / "+a.Reason, " / ")
		}
	}
	return ""
}

func (e *env) projectOf(name string) record.Project {
	e.Helper()
	p, err := e.svc.repo.FindProject(context.Background(), name)
	e.must(err)
	return p
}

func (e *env) setState(project, state string) {
	for _, c := range e.engine.ContainersOf(project, "") {
		e.engine.RemoveContainer(c.ID)
		c.State = state
		e.engine.AddContainer(c)
	}
}

func (e *env) vanish(project string) {
	for _, c := range e.engine.ContainersOf(project, "") {
		e.engine.RemoveContainer(c.ID)
	}
}

// TestDiscoveryTransitions walks one project through the states that discovery knows.
func TestDiscoveryTransitions(t *testing.T) {
	forEach(t, func(t *testing.T, e *env) {
		e.project("blog", 1, map[string]string{"web": webRepo + ":1", "app": appRepo + ":1"})
		path := filepath.Join(e.dir, "blog", "compose.yaml")
		both := map[string]string{"web": webRepo + ":1", "app": appRepo + ":1"}
		restart := func() { e.container("blog", "web", webRepo+":1"); e.container("blog", "app", appRepo+":1") }
		steps := []struct {
			name   string
			do     func()
			did    string
			status record.ProjectStatus
			// archived is why the stack is archived.
			archived string
		}{
			{"first", func() {}, "created", record.ProjectActive, ""},
			{"again", func() {}, "skipped", record.ProjectActive, ""},
			{"another image", func() {
				e.file("blog/compose.yaml", composeText(map[string]string{"web": webRepo + ":2", "app": appRepo + ":1"}))
			}, "updated", record.ProjectActive, ""},
			{"back", func() { e.file("blog/compose.yaml", composeText(both)) }, "updated", record.ProjectActive, ""},
			{"stopped with containers", func() { e.setState("blog", "exited") }, "marked_stopped", record.ProjectStopped, ""},
			{"still stopped", func() {}, "skipped", record.ProjectStopped, ""},
			{"paused counts as running", func() { e.setState("blog", "paused") }, "skipped", record.ProjectActive, ""},
			{"no container", func() { e.vanish("blog") }, "marked_stopped", record.ProjectStopped, ""},
			{"no container yet", func() {}, "skipped", record.ProjectStopped, ""},
			{"changed while stopped", func() { e.file("blog/compose.yaml", composeText(both, "volumes:\n  data: {}\n")) }, "skipped",
				record.ProjectStopped, ""},
			{"no file", func() { e.must(os.Remove(path)) }, "marked_missing / " + record.ArchivedMissing, record.ProjectMissing,
				record.ArchivedMissing},
			{"still no file", func() {}, "", record.ProjectMissing, record.ArchivedMissing},
			{"a directory in its place", func() { e.must(os.Mkdir(path, 0o755)) }, "failed / compose_file_unreadable", record.ProjectInvalid,
				record.ArchivedMissing},
			{"the file is back", func() { e.must(os.Remove(path)); e.file("blog/compose.yaml", composeText(both)) }, "marked_stopped",
				record.ProjectStopped, ""},
			{"containers too", restart, "skipped", record.ProjectActive, ""},
			{"no YAML", func() { e.file("blog/compose.yaml", "services: [") }, "failed / compose_file_invalid", record.ProjectInvalid, ""},
			{"no services", func() { e.file("blog/compose.yaml", "services: {}\n") }, "failed / compose_no_services", record.ProjectInvalid, ""},
			{"unreadable with containers", func() { e.must(os.Remove(path)); e.must(os.Mkdir(path, 0o755)) }, "failed / compose_file_unreadable",
				record.ProjectInvalid, ""},
			{"no file with containers that run", func() { e.must(os.Remove(path)) }, "failed / compose_file_missing", record.ProjectInvalid, ""},
			{"well again", func() { e.file("blog/compose.yaml", composeText(both)) }, "skipped", record.ProjectActive, ""},
			{"no file, containers that do not run", func() { e.must(os.Remove(path)); e.setState("blog", "exited") },
				"marked_missing / " + record.ArchivedMissing, record.ProjectMissing, record.ArchivedMissing},
			{"all is back", func() { e.file("blog/compose.yaml", composeText(both)); e.setState("blog", "running") }, "updated",
				record.ProjectActive, ""},
		}
		id := ""
		for _, s := range steps {
			s.do()
			res := e.discovered()
			have := did(res, "blog")
			if s.did == "" && have != "" || !strings.HasPrefix(have, s.did) {
				t.Errorf("%s: did %q, want %q", s.name, have, s.did)
			}
			p, st := e.projectOf("blog"), e.stackOf("blog")
			if p.Status != s.status || st.ArchivedReason != s.archived || (st.ArchivedAt != 0) != (s.archived != "") {
				t.Errorf("%s: %s, archived %q, want %s %q; %s", s.name, p.Status, st.ArchivedReason, s.status, s.archived, p.LastError)
			}
			if id == "" {
				id = st.ID
			}
			if st.ID != id || p.StackID != id {
				t.Errorf("%s: the stack is %s, the project's %s, and was %s", s.name, st.ID, p.StackID, id)
			}
			if (p.Status == record.ProjectInvalid) != (p.LastError != "") && p.Status != record.ProjectMissing {
				t.Errorf("%s: the error is %q", s.name, p.LastError)
			}
		}
	})
}

// TestUserArchiveStays: no discovery undoes what a person has archived, whatever becomes of the project.
func TestUserArchiveStays(t *testing.T) {
	forEach(t, func(t *testing.T, e *env) {
		ctx := context.Background()
		images := map[string]string{"web": webRepo + ":1", "app": appRepo + ":1"}
		e.project("blog", 1, images)
		e.discovered()
		e.must(e.svc.ArchiveStack(ctx, e.stackOf("blog").ID))
		e.must(e.svc.ArchiveService(ctx, e.serviceOf("blog", "app").ID))
		path := filepath.Join(e.dir, "blog", "compose.yaml")
		for name, do := range map[string]func(){
			"nothing":  func() {},
			"stopped":  func() { e.vanish("blog") },
			"no file":  func() { e.vanish("blog"); e.must(os.Remove(path)) },
			"no app":   func() { e.file("blog/compose.yaml", composeText(map[string]string{"web": webRepo + ":1"})) },
			"all back": func() { e.file("blog/compose.yaml", composeText(images)); e.container("blog", "web", webRepo+":1") },
		} {
			do()
			e.discovered()
			e.file("blog/compose.yaml", composeText(images))
			e.discovered()
			if st, app := e.stackOf("blog"), e.serviceOf("blog", "app"); st.ArchivedReason != record.ArchivedByUser ||
				app.ArchivedReason != record.ArchivedByUser {
				t.Errorf("%s: the stack is archived by %q, the service by %q", name, st.ArchivedReason, app.ArchivedReason)
			}
		}
		e.must(e.svc.ArchiveProject(ctx, "blog", false))
		e.must(e.svc.ArchiveProject(ctx, "blog", true))
		e.must(os.Remove(path))
		e.vanish("blog")
		e.discovered()
		e.file("blog/compose.yaml", composeText(images))
		e.discovered()
		if p, st := e.projectOf("blog"), e.stackOf("blog"); p.ArchivedReason != record.ArchivedByUser ||
			st.ArchivedReason != record.ArchivedByUser {
			t.Errorf("the project is archived by %q, the stack by %q", p.ArchivedReason, st.ArchivedReason)
		}
	})
}

// TestServicesComeAndGo: a service that leaves the files is archived with the reason, and is itself again when it is back. Another
// image makes its candidate void; what a person has set stays.
func TestServicesComeAndGo(t *testing.T) {
	forEach(t, func(t *testing.T, e *env) {
		ctx := context.Background()
		e.blog()
		before := e.serviceOf("blog", "web")
		e.must(e.svc.ChangeService(ctx, before.ID, project.ServiceChange{AutoRollback: new(bool)}))
		e.file("blog/compose.yaml", composeText(map[string]string{"db": dbRepo + ":1"}))
		if res := e.discovered(); did(res, "blog") != "updated" {
			t.Errorf("without web: %q", did(res, "blog"))
		}
		if gone := e.serviceOf("blog", "web"); gone.ArchivedReason != record.ArchivedRemoved || gone.CandidateDigest == "" {
			t.Errorf("what left the files: %+v", gone)
		}
		e.file("blog/compose.yaml", composeText(map[string]string{"web": webRepo + ":1", "db": dbRepo + ":1"}))
		e.discovered()
		back := e.serviceOf("blog", "web")
		if back.ID != before.ID || back.ArchivedAt != 0 || back.AutoRollback || back.CandidateDigest != digest(2) {
			t.Errorf("what is back: %+v", back)
		}
		e.file("blog/compose.yaml", composeText(map[string]string{"web": webRepo + ":1.5", "db": dbRepo + ":1"}))
		e.discovered()
		next := e.serviceOf("blog", "web")
		if next.Tag != "1.5" || next.CandidateDigest != "" || next.Generation == back.Generation || next.AutoRollback {
			t.Errorf("with another image: %+v", next)
		}
	})
}

// TestDiscoveryReadsCompose: what the files say is read as compose does.
func TestDiscoveryReadsCompose(t *testing.T) {
	e := newEnv(t)
	dir := filepath.Join(e.dir, "blog")
	e.file("blog/.env", "TAG=1.5\nREPO="+webRepo+"\n")
	e.file("blog/compose.yaml", "services:\n  web:\n    image: ${REPO}:${TAG}\n    volumes:\n      - data:/data\n      - ./conf:/etc/conf:ro\n  tool:\n    profiles: [extra]\n    image: "+appRepo+"@"+digest(5)+
		"\n  built:\n    build: .\n  plain:\n    image: nginx\nvolumes:\n  data: {}\n")
	e.file("blog/more.yaml", "services:\n  plain:\n    image: "+dbRepo+":9\n")
	e.container("blog", "web", webRepo+":1.5", "compose.yaml", "more.yaml")
	if res := e.discovered(); did(res, "blog") != "created" {
		t.Fatalf("%q %s", did(res, "blog"), e.projectOf("blog").LastError)
	}
	st := e.stackOf("blog")
	if diff := cmp.Diff([]string{filepath.Join(dir, "compose.yaml"), filepath.Join(dir, "more.yaml")}, st.Files); diff != "" ||
		st.WorkingDir != dir {
		t.Errorf("relative labels against %s: %s", st.WorkingDir, diff)
	}
	web, plain, tool := e.serviceOf("blog", "web"), e.serviceOf("blog", "plain"), e.serviceOf("blog", "tool")
	if web.Image != webRepo+":1.5" || web.Repo != webRepo || web.Tag != "1.5" || plain.Image != dbRepo+":9" {
		t.Errorf("web is %s, plain %s", web.Image, plain.Image)
	}
	if tool.Pinned != digest(5) || tool.Tag != "" || !cmp.Equal(tool.Profiles, []string{"extra"}) || tool.State != record.StateStopped {
		t.Errorf("tool is %+v", tool)
	}
	want := []record.Mount{{Kind: compose.DockerVolume, Name: "blog_data", Destination: "/data"},
		{Kind: compose.BindMount, Name: filepath.Join(dir, "conf"), Destination: "/etc/conf", ReadOnly: true}}
	if diff := cmp.Diff(want, web.Mounts); diff != "" {
		t.Errorf("mounts: %s", diff)
	}
	for _, s := range []string{"web", "plain", "tool", "built"} {
		if svc, err := e.svc.repo.ListStackServices(t.Context(), st.ID); err == nil {
			found := false
			for _, r := range svc {
				found = found || r.Name == s
			}
			if !found && s != "built" {
				t.Errorf("there is no service %s", s)
			}
		}
	}
}

// TestOverrideOfTheSupervisor: the file that names this instance's image is no other set of files.
func TestOverrideOfTheSupervisor(t *testing.T) {
	e := newEnv(t, func(e *env) { e.set.StatePath = filepath.Join(e.dir, "state", "self-upgrade.json") })
	override := e.file("state/self-upgrade.override.yml", composeText(map[string]string{"patchbay": imageHost + "/acme/patchbay:2"}))
	main := e.file("self/compose.yaml", composeText(map[string]string{"patchbay": imageHost + "/acme/patchbay:1", "db": dbRepo + ":1"}))
	e.container("self", "db", dbRepo+":1", main)
	e.container("self", "patchbay", imageHost+"/acme/patchbay:2", main, override)
	if res := e.discovered(); did(res, "self") != "created" || e.projectOf("self").LastError != "" {
		t.Errorf("did %q, error %q", did(res, "self"), e.projectOf("self").LastError)
	}
	if svc := e.serviceOf("self", "patchbay"); svc.Tag != "2" {
		t.Errorf("the image is %s", svc.Image)
	}
	// Any other file that only some containers name is told as a warning.
	extra := e.file("blog/extra.yaml", composeText(map[string]string{"web": webRepo + ":2"}))
	blog := e.file("blog/compose.yaml", composeText(map[string]string{"web": webRepo + ":1", "db": dbRepo + ":1"}))
	e.container("blog", "db", dbRepo+":1", blog)
	e.container("blog", "web", webRepo+":2", blog, extra)
	if res := e.discovered(); did(res, "blog") != "created / "+compose.WarnSuperset {
		t.Errorf("did %q", did(res, "blog"))
	}
}

// TestBrokenProjectsStayAlone: what is wrong with some projects does not touch the others, and the list of actions is cut, not
// the work.
func TestBrokenProjectsStayAlone(t *testing.T) {
	forEach(t, func(t *testing.T, e *env) {
		e.set.MaxActions = 2
		e.must(e.svc.Reload(e.set, e.svc.state.Load().providers))
		for _, name := range []string{"a", "b", "c"} {
			e.project(name, 1, map[string]string{"web": webRepo + ":1"})
		}
		e.project("broken", 1, map[string]string{"web": webRepo + ":1"})
		e.file("broken/compose.yaml", "services:\n  web: 7\n")
		e.engine.AddContainer(engine.Container{Name: "x",
			Labels: map[string]string{host.LabelConfigHash: "hash", host.LabelComposeVersion: "2", host.LabelProject: "nofiles",
				host.LabelService: "web"}})
		e.engine.AddContainer(engine.Container{Name: "y",
			Labels: map[string]string{host.LabelConfigHash: "hash", host.LabelComposeVersion: "2", host.LabelProject: "relative",
				host.LabelService: "web", host.LabelFiles: "compose.yaml"}})
		e.engine.AddContainer(engine.Container{Name: "z",
			Labels: map[string]string{host.LabelConfigHash: "hash", host.LabelComposeVersion: "2", host.LabelProject: "empty",
				host.LabelService: "web", host.LabelFiles: " , "}})
		res := e.discovered()
		if len(res.Actions) != 2 || res.Omitted != 5 {
			t.Errorf("%d actions, %d left out", len(res.Actions), res.Omitted)
		}
		want := project.ScanSummary{ProjectsSeen: 7, StacksCreated: 3, StacksFailed: 4}
		if diff := cmp.Diff(want, res.Summary); diff != "" {
			t.Error(diff)
		}
		for name, why := range map[string]string{"broken": compose.FileInvalid, "nofiles": compose.FilesMissing,
			"relative": compose.FilesRelative, "empty": compose.FilesEmpty} {
			if p := e.projectOf(name); p.Status != record.ProjectInvalid || !strings.HasPrefix(p.LastError, why) || p.StackID != "" {
				t.Errorf("%s: %+v", name, p)
			}
		}
		again := e.discovered()
		if diff := cmp.Diff(project.ScanSummary{ProjectsSeen: 7, StacksSkipped: 3, StacksFailed: 4}, again.Summary); diff != "" {
			t.Error(diff)
		}
		// One of two files is gone.
		e.file("two/a.yaml", composeText(map[string]string{"web": webRepo + ":1"}))
		e.container("two", "web", webRepo+":1", filepath.Join(e.dir, "two", "a.yaml"), filepath.Join(e.dir, "two", "b.yaml"))
		e.discovered()
		if p := e.projectOf("two"); p.Status != record.ProjectInvalid || !strings.HasPrefix(p.LastError, compose.FileMissing) {
			t.Errorf("one of two files: %+v", p)
		}
		// An engine that does not answer changes nothing.
		e.engine.Fail("containers", context.DeadlineExceeded)
		if _, err := e.svc.DiscoverProjects(t.Context()); err == nil {
			t.Error("a discovery without an engine succeeds")
		}
		if p := e.projectOf("a"); p.Status != record.ProjectActive {
			t.Errorf("after a failure of the engine: %+v", p)
		}
	})
}
