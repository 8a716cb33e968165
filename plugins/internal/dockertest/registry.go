package dockertest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// RegistryOptions say how a registry behaves.
type RegistryOptions struct {
	// User and Password are asked for if they are set.
	User, Password string
}

// Reg is a registry on a loopback address, of which clients know that it speaks plain HTTP.
type Reg struct {
	// Host is name and port, as an image reference begins.
	Host string
	// DockerConfig is a directory with a config.json that holds the registry's credentials; also without any.
	DockerConfig string

	dir string
	cmd *exec.Cmd
}

// PID is the process of the registry.
func (r *Reg) PID() int { return r.cmd.Process.Pid }

// Registry starts a registry that ends with the test. Manifests in it may be deleted.
func Registry(t testing.TB, o RegistryOptions) *Reg {
	t.Helper()
	bin, err := exec.LookPath("docker-registry")
	testkit.Require(t, "docker-registry", err == nil, "install docker-registry")
	r := &Reg{Host: testkit.FreeAddress(t), dir: t.TempDir(), DockerConfig: t.TempDir()}
	auth := ""
	if o.User != "" {
		line, err := runCommand(nil, nil, "htpasswd", "-Bbn", o.User, o.Password)
		testkit.Require(t, "htpasswd", err == nil, "install apache2-utils")
		writeFile(t, filepath.Join(r.dir, "htpasswd"), line+"\n")
		auth = fmt.Sprintf("auth:\n  htpasswd:\n    realm: test\n    path: %s\n", filepath.Join(r.dir, "htpasswd"))
	}
	writeFile(t, filepath.Join(r.dir, "config.yml"), fmt.Sprintf(`version: 0.1
log: {level: error}
storage:
  filesystem: {rootdirectory: %s}
  delete: {enabled: true}
http: {addr: %q}
%s`, filepath.Join(r.dir, "data"), r.Host, auth))
	config := map[string]any{}
	if o.User != "" {
		login := base64.StdEncoding.EncodeToString([]byte(o.User + ":" + o.Password))
		config["auths"] = map[string]any{r.Host: map[string]string{"auth": login}}
	}
	raw, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(r.DockerConfig, "config.json"), string(raw))
	r.startRegistry(t, bin)
	t.Cleanup(func() {
		r.Stop()
		removeImages(r.Host)
	})
	return r
}

func writeFile(t testing.TB, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (r *Reg) startRegistry(t testing.TB, bin string) {
	t.Helper()
	r.cmd = exec.Command(bin, "serve", filepath.Join(r.dir, "config.yml"))
	log, err := os.Create(filepath.Join(r.dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	r.cmd.Stdout, r.cmd.Stderr = log, log
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Timeout: time.Second}
	testkit.Eventually(t, 20*time.Second, func() bool {
		resp, err := client.Get("http://" + r.Host + "/v2/")
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusOK || resp.StatusCode == http.StatusUnauthorized
	}, "the registry answers")
}

// Stop ends the registry, as if its host were down; what it holds stays.
func (r *Reg) Stop() {
	if r.cmd == nil {
		return
	}
	_ = r.cmd.Process.Kill()
	_ = r.cmd.Wait()
	r.cmd = nil
}

// Start starts a stopped registry again, at the same address.
func (r *Reg) Start(t testing.TB) {
	t.Helper()
	bin, err := exec.LookPath("docker-registry")
	if err != nil {
		t.Fatal(err)
	}
	r.startRegistry(t, bin)
}

// removeImages removes from the engine what was made for a registry, also what has lost its tag.
func removeImages(host string) {
	list, err := runCommand(nil, nil, "docker", "images", "-a", "--digests", "--no-trunc", "--format", "{{.Repository}} {{.ID}}")
	if err != nil {
		return
	}
	seen := map[string]bool{}
	for _, line := range strings.Split(list, "\n") {
		repo, id, _ := strings.Cut(line, " ")
		if strings.HasPrefix(repo, host+"/") && !seen[id] {
			seen[id] = true
			_, _ = runCommand(nil, nil, "docker", "rmi", "-f", id)
		}
	}
}
