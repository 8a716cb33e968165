package containers

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// project is what the tests read of a project that discovery has seen.
type project struct {
	Project, Status, LastError, StackID string
	Move                                *struct{ WorkingDir string }
}

// runLabelled runs a container with labels that anybody can give.
func runLabelled(t testing.TB, image string, labels map[string]string) {
	t.Helper()
	args := []string{"run", "-d", "--name", dockertest.Name(t)}
	for name, value := range labels {
		args = append(args, "--label", "com.docker.compose."+name+"="+value)
	}
	id := dockertest.Docker(t, append(args, image)...)
	t.Cleanup(func() { dockertest.Docker(t, "rm", "-f", "-v", id) })
}

// TestContainersLabels runs containers whose labels name files of the system and another's project.
func TestContainersLabels(t *testing.T) {
	t.Parallel()
	bin := dockertest.NewestCompose(t)
	a := kit.StartApp(t, bin, dockertest.Behaviour{Version: "1"})
	c := kit.StartCore(t, kit.ContainersHCL(bin.Path, ""))
	before := c.StackNamed(t, a.Project)
	file := filepath.Join(a.Dir, "docker-compose.yml")
	if err := os.WriteFile(filepath.Join(a.Dir, "evil.yml"), []byte("services: {web: {image: evil}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "compose.yml")
	if err := os.WriteFile(outside, []byte("services: {web: {image: evil}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	image := strings.TrimSpace(dockertest.Docker(t, "inspect", "-f", "{{.Image}}", dockertest.FindContainer(t, a.Dir, "side")))
	shadow, foreign := dockertest.Name(t), dockertest.Name(t)
	genuine := map[string]string{"service": "web", "container-number": "2", "oneoff": "False"}
	with := func(more ...string) map[string]string {
		labels := map[string]string{}
		for name, value := range genuine {
			labels[name] = value
		}
		for i := 0; i < len(more); i += 2 {
			labels[more[i]] = more[i+1]
		}
		return labels
	}
	runLabelled(t, image, with("project", shadow, "project.working_dir", "/etc", "project.config_files", "/etc/shadow", "config-hash", "x",
		"version", "2"))
	runLabelled(t, image, with("project", foreign, "project.working_dir", a.Dir, "project.config_files", outside, "config-hash", "x",
		"version", "2"))
	runLabelled(t, image, with("project", a.Project, "project.working_dir", a.Dir, "project.config_files",
		file+","+filepath.Join(a.Dir, "evil.yml")))
	runLabelled(t, image, with("project", a.Project, "project.working_dir", filepath.Dir(outside), "project.config_files", outside,
		"config-hash", "x", "version", "2"))
	c.Finished(t, c.BeginJob(t, "/api/discovery/scan", ""), "success")

	raw := c.API(t, http.MethodGet, "/api/discovery/projects", "", http.StatusOK).Body
	if strings.Contains(raw, "root:") {
		t.Errorf("a file of the system is quoted: %s", raw)
	}
	var list struct{ Projects []project }
	if err := json.Unmarshal([]byte(raw), &list); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{shadow, foreign} {
		i := slices.IndexFunc(list.Projects, func(p project) bool { return p.Project == name })
		if i < 0 || list.Projects[i].Status != "invalid" || !strings.HasPrefix(list.Projects[i].LastError, "compose_file_refused") ||
			list.Projects[i].StackID != "" {
			t.Errorf("%s: %+v", name, list.Projects)
		}
	}
	after := c.StackNamed(t, a.Project)
	if was, is := before.Service(t, "web"), after.Service(t, "web"); was.Image.Ref != is.Image.Ref || was.Image.Digest != is.Image.Digest ||
		is.LifecycleState != was.LifecycleState {
		t.Errorf("the service was %+v and is %+v", was, is)
	}
	i := slices.IndexFunc(list.Projects, func(p project) bool { return p.Project == a.Project })
	if i < 0 || list.Projects[i].Status != "active" || list.Projects[i].Move != nil ||
		list.Projects[i].LastError != "warning:foreign_containers_ignored" {
		t.Errorf("the project: %+v", list.Projects)
	}
}
