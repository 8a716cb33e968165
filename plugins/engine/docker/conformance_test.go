package docker_test

import (
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/engine/docker"
	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/sdk/conformance"
)

func TestConformance(t *testing.T) {
	dockertest.Engine(t)
	container(t, imageOf(t, dockertest.Behaviour{Version: "1", Healthcheck: true}))
	for _, bin := range dockertest.Compose(t) {
		t.Run(bin.Name, func(t *testing.T) {
			conformance.TestEngine(t, docker.Declare(executable), conformance.EngineConfig{
				ComposeBin: bin.Path,
				Invalid: []string{
					`{"host":"/var/run/docker.sock"}`, `{"host":"ssh://host"}`, `{"host":"tcp://user:pass@host:1"}`, `{"host":"unix://"}`,
					`{"tls_dir":"certs"}`, `{"host":"%"}`,
				},
			})
		})
	}
}
