package deploy

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// deployedPlugin is a third-party plugin in the folder "config" of a deployment, which leaves an orphan behind at each call.
type deployedPlugin struct {
	core  *kit.Core
	bin   dockertest.ComposeBin
	dir   string
	token string
}

const deployedPluginHCL = `
plugin "orphan" {
  path = "plugins/orphan"
}

search "orphan" "pages" {}

service "search" {
  backend = search.pages
}
`

// install puts the plugin beside plugin.hcl, pins it as root, since the core may not write there, and restarts the core.
func (p *deployedPlugin) install(t *testing.T) {
	t.Helper()
	config := filepath.Join(p.dir, "config")
	kit.Must(t, os.Mkdir(filepath.Join(config, "plugins"), 0o755))
	kit.Must(t, kit.GoBuild(filepath.Join(config, "plugins/orphan"), "plugins/internal/dockertest/orphan", false))
	file, err := os.OpenFile(filepath.Join(config, "plugin.hcl"), os.O_APPEND|os.O_WRONLY, 0)
	kit.Must(t, err)
	_, err = file.WriteString(deployedPluginHCL)
	kit.Must(t, err)
	kit.Must(t, file.Close())
	kit.Contains(t, dockertest.Docker(t, "exec", "-u", "0:0", p.container(t), "/bin/patchbay", "plugin", "lock"), "orphan sha256:")
	if _, err := os.Stat(filepath.Join(config, "plugin.lock.hcl")); err != nil {
		t.Fatalf("the lock file is not on the host: %v", err)
	}
	dockertest.Up(t, p.bin, p.dir, "restart", "patchbay")
}

// container returns the container of the core.
func (p *deployedPlugin) container(t *testing.T) string {
	t.Helper()
	return dockertest.FindContainer(t, p.dir, "patchbay")
}

// check has the plugin answer a search, and expects that the container's init process reaps the orphan.
func (p *deployedPlugin) check(t *testing.T) {
	t.Helper()
	container := p.container(t)
	kit.Eventually(t, 90*time.Second, "the core is healthy", func() bool {
		return dockertest.Docker(t, "inspect", "-f", "{{.State.Health.Status}}", container) == "healthy"
	})
	if p.token == "" {
		p.token = dockertest.Docker(t, "exec", container, "/bin/patchbay", "token", "create", "-note", "third-party")
	}
	answer := p.core.Post(t, p.token, "search", `{"query":"anything"}`)
	if answer.Status != http.StatusOK || !strings.Contains(answer.Body, "https://example.com/third-party") {
		t.Fatalf("the third-party plugin answers %d %s", answer.Status, answer.Body)
	}
	// The engine's own list leaves zombies out.
	first := dockertest.Docker(t, "inspect", "-f", "{{.State.Pid}}", container)
	children := ""
	defer func() {
		if t.Failed() {
			t.Logf("the children of the first process of the container:\n%s", children)
		}
	}()
	kit.Eventually(t, 20*time.Second, "the orphan has ended", func() bool {
		children = kit.RunHost(t, "", "ps", "--ppid", first, "-o", "pid,stat,args")
		return !strings.Contains(children, "plugins/orphan orphan")
	})
	kit.Eventually(t, 20*time.Second, "no process stays a zombie", func() bool {
		children = kit.RunHost(t, "", "ps", "--ppid", first, "-o", "pid,stat,args")
		return !strings.Contains(children, "<defunct>")
	})
	kit.Contains(t, children, "/bin/patchbay serve")
}
