package docker_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

func silent(engine.Line) error { return nil }

// stack is a project with the services web, which depends on db, and db.
func stack(t *testing.T, bin dockertest.ComposeBin, image string) (string, engine.ComposeRequest) {
	t.Helper()
	dir := dockertest.Project(t, map[string]string{"compose.yaml": fmt.Sprintf(
		"services:\n  web:\n    image: %[1]s\n    stop_grace_period: 1s\n    depends_on: [db]\n  db:\n    image: %[1]s\n    stop_grace_period: 1s\n", image)})
	return dir, engine.ComposeRequest{
		Bin: bin.Path, Project: filepath.Base(dir), WorkingDir: dir, Files: []string{filepath.Join(dir, "compose.yaml")},
		Services: []string{"web"},
	}
}

func do(t *testing.T, c *engine.Client, req engine.ComposeRequest, action string) *engine.ComposeResult {
	t.Helper()
	req.Action = action
	res, err := c.Compose(t.Context(), req, silent)
	if err != nil {
		t.Fatalf("%s: %v", action, err)
	}
	return res
}

func well(t *testing.T, res *engine.ComposeResult) {
	t.Helper()
	if res.ExitCode != 0 {
		t.Fatalf("%v: %d: %s", res.Command, res.ExitCode, res.Tail)
	}
}

func TestCompose(t *testing.T) {
	c := open(t, "{}")
	for _, bin := range dockertest.Compose(t) {
		t.Run(bin.Name, func(t *testing.T) {
			t.Parallel()
			reg := dockertest.Registry(t, dockertest.RegistryOptions{})
			ref := reg.Host + "/demo/app:1"
			dockertest.App(t, reg, "demo/app", "1", dockertest.Behaviour{Version: "1"})
			dir, req := stack(t, bin, ref)
			dockertest.Up(t, bin, dir, "up", "-d")
			dockertest.App(t, reg, "demo/app", "1", dockertest.Behaviour{Version: "2"})
			before := containers(t, c, req)
			img, err := c.Pull(t.Context(), engine.PullRequest{Ref: ref}, ignore)
			if err != nil {
				t.Fatal(err)
			}
			well(t, do(t, c, req, engine.ActionRecreate))
			after := containers(t, c, req)
			if after["web"].ImageID != img.ID || after["web"].ID == before["web"].ID || after["web"].State != "running" {
				t.Errorf("web: %+v", after["web"])
			}
			if after["db"].ID != before["db"].ID || after["db"].State != "running" {
				t.Errorf("the neighbour was touched: %+v, before %+v", after["db"], before["db"])
			}
			lifecycle(t, c, bin, req, after)
		})
	}
}

// lifecycle stops, starts and restarts web; the containers of after run.
func lifecycle(t *testing.T, c *engine.Client, bin dockertest.ComposeBin, req engine.ComposeRequest, after map[string]engine.Container) {
	t.Helper()
	well(t, do(t, c, req, engine.ActionStop))
	if now := containers(t, c, req); now["web"].State != "exited" || now["db"].State != "running" {
		t.Errorf("after stop: %+v", now)
	}
	well(t, do(t, c, req, engine.ActionStart))
	if now := containers(t, c, req); now["web"].State != "running" || now["web"].ID != after["web"].ID {
		t.Errorf("after start: %+v", now)
	}
	started, err := c.Inspect(t.Context(), after["web"].ID)
	if err != nil {
		t.Fatal(err)
	}
	well(t, do(t, c, req, engine.ActionRestart))
	if again, err := c.Inspect(t.Context(), after["web"].ID); err != nil || again.StartedAt <= started.StartedAt {
		t.Errorf("after restart: %+v, %v", again, err)
	}
	dockertest.Docker(t, "rm", "-f", after["web"].ID)
	res := do(t, c, req, engine.ActionStart)
	now := containers(t, c, req)
	if _, there := now["web"]; there != bin.PullPolicy || (res.ExitCode == 0) != bin.PullPolicy {
		t.Errorf("start of a container that is not there: %+v, %+v", res, now)
	}
	req.Services = nil
	well(t, do(t, c, req, engine.ActionStop))
	if now := containers(t, c, req); now["db"].State != "exited" || now["db"].ID != after["db"].ID {
		t.Errorf("after the stop of all: %+v", now)
	}
}

func containers(t *testing.T, c *engine.Client, req engine.ComposeRequest) map[string]engine.Container {
	t.Helper()
	list, err := c.Containers(t.Context(), engine.Filter{Labels: []string{"com.docker.compose.project=" + req.Project}})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]engine.Container{}
	for _, one := range list {
		out[one.Labels["com.docker.compose.service"]] = one
	}
	return out
}

// fakeBin is a compose command of a generation that tells what it was called with; it exits with status 7.
func fakeBin(t *testing.T, options string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "compose")
	script := `#!/bin/sh
case "$*" in
*"up --help"*) echo "` + options + `"; exit ;;
*"version --short"*) echo 9.8.7; exit ;;
esac
echo "args $*"
echo "dir $(pwd)"
env | grep -v '^PWD=\|^SHLVL=\|^_=\|^OLDPWD=' | sed 's/^/env /'
[ -n "$DOCKER_CONFIG" ] && echo "config $(cat $DOCKER_CONFIG/config.json)"
printf 'to the error stream\033[31m in red\033[0m\n' >&2
printf 'no end of line'
exit 7
`
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestComposeCommands(t *testing.T) {
	c := open(t, "{}")
	first, second := fakeBin(t, "--no-deps --quiet-pull"), fakeBin(t, "--no-deps --pull string")
	req := engine.ComposeRequest{
		Project: "p", WorkingDir: "/w", Files: []string{"/w/a.yaml", "/w/b.yaml"}, EnvFiles: []string{"/w/.e"}, Profiles: []string{"x"},
		DryRun: true,
	}
	const common = "--project-directory /w -p p -f /w/a.yaml -f /w/b.yaml --env-file /w/.e --profile x "
	for _, tt := range []struct {
		bin, action string
		services    []string
		want        string
	}{
		{first, engine.ActionRecreate, []string{"web"}, "up -d --no-deps web"},
		{second, engine.ActionRecreate, []string{"web", "db"}, "up -d --pull never --no-deps web db"},
		{first, engine.ActionStart, []string{"web"}, "start web"},
		{second, engine.ActionStart, []string{"web"}, "up -d --pull never --no-recreate --no-deps web"},
		{first, engine.ActionStart, nil, "start"},
		{second, engine.ActionStart, nil, "up -d --pull never --no-recreate"},
		{first, engine.ActionStop, nil, "stop"},
		{second, engine.ActionStop, []string{"web"}, "stop web"},
		{first, engine.ActionRestart, []string{"web"}, "restart web"},
		{second + " one  two", engine.ActionRestart, nil, "restart"},
		{first, engine.ActionRecreate, []string{"scaled"}, "up -d --no-deps --force-recreate --scale db=1 --scale scaled=3 scaled"},
		{second, engine.ActionRecreate, []string{"scaled"}, "up -d --pull never --no-deps --force-recreate --scale db=1 --scale scaled=3 scaled"},
		{first, engine.ActionStart, []string{"scaled"}, "start scaled"},
	} {
		r := req
		r.Bin, r.Action, r.Services = tt.bin, tt.action, tt.services
		if slices.Contains(tt.services, "scaled") {
			r.Scale, r.Force = map[string]int{"scaled": 3, "db": 1}, true
		}
		res, err := c.Compose(t.Context(), r, silent)
		if err != nil {
			t.Errorf("%s: %v", tt.action, err)
			continue
		}
		want := strings.Fields(tt.bin + " " + common + tt.want)
		if diff := cmp.Diff(want, res.Command); diff != "" {
			t.Errorf("%s: %s", tt.action, diff)
		}
	}
	r := req
	r.Bin, r.Action, r.EnvFiles = first, engine.ActionStop, []string{"/a", "/b"}
	_, err := c.Compose(t.Context(), r, silent)
	wantError(t, err, codes.FailedPrecondition, errs.Caller)
	r.Bin = "no-such-command"
	_, err = c.Compose(t.Context(), r, silent)
	wantError(t, err, codes.FailedPrecondition, errs.Caller)
}

func TestComposeRun(t *testing.T) {
	t.Setenv("COMPOSE_FILE", "/elsewhere.yaml")
	t.Setenv("SECRET_OF_THE_CORE", "1")
	const password = "cGFzc3dvcmQ6Z2VoZWlt"
	config := t.TempDir()
	if err := os.WriteFile(filepath.Join(config, "config.json"), []byte(`{"auths":{"h":{"auth":"`+password+`"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	c := open(t, `{"host":"unix:///var/run/docker.sock"}`)
	dir := t.TempDir()
	req := engine.ComposeRequest{
		Bin: fakeBin(t, "--no-deps --pull string"), Action: engine.ActionStop, Project: "p", WorkingDir: dir,
		Files: []string{"/w/a b.yaml"}, DockerConfig: config,
	}
	var got []engine.Line
	res, err := c.Compose(t.Context(), req, func(l engine.Line) error {
		got = append(got, l)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if res.ExitCode != 7 || !strings.HasSuffix(res.Tail, "no end of line\n") {
		t.Errorf("%+v", res)
	}
	staged := ""
	for _, l := range got {
		name, value, _ := strings.Cut(strings.TrimPrefix(l.Text, "env "), "=")
		if !strings.HasPrefix(l.Text, "env ") {
			continue
		}
		if !slices.Contains([]string{"PATH", "HOME", "TMPDIR", "TZ", "LANG", "SSL_CERT_FILE", "SSL_CERT_DIR", "DOCKER_HOST", "DOCKER_CONFIG"},
			name) {
			t.Errorf("compose gets %s", name)
		}
		if name == "DOCKER_CONFIG" {
			staged = value
		}
	}
	for _, want := range []engine.Line{
		{Text: "args --project-directory " + dir + " -p p -f /w/a b.yaml stop"}, {Text: "dir " + dir}, {Text: "no end of line"},
		{Text: "to the error stream in red", Stderr: true}, {Text: `config {"auths":{"h":{"auth":"` + password + `"}}}`},
	} {
		if !slices.Contains(got, want) {
			t.Errorf("%+v is missing in %+v", want, got)
		}
	}
	if _, err := os.Stat(staged); staged == "" || staged == config || !os.IsNotExist(err) {
		t.Errorf("the copy of the configuration %q is still there: %v", staged, err)
	}
}

// Compose as a plugin of the docker command is found in the user's folder, also with another client configuration.
func TestComposeOfSeveralWords(t *testing.T) {
	var second string
	for _, bin := range dockertest.Compose(t) {
		if bin.PullPolicy {
			second = bin.Path
		}
	}
	testkit.Require(t, "compose v2", second != "", "set PATCHBAY_TEST_COMPOSE2 to a docker-compose 2.x executable")
	home := t.TempDir()
	t.Setenv("HOME", home)
	plugins := filepath.Join(home, ".docker", "cli-plugins")
	if err := os.MkdirAll(plugins, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(second, filepath.Join(plugins, "docker-compose")); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(config, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := open(t, "{}")
	dir := dockertest.Project(t, map[string]string{"compose.yaml": "services:\n  web:\n    image: " +
		imageOf(t, dockertest.Behaviour{Version: "1"}) + "\n"})
	for _, conf := range []string{"", config} {
		res, err := c.Compose(t.Context(), engine.ComposeRequest{
			Bin: "docker compose", Action: engine.ActionStart, Project: filepath.Base(dir), WorkingDir: dir,
			Files:    []string{filepath.Join(dir, "compose.yaml")},
			Services: []string{"web"}, DockerConfig: conf,
		}, silent)
		if err != nil {
			t.Fatal(err)
		}
		well(t, res)
	}
	if id := dockertest.FindContainer(t, dir, "web"); id == "" {
		t.Error("the container is not there")
	}
}
