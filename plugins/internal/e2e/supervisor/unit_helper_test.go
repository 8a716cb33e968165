package supervisor

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/internal/systemdtest"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// firstVersion is that of the binaries under test.
const firstVersion = "0.1.0-dev"

// unitSite is a core as a unit, with a supervisor that looks after it and a server of releases.
type unitSite struct {
	*kit.Supervised
	manager *systemdtest.Manager
	// opt is the directory of the versions, releases what the server serves, and key the minisign key without its suffix.
	opt, releases, key string
	// sources are the directories of the binaries of each version.
	sources map[string]string
}

// compileUnit compiles what the tests of units need, once: two more versions of the core, a core that is wrong, and systemctl.
var compileUnit = sync.OnceValues(func() (dir string, err error) {
	dir, err = os.MkdirTemp(kit.Scratch, "unit")
	if err != nil {
		return "", err
	}
	for _, version := range []string{"0.2.0", "0.3.0"} {
		out := filepath.Join(dir, version)
		cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w -X github.com/patchbay-dev/patchbay/core/cli.Version="+version, "-o",
			filepath.Join(out, "patchbay"), "./core/cmd/patchbay")
		cmd.Dir, cmd.Env = kit.Root(), append(os.Environ(), "CGO_ENABLED=1")
		if text, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("build %s: %w: %s", version, err, text)
		}
		if err := os.Link(kit.Built.Plugins, filepath.Join(out, "patchbay-plugins")); err != nil {
			if err := copyProgram(kit.Built.Plugins, filepath.Join(out, "patchbay-plugins")); err != nil {
				return "", err
			}
		}
	}
	if err := kit.GoBuild(filepath.Join(dir, "core"), "plugins/internal/systemdtest/core", false); err != nil {
		return "", err
	}
	return dir, kit.GoBuild(filepath.Join(dir, "systemctl"), "plugins/internal/systemdtest/systemctl", false)
})

// copyProgram copies a file, which can be executed then.
func copyProgram(from, to string) error {
	raw, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, raw, 0o755)
}

// startUnitSite starts the unit with the first version, and a supervisor. services are blocks of the core's configuration.
func startUnitSite(t *testing.T, services string) *unitSite {
	t.Helper()
	_, err := exec.LookPath("minisign")
	testkit.Require(t, "minisign", err == nil, "install minisign")
	compiled, err := compileUnit()
	kit.Must(t, err)
	s := &unitSite{releases: t.TempDir(), opt: t.TempDir(), key: filepath.Join(t.TempDir(), "key"), sources: map[string]string{
		firstVersion: filepath.Join(t.TempDir(), "first"), "0.2.0": filepath.Join(compiled, "0.2.0"), "0.3.0": filepath.Join(compiled, "0.3.0"),
	}}
	kit.Must(t, os.Chmod(s.opt, 0o755))
	for name, program := range map[string]string{"patchbay": kit.Built.Core, "patchbay-plugins": kit.Built.Plugins} {
		kit.Must(t, copyProgram(program, filepath.Join(s.sources[firstVersion], name)))
		kit.Must(t, copyProgram(program, filepath.Join(s.opt, "first", name)))
	}
	kit.Must(t, os.Symlink("first", filepath.Join(s.opt, "current")))
	kit.RunHost(t, "", "minisign", "-G", "-W", "-p", s.key+".pub", "-s", s.key+".sec")
	public, err := os.ReadFile(s.key + ".pub")
	kit.Must(t, err)
	server := httptest.NewServer(http.FileServer(http.Dir(s.releases)))
	t.Cleanup(server.Close)
	c := kit.NewCore(t, fmt.Sprintf(`%s
supervisor {
  health_timeout = "10s"
  systemd {
    dir        = %q
    url        = "%s/{tag}/"
    public_key = %q
  }
}
`, services, s.opt, server.URL, strings.Fields(string(public))[len(strings.Fields(string(public)))-1]),
		"SVC_SUPERVISOR_HTTP_ADDR=127.0.0.1:0", fmt.Sprintf("SVC_HTTP_ADDR=127.0.0.1:%d", testkit.FreePort(t)))
	s.Supervised = &kit.Supervised{Core: c}
	var log kit.Lines
	s.manager = &systemdtest.Manager{Unit: "patchbay.service", Exec: s.unitCommand(), Log: &log}
	for _, v := range c.Env {
		if !strings.HasPrefix(v, "SVC_PLUGIN_BINARY=") {
			s.manager.Env = append(s.manager.Env, v)
		}
	}
	bin := s.manager.Open(t, filepath.Join(compiled, "systemctl"))
	c.Env = append(c.Env, "PATH="+bin+":"+os.Getenv("PATH"))
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log of the core:\n%s", kit.LastLines(log.String(), 60))
		}
	})
	if err := s.manager.Restart(); err != nil {
		t.Fatalf("the unit does not start: %v\n%s", err, log.String())
	}
	s.Command = "supervise"
	s.Start()
	t.Cleanup(func() {
		s.Stop()
		if t.Failed() {
			t.Logf("log of the supervisor:\n%s", kit.LastLines(s.Logs(), 80))
		}
	})
	return s
}

// unitCommand returns the command line of the drop-in that is shipped, with the directories of the test.
func (s *unitSite) unitCommand() []string {
	text, err := os.ReadFile(filepath.Join(kit.Root(), "examples/deploy/systemd/supervised.conf"))
	if err != nil {
		panic(err)
	}
	_, line, _ := strings.Cut(string(text), "\nExecStart=/opt/")
	line, _, _ = strings.Cut("/opt/"+line, "\n")
	return strings.Fields(strings.NewReplacer("/opt/patchbay", s.opt, "/etc/patchbay/plugin.hcl", s.Config).Replace(line))
}

// publish makes a release of a version, of the binaries of a directory, and signs it.
func (s *unitSite) publish(tag, version, binaries string) {
	s.T.Helper()
	dir, name := filepath.Join(s.releases, tag), fmt.Sprintf("patchbay_%s_linux_%s", version, runtime.GOARCH)
	kit.Must(s.T, os.MkdirAll(dir, 0o755))
	f, err := os.Create(filepath.Join(dir, name+".tar.gz"))
	kit.Must(s.T, err)
	sum := sha256.New()
	z, err := gzip.NewWriterLevel(io.MultiWriter(f, sum), gzip.BestSpeed)
	kit.Must(s.T, err)
	w := tar.NewWriter(z)
	for _, file := range []string{"patchbay", "patchbay-plugins"} {
		raw, err := os.ReadFile(filepath.Join(binaries, file))
		kit.Must(s.T, err)
		kit.Must(s.T, w.WriteHeader(&tar.Header{Name: name + "/" + file, Mode: 0o755, Size: int64(len(raw)), Typeflag: tar.TypeReg}))
		_, err = w.Write(raw)
		kit.Must(s.T, err)
	}
	kit.Must(s.T, w.Close())
	kit.Must(s.T, z.Close())
	kit.Must(s.T, f.Close())
	kit.Must(s.T, os.WriteFile(filepath.Join(dir, "SHA256SUMS"), fmt.Appendf(nil, "%s  %s.tar.gz\n", hex.EncodeToString(sum.Sum(nil)), name),
		0o644))
	s.sign(dir)
}

// sign signs the checksums of a release.
func (s *unitSite) sign(dir string) {
	s.T.Helper()
	kit.RunHost(s.T, dir, "minisign", "-S", "-s", s.key+".sec", "-m", "SHA256SUMS")
}

// publishWrong publishes a core that is wrong, under a version and a tag of that name.
func (s *unitSite) publishWrong(version string, b systemdtest.Behaviour) {
	s.T.Helper()
	compiled, err := compileUnit()
	kit.Must(s.T, err)
	dir := s.T.TempDir()
	kit.Must(s.T, copyProgram(filepath.Join(compiled, "core"), filepath.Join(dir, "patchbay")))
	raw, err := json.Marshal(b)
	kit.Must(s.T, err)
	kit.Must(s.T, os.WriteFile(filepath.Join(dir, "patchbay-plugins"), raw, 0o755))
	s.publish(version, version, dir)
}

// current is the folder in use.
func (s *unitSite) current() string {
	s.T.Helper()
	folder, err := os.Readlink(filepath.Join(s.opt, "current"))
	kit.Must(s.T, err)
	return folder
}

// holds fails the test unless exactly the binaries of a version are in use, the unit runs them, and they answer.
func (s *unitSite) holds(what, version string) {
	s.T.Helper()
	folder := s.current()
	for _, name := range []string{"patchbay", "patchbay-plugins"} {
		if got, want := sumOf(s.T, filepath.Join(s.opt, folder, name)), sumOf(s.T, filepath.Join(s.sources[version], name)); got != want {
			s.T.Fatalf("%s: %s in %s is not that of %s", what, name, folder, version)
		}
	}
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", s.manager.PID()))
	if want := filepath.Join(s.opt, folder, "patchbay"); err != nil || exe != want {
		s.T.Fatalf("%s: the unit runs %s (%v), want %s", what, exe, err, want)
	}
	if plugins := kit.Processes(filepath.Join(s.opt, folder, "patchbay-plugins"), s.manager.PID()); len(plugins) == 0 {
		s.T.Errorf("%s: the core runs no plugin of its version", what)
	}
	if got := s.Run("", "status", "-o", "json").Stdout; !strings.Contains(got, fmt.Sprintf("%q: %q", "version", version)) {
		s.T.Fatalf("%s: the core says %s", what, got)
	}
}

func sumOf(t testing.TB, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	kit.Must(t, err)
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// switchesFrom waits until the link names another folder than it did.
func (s *unitSite) switchesFrom(folder string) {
	s.T.Helper()
	kit.Eventually(s.T, time.Minute, "the link is replaced", func() bool { return s.current() != folder })
}
