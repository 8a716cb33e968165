package dockertest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

func TestAppsBehaveAsAsked(t *testing.T) {
	dockertest.Engine(t)
	for _, tt := range []struct {
		name, want string
		b          dockertest.Behaviour
	}{
		{"healthy", "running healthy", dockertest.Behaviour{Version: "1.0.0", Healthcheck: true}},
		{"unhealthy", "running unhealthy", dockertest.Behaviour{Version: "1.0.0", Healthcheck: true, Unhealthy: true}},
		{"slow", "running healthy", dockertest.Behaviour{Healthcheck: true, SlowStart: 2 * time.Second, StartPeriod: 30 * time.Second}},
		{"crash", "exited none", dockertest.Behaviour{Crash: true}},
		{"plain", "running none", dockertest.Behaviour{Version: "2"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			id, name := dockertest.Import(t, tt.b), dockertest.Name(t)
			t.Cleanup(func() {
				dockertest.Docker(t, "rm", "-f", name)
				dockertest.Docker(t, "rmi", "-f", id)
			})
			dockertest.Docker(t, "run", "-d", "--name", name, id)
			var last string
			testkit.Eventually(t, 30*time.Second, func() bool {
				last = dockertest.Docker(t, "inspect", "--format", "{{.State.Status}} {{if .State.Health}}{{.State.Health.Status}}{{else}}none{{end}}",
					name)
				return last == tt.want
			}, "the state "+tt.want)
		})
	}
}

func TestRegistryComposeAndProject(t *testing.T) {
	dockertest.Engine(t)
	reg := dockertest.Registry(t, dockertest.RegistryOptions{User: "tester", Password: "geheim-4711"})
	digest := dockertest.App(t, reg, "demo/app", "1", dockertest.Behaviour{Version: "1"})
	if other := dockertest.App(t, reg, "demo/app", "2", dockertest.Behaviour{Version: "2"}); other == digest {
		t.Error("two images have one digest")
	}
	ref := reg.Host + "/demo/app:1"
	dockertest.Docker(t, "--config", reg.DockerConfig, "pull", "-q", ref)
	for _, bin := range dockertest.Compose(t) {
		t.Run(bin.Name, func(t *testing.T) {
			dir := dockertest.Project(t, map[string]string{"compose.yaml": fmt.Sprintf("services:\n  web:\n    image: %s\n", ref)})
			dockertest.Up(t, bin, dir, "up", "-d")
			if id := dockertest.FindContainer(t, dir, "web"); len(id) != 64 {
				t.Errorf("container %q", id)
			}
		})
	}
	reg.Stop()
	reg.Start(t)
	if got := dockertest.Docker(t, "image", "inspect", "--format", "{{.RepoDigests}}", ref); !strings.Contains(got, digest) {
		t.Errorf("digests %s, want %s", got, digest)
	}
}
