package docker_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"testing"

	api "github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"

	"github.com/patchbay-dev/patchbay/plugins/engine/docker"
	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/plugintest"
)

// cannedEngine is a socket that answers the list call with n containers as compose makes them.
func cannedEngine(b *testing.B, n int) string {
	b.Helper()
	list := make([]api.Summary, n)
	for i := range list {
		list[i] = api.Summary{
			ID: fmt.Sprintf("%064x", i), Names: []string{fmt.Sprintf("/project%d-web-1", i)}, Image: "registry.example/app:1",
			ImageID: fmt.Sprintf("sha256:%064x", i%50), State: "running", Status: "Up 3 hours (healthy)", Created: 1700000000,
			Labels: map[string]string{
				"com.docker.compose.project": fmt.Sprintf("project%d", i), "com.docker.compose.service": "web", "com.docker.compose.version": "2.40.3",
				"com.docker.compose.project.config_files": "/srv/project/compose.yaml", "com.docker.compose.project.working_dir": "/srv/project",
				"com.docker.compose.config-hash": fmt.Sprintf("%064x", i), "com.docker.compose.container-number": "1",
				"com.docker.compose.oneoff": "False",
			},
			Mounts: []api.MountPoint{{Type: "volume", Name: fmt.Sprintf("data%d", i), Destination: "/data", RW: true}},
		}
	}
	raw, err := json.Marshal(list)
	if err != nil {
		b.Fatal(err)
	}
	socket := filepath.Join(b.TempDir(), "s")
	lis, err := net.Listen("unix", socket)
	if err != nil {
		b.Fatal(err)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Api-Version", "1.41")
		w.Header().Set("Content-Type", "application/json")
		if filepath.Base(r.URL.Path) == "json" {
			_, _ = w.Write(raw)
		}
	})}
	go func() { _ = srv.Serve(lis) }()
	b.Cleanup(func() { _ = srv.Close() })
	return "unix://" + socket
}

// The list of 1,000 containers: what the engine's own client needs with an engine that answers at once, and the whole way
// through the plugin.
func BenchmarkContainers(b *testing.B) {
	host := cannedEngine(b, 1000)
	b.Run("client", func(b *testing.B) {
		c, err := client.NewClientWithOpts(client.WithHost(host), client.WithAPIVersionNegotiation())
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if all, err := c.ContainerList(b.Context(), api.ListOptions{All: true}); err != nil || len(all) != 1000 {
				b.Fatal(len(all), err)
			}
		}
	})
	b.Run("plugin", func(b *testing.B) {
		l := plugintest.Load(b, docker.Plugin())
		c := engine.NewClient(l.Conn, l.Configure(b, plugintest.Config(b, engine.Kind, "local", fmt.Sprintf(`{"host":%q}`, host))))
		for b.Loop() {
			if all, err := c.Containers(b.Context(), engine.Filter{}); err != nil || len(all) != 1000 {
				b.Fatal(len(all), err)
			}
		}
	})
}
