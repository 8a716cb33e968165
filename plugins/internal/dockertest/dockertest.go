// Package dockertest gives tests a real container engine, registries, images and compose projects. It drives them with
// their command line tools, uses names of its own throughout, and removes what it made when the test ends.
package dockertest

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// commandLimit bounds each command of the helpers.
const commandLimit = 2 * time.Minute

var engineUp = sync.OnceValue(func() bool {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return exec.CommandContext(ctx, "docker", "version", "--format", "{{.Server.Version}}").Run() == nil
})

// Engine skips the test where no container engine answers the docker command.
func Engine(t testing.TB) {
	t.Helper()
	testkit.Require(t, "a container engine", engineUp(), "install docker.io and start dockerd; DOCKER_HOST names another one")
}

// Name is a new name, valid for containers, images, volumes and projects.
func Name(t testing.TB) string {
	t.Helper()
	raw := make([]byte, 6)
	if _, err := rand.Read(raw); err != nil {
		t.Fatal(err)
	}
	return "pbtest" + hex.EncodeToString(raw)
}

// Docker runs the docker command and returns its standard output without surrounding space. The test fails if it does, and is skipped
// without an engine.
func Docker(t testing.TB, args ...string) string {
	t.Helper()
	Engine(t)
	return (*Daemon)(nil).Docker(t, args...)
}

// failure is an error of a command with what it wrote.
type failure struct {
	err    error
	stderr string
}

func (f *failure) Error() string { return f.err.Error() + ": " + strings.TrimSpace(f.stderr) }

func runCommand(env []string, stdin *bytes.Buffer, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), commandLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), env...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if stdin != nil {
		cmd.Stdin = stdin
	}
	if err := cmd.Run(); err != nil {
		return "", &failure{err: err, stderr: errOut.String() + out.String()}
	}
	return strings.TrimSpace(out.String()), nil
}

// ComposeBin is a compose command.
type ComposeBin struct {
	// Name is v1 or v2, for the names of subtests; Path is the executable.
	Name, Path string
	// PullPolicy tells that it is of the second generation, whose "up" has --pull.
	PullPolicy bool
}

// EnvCompose2 names the variable with the path of a compose command of the second generation, where it is not among Docker's plugins.
const EnvCompose2 = "PATCHBAY_TEST_COMPOSE2"

// Compose2Hint tells how to provide a compose command of the second generation.
const Compose2Hint = "install Docker's compose plugin, or set " + EnvCompose2 + " to a docker-compose 2.x executable"

// pluginDirs are the directories in which Docker looks for its plugins, besides that of the user.
var pluginDirs = []string{"/usr/local/lib/docker/cli-plugins", "/usr/local/libexec/docker/cli-plugins", "/usr/lib/docker/cli-plugins",
	"/usr/libexec/docker/cli-plugins"}

// findCompose returns the compose commands of both generations, or "" for one that is not there.
var findCompose = sync.OnceValues(func() (first, second string) {
	isSecond := func(bin string) bool { return strings.Contains(composeHelp(bin), "--pull") }
	onPath, _ := exec.LookPath("docker-compose")
	if onPath != "" && !isSecond(onPath) {
		first = onPath
	}
	candidates := []string{os.Getenv(EnvCompose2), onPath}
	if home, err := os.UserHomeDir(); err == nil {
		candidates = append(candidates, filepath.Join(home, ".docker/cli-plugins/docker-compose"))
	}
	for _, dir := range pluginDirs {
		candidates = append(candidates, filepath.Join(dir, "docker-compose"))
	}
	for _, c := range candidates {
		if _, err := os.Stat(c); err == nil && isSecond(c) {
			return first, c
		}
	}
	return first, ""
})

// Compose are the compose commands of this machine: docker-compose of the first generation, and one of the second that
// PATCHBAY_TEST_COMPOSE2 names or Docker has as a plugin. One that is missing is left out, with a line in the test's log; a test without
// any, or without an engine, is skipped. With PATCHBAY_REQUIRE=all it fails where one is missing.
func Compose(t testing.TB) (out []ComposeBin) {
	t.Helper()
	Engine(t)
	first, second := findCompose()
	all := os.Getenv(testkit.EnvRequire) == "all"
	for _, c := range []struct {
		bin  ComposeBin
		hint string
	}{
		{ComposeBin{Name: "v1", Path: first}, "install docker-compose 1.29"},
		{ComposeBin{Name: "v2", Path: second, PullPolicy: true}, Compose2Hint},
	} {
		t.Attr("needs", "compose "+c.bin.Name)
		switch {
		case c.bin.Path != "" && !testkit.Hidden("compose "+c.bin.Name):
			out = append(out, c.bin)
		case all:
			testkit.Require(t, "compose "+c.bin.Name, false, c.hint)
		default:
			t.Logf("compose %s is missing: %s", c.bin.Name, c.hint)
		}
	}
	testkit.Require(t, "a compose command", len(out) > 0, "install docker-compose")
	return out
}

// NewestCompose is the last of the commands of Compose, for tests in which the generation does not matter: a command of the first one
// takes half a second of the processor.
func NewestCompose(t testing.TB) ComposeBin {
	t.Helper()
	all := Compose(t)
	return all[len(all)-1]
}

func composeHelp(bin string) string {
	out, _ := runCommand(nil, nil, bin, "up", "--help")
	return out
}

// Project writes a compose project into a new directory and returns it. The base name of the directory is the project's
// name, as compose itself takes it. What the project has made in the engine is removed when the test ends.
func Project(t testing.TB, files map[string]string) (dir string) {
	t.Helper()
	name := Name(t)
	dir = filepath.Join(t.TempDir(), name)
	for file, content := range files {
		path := filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { removeProject(name) })
	return dir
}

// removeProject removes what carries a project's label, and the volumes of its containers: compose carries anonymous ones
// over, after which they no longer go with the container.
func removeProject(name string) {
	label := "label=com.docker.compose.project=" + name
	volumes := listVolumes(label)
	defer func() {
		if len(volumes) > 0 {
			_, _ = runCommand(nil, nil, "docker", append([]string{"volume", "rm", "-f"}, volumes...)...)
		}
	}()
	for _, c := range []struct{ list, remove []string }{
		{[]string{"ps", "-aq", "--filter", label}, []string{"rm", "-f", "-v"}},
		{[]string{"volume", "ls", "-q", "--filter", label}, []string{"volume", "rm", "-f"}},
		{[]string{"network", "ls", "-q", "--filter", label}, []string{"network", "rm"}},
	} {
		ids, err := runCommand(nil, nil, "docker", c.list...)
		if err == nil && ids != "" {
			_, _ = runCommand(nil, nil, "docker", append(c.remove, strings.Fields(ids)...)...)
		}
	}
}

// listVolumes are the names of the volumes of containers with a label.
func listVolumes(label string) []string {
	ids, err := runCommand(nil, nil, "docker", "ps", "-aq", "--filter", label)
	if err != nil || ids == "" {
		return nil
	}
	format := `{{range .Mounts}}{{if eq .Type "volume"}}{{.Name}} {{end}}{{end}}`
	names, _ := runCommand(nil, nil, "docker", append([]string{"inspect", "-f", format}, strings.Fields(ids)...)...)
	return strings.Fields(names)
}

// Up runs a compose command in the directory of a project, such as Up(t, bin, dir, "up", "-d"). The test fails if it does.
func Up(t testing.TB, bin ComposeBin, dir string, args ...string) {
	t.Helper()
	(*Daemon)(nil).Up(t, bin, dir, args...)
}

func composeFile(t testing.TB, dir string) string {
	t.Helper()
	for _, name := range []string{"compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return filepath.Join(dir, name)
		}
	}
	t.Fatalf("no compose file in %s", dir)
	return ""
}

// FindContainer is the id of the one container of a service, running or not; empty if there is none.
func FindContainer(t testing.TB, dir, service string) string {
	t.Helper()
	return (*Daemon)(nil).FindContainer(t, dir, service)
}
