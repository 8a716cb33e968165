package containers

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/services/containers/compose"
	"github.com/patchbay-dev/patchbay/core/services/containers/host"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// labelled adds a container that runs, with labels that anybody can give.
func (e *env) labelled(name, img string, labels map[string]string) string {
	return e.engine.AddContainer(engine.Container{Name: name, Image: img, State: "running", Labels: labels})
}

// forged are the labels of a container of compose, with some replaced; "" leaves one out.
func forged(project, service, dir, files string, change map[string]string) map[string]string {
	labels := map[string]string{
		host.LabelProject: project, host.LabelService: service, engine.LabelNumber: "1", host.LabelWorkingDir: dir, host.LabelFiles: files,
		host.LabelConfigHash: "forged", host.LabelComposeVersion: "2.40.3",
	}
	maps.Copy(labels, change)
	maps.DeleteFunc(labels, func(_, v string) bool { return v == "" })
	return labels
}

// TestLabelsNameFiles: labels that name files of the system, or files elsewhere, make no stack and show nothing of them.
func TestLabelsNameFiles(t *testing.T) {
	e := newEnv(t)
	stack := filepath.Dir(e.file("stack/x", ""))
	secret := e.file("outside/secret.yml", "root:tops3cret:19000:0:99999:7:::\ndaemon:*:19000\n")
	outside := e.file("outside/compose.yml", composeText(map[string]string{"web": webRepo + ":1"}))
	e.must(os.Symlink(outside, filepath.Join(stack, "link.yml")))
	for name, c := range map[string]struct{ dir, files, kind string }{
		"shadow":  {"/etc", "/etc/shadow", compose.FileRefused},
		"passwd":  {stack, "/etc/passwd", compose.FileRefused},
		"device":  {"/dev", "/dev/zero", compose.FileRefused},
		"secret":  {filepath.Dir(secret), secret, compose.FileInvalid},
		"outside": {stack, outside, compose.FileRefused},
		"link":    {stack, filepath.Join(stack, "link.yml"), compose.FileRefused},
		"dots":    {stack, "../outside/compose.yml", compose.FileRefused},
		"root":    {"/", outside, compose.FileRefused},
	} {
		e.labelled(name, webRepo+":1", forged(name, "web", c.dir, c.files, nil))
		defer func() {
			p := e.projectOf(name)
			if p.Status != record.ProjectInvalid || p.StackID != "" || !strings.HasPrefix(p.LastError, c.kind) ||
				strings.Contains(p.LastError, "tops3cret") || strings.Contains(p.LastError, "daemon") {
				t.Errorf("%s: %+v", name, p)
			}
		}()
	}
	e.discovered()
}

// TestStackRoots: a file elsewhere is read once its folder is one of the roots.
func TestStackRoots(t *testing.T) {
	e := newEnv(t, func(e *env) { e.set.StackRoots = []string{filepath.Join(e.dir, "shared")} })
	extra := e.file("shared/deep/extra.yaml", composeText(map[string]string{"web": webRepo + ":2"}))
	own := e.file("blog/compose.yaml", composeText(map[string]string{"web": webRepo + ":1"}))
	e.container("blog", "web", webRepo+":2", own, extra)
	if res := e.discovered(); did(res, "blog") != project.ActionCreated {
		t.Fatalf("%q", did(res, "blog"))
	}
	if svc := e.serviceOf("blog", "web"); svc.Tag != "2" {
		t.Errorf("the image is %s", svc.Image)
	}
	for _, root := range []string{"", "relative", "/", "/etc", "/usr/local", "/var/lib/docker/volumes"} {
		set := testSettings()
		set.StackRoots = []string{root}
		if len(set.Check()) == 0 {
			t.Errorf("the root %q is accepted", root)
		}
	}
}

// TestForeignContainers: containers that only bear a project's name change nothing of it.
func TestForeignContainers(t *testing.T) {
	forEach(t, func(t *testing.T, e *env) {
		own := map[string]string{"web": webRepo + ":1"}
		e.project("blog", 1, own)
		e.discovered()
		dir := filepath.Join(e.dir, "blog")
		file := filepath.Join(dir, "compose.yaml")
		evil := e.file("blog/evil.yaml", composeText(map[string]string{"web": appRepo + ":6"}))
		elsewhere := e.file("evil/compose.yaml", composeText(map[string]string{"web": appRepo + ":6"}))
		img := e.image(appRepo, 6)
		img.RepoTags = []string{appRepo + ":6"}
		e.engine.AddImage(img)
		attacks := map[string]map[string]string{
			"no hash":    forged("blog", "web", dir, file+","+evil, map[string]string{host.LabelConfigHash: ""}),
			"no version": forged("blog", "web", dir, file+","+evil, map[string]string{host.LabelComposeVersion: ""}),
			"elsewhere":  forged("blog", "web", filepath.Dir(elsewhere), elsewhere, nil),
			"both":       forged("blog", "web", filepath.Dir(elsewhere), file+","+elsewhere, nil),
			"no folder":  forged("blog", "web", "", file+","+evil, nil),
		}
		expect := func(name string, status record.ProjectStatus, state record.LifecycleState) {
			t.Helper()
			e.discovered()
			p, st, svc := e.projectOf("blog"), e.stackOf("blog"), e.serviceOf("blog", "web")
			if p.Status != status || p.LastError != project.WarnForeign || p.Move != nil || !slices.Equal(st.Files, []string{file}) ||
				st.WorkingDir != dir {
				t.Errorf("%s: the project is %+v, the stack %+v", name, p, st)
			}
			if svc.Image != webRepo+":1" || svc.State != state || state == record.StateRunning && svc.RuntimeImage != imageID(1) {
				t.Errorf("%s: the service is %+v", name, svc)
			}
			running, err := e.svc.RunningImage(t.Context(), st, svc)
			if err != nil || running.Replicas != 1 {
				t.Errorf("%s: it has %d containers, %v", name, running.Replicas, err)
			}
		}
		for name, labels := range attacks {
			id := e.labelled("evil", appRepo+":6", labels)
			expect(name, record.ProjectActive, record.StateRunning)
			e.engine.RemoveContainer(id)
		}
		// The same while nothing of the project runs; where compose made a container in another folder, see TestProjectMoves.
		e.vanish("blog")
		for _, name := range []string{"no hash", "no version"} {
			id := e.labelled("evil", appRepo+":6", attacks[name])
			expect(name+", stopped", record.ProjectStopped, record.StateStopped)
			e.engine.RemoveContainer(id)
		}
		e.discovered()
		if p := e.projectOf("blog"); p.LastError != "" {
			t.Errorf("the warning stays: %+v", p)
		}
		// A project that nobody knows yet is not made of such containers at all.
		e.labelled("new", appRepo+":6", forged("new", "web", filepath.Dir(elsewhere), elsewhere, map[string]string{host.LabelConfigHash: ""}))
		e.labelled("two-1", appRepo+":6", forged("two", "web", filepath.Dir(elsewhere), elsewhere, nil))
		e.labelled("two-2", appRepo+":6", forged("two", "app", dir, file, nil))
		if res := e.discovered(); did(res, "new") != "" || did(res, "two") != project.ActionCreated {
			t.Errorf("did %q and %q", did(res, "new"), did(res, "two"))
		}
	})
}

// TestProjectMoves: a project whose containers come from elsewhere keeps its files until a person takes the new ones over.
func TestProjectMoves(t *testing.T) {
	forEach(t, func(t *testing.T, e *env) {
		c := newContract(e)
		e.project("blog", 1, map[string]string{"web": webRepo + ":1"})
		e.discovered()
		id := e.stackOf("blog").ID
		oldDir := filepath.Join(e.dir, "blog")
		file := e.file("moved/compose.yaml", composeText(map[string]string{"web": webRepo + ":1.5"}))
		accept := func(status int, dir, file string) got {
			t.Helper()
			return c.call(status, "POST", "/api/discovery/projects/blog/accept-move", fmt.Sprintf(`{"workingDir":%q,"configFiles":[%q]}`, dir, file))
		}
		accept(409, oldDir, file)
		e.vanish("blog")
		e.labelled("blog-web-1", webRepo+":1", forged("blog", "web", filepath.Dir(file), file, nil))
		for range 2 {
			e.discovered()
			st, p := e.stackOf("blog"), e.projectOf("blog")
			if st.WorkingDir != oldDir || e.serviceOf("blog", "web").Tag != "1" || p.LastError != project.WarnMoved ||
				p.Status != record.ProjectStopped {
				t.Fatalf("before: %+v, %+v", st, p)
			}
		}
		list, err := e.svc.ListProjects(t.Context(), project.ArchivedExclude)
		if err != nil || len(list) != 1 || list[0].Move == nil || list[0].Move.WorkingDir != filepath.Dir(file) ||
			!slices.Equal(list[0].Move.ConfigFiles, []string{file}) {
			t.Fatalf("shown: %+v, %v", list, err)
		}
		accept(409, filepath.Dir(file), filepath.Join(oldDir, "compose.yaml"))
		accept(409, oldDir, file)
		if st := e.stackOf("blog"); st.WorkingDir != oldDir {
			t.Fatalf("a refused move: %+v", st)
		}
		e.ended(accept(200, filepath.Dir(file), file).json["jobId"].(string))
		e.discovered()
		st, p := e.stackOf("blog"), e.projectOf("blog")
		if st.ID != id || st.WorkingDir != filepath.Dir(file) || !slices.Equal(st.Files, []string{file}) || p.Move != nil || p.LastError != "" ||
			p.Status != record.ProjectActive {
			t.Errorf("after: %+v, %+v", st, p)
		}
		if svc := e.serviceOf("blog", "web"); svc.Tag != "1.5" || svc.State != record.StateRunning {
			t.Errorf("the service is %+v", svc)
		}
		accept(409, filepath.Dir(file), file)
		c.call(404, "POST", "/api/discovery/projects/none/accept-move", `{"workingDir":"/a","configFiles":["b"]}`)
		// A file elsewhere that the same folder's containers name is a move as well.
		e.vanish("blog")
		e.must(e.svc.Reload(func() Settings { set := e.set; set.StackRoots = []string{oldDir}; return set }(), e.svc.state.Load().providers))
		e.file("blog/compose.yaml", composeText(map[string]string{"web": webRepo + ":2"}))
		e.labelled("blog-web-1", webRepo+":1", forged("blog", "web", filepath.Dir(file), file+","+filepath.Join(oldDir, "compose.yaml"), nil))
		e.discovered()
		if st, p := e.stackOf("blog"), e.projectOf("blog"); len(st.Files) != 1 || p.Move == nil || len(p.Move.ConfigFiles) != 2 ||
			p.Status != record.ProjectActive {
			t.Errorf("a further file: %+v, %+v", st, p)
		}
	})
}
