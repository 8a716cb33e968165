package supervisor

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/internal/systemdtest"
)

// servingVersions are services of which one tells the version at /api/version. No engine is needed for that.
const servingVersions = `
registry "oci" "default" {}
engine "docker" "local" {
  config { host = "unix:///nowhere.sock" }
}
service "containers" {
  engine     = engine.local
  registries = registry.default
}
`

// TestUnit upgrades a core under a service manager to a release of the release tool and to another one, and takes both back.
func TestUnit(t *testing.T) {
	t.Parallel()
	s := startUnitSite(t, servingVersions)
	s.holds("at first", firstVersion)
	askSupervisor(s.Supervised, http.MethodPost, "/self-upgrade/rollback", `{}`, http.StatusBadRequest)
	s.makeRelease("v0.2.0", "0.2.0")

	pid := s.manager.PID()
	beginUpgrade(s.Supervised, "v0.2.0", "dry-run")
	if st := waitForState(s.Supervised, "succeeded"); st.Target.Version != "0.2.0" || st.Previous.Version != firstVersion ||
		!strings.HasPrefix(st.Target.Digest, "sha256:") || !strings.Contains(st.Progress.Message, "Would replace") {
		t.Errorf("the dry run found %+v", st)
	}
	if s.holds("after the dry run", firstVersion); s.manager.PID() != pid {
		t.Error("the dry run has restarted the core")
	}
	beginUpgrade(s.Supervised, "v0.2.0", "apply")
	askSupervisor(s.Supervised, http.MethodPost, "/self-upgrade", `{"target":{"tag":"other"},"mode":"apply"}`, http.StatusConflict)
	waitForState(s.Supervised, "succeeded")
	s.holds("after the upgrade", "0.2.0")
	pid = s.manager.PID()
	beginUpgrade(s.Supervised, "v0.2.0", "apply")
	if st := waitForState(s.Supervised, "succeeded"); s.manager.PID() != pid || !strings.Contains(st.Progress.Message, "already") {
		t.Errorf("the same version once more: %s", st.Progress.Message)
	}

	s.publish("0.3.0", "0.3.0", s.sources["0.3.0"])
	beginUpgrade(s.Supervised, "0.3.0", "apply")
	waitForState(s.Supervised, "succeeded")
	s.holds("after the second upgrade", "0.3.0")
	kit.Must(t, os.Rename(filepath.Join(s.releases, "v0.2.0"), filepath.Join(s.releases, "latest")))
	beginUpgrade(s.Supervised, "latest", "apply")
	if st := waitForState(s.Supervised, "failed"); !strings.Contains(st.Progress.Message, "older") {
		t.Errorf("an older version under the name latest: %s", st.Progress.Message)
	}
	for _, want := range []string{"0.2.0", firstVersion} {
		askSupervisor(s.Supervised, http.MethodPost, "/self-upgrade/rollback", `{}`, http.StatusOK)
		waitForState(s.Supervised, "rolled_back")
		s.holds("after a rollback", want)
	}
	askSupervisor(s.Supervised, http.MethodPost, "/self-upgrade/rollback", `{}`, http.StatusBadRequest)
	if left := s.folders(); len(left) != 2 {
		t.Errorf("versions are kept for nothing: %q", left)
	}
	answer := askSupervisor(s.Supervised, http.MethodPost, "/self-upgrade", fmt.Sprintf(`{"target":{"digest":"sha256:%064d"},"mode":"apply"}`, 0),
		http.StatusBadRequest)
	kit.Contains(t, string(answer), "target.tag")
}

// makeRelease publishes what the release tool makes of the binaries of a version.
func (s *unitSite) makeRelease(tag, version string) {
	s.T.Helper()
	tool, dir := filepath.Join(s.T.TempDir(), "release"), filepath.Join(s.releases, tag)
	kit.RunHost(s.T, filepath.Join(kit.Root(), "core/tools/release"), "go", "build", "-buildvcs=false", "-trimpath", "-o", tool, ".")
	kit.RunHost(s.T, kit.Root(), tool, "-version", version, "-arch", runtime.GOARCH, "-formats", "tar.gz", "-unsigned", "-binaries",
		s.sources[version], "-out", dir)
	s.sign(dir)
}

// folders returns what lies in the directory of the versions.
func (s *unitSite) folders() (names []string) {
	s.T.Helper()
	entries, err := os.ReadDir(s.opt)
	kit.Must(s.T, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestUnitRefusesReleases: a release that is not what was signed, or cannot start, changes nothing; one that does not serve is taken back.
func TestUnitRefusesReleases(t *testing.T) {
	t.Parallel()
	s := startUnitSite(t, servingVersions)
	archive := fmt.Sprintf("patchbay_0.2.0_linux_%s.tar.gz", runtime.GOARCH)
	change := func(tag, name string, edit func([]byte) []byte) {
		path := filepath.Join(s.releases, tag, name)
		raw, err := os.ReadFile(path)
		kit.Must(t, err)
		kit.Must(t, os.WriteFile(path, edit(raw), 0o644))
	}
	s.publish("good", "0.2.0", s.sources["0.2.0"])
	for tag, spoil := range map[string]func(tag string){
		"changed-sums": func(tag string) { change(tag, "SHA256SUMS", func(b []byte) []byte { return append(b, '\n') }) },
		"other-signature": func(tag string) {
			change(tag, "SHA256SUMS.minisig", func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("timestamp"), []byte("Timestamp")) })
		},
		"changed-archive": func(tag string) { change(tag, archive, func(b []byte) []byte { b[len(b)/2] ^= 1; return b }) },
		"cut-off":         func(tag string) { change(tag, archive, func(b []byte) []byte { return b[:len(b)/2] }) },
		"unsigned":        func(tag string) { kit.Must(t, os.Remove(filepath.Join(s.releases, tag, "SHA256SUMS.minisig"))) },
		"0.9.0":           func(string) {},
	} {
		kit.Must(t, os.CopyFS(filepath.Join(s.releases, tag), os.DirFS(filepath.Join(s.releases, "good"))))
		spoil(tag)
	}
	s.publishWrong("9.0.0", systemdtest.Behaviour{CannotStart: true})
	s.publishWrong("9.1.0", systemdtest.Behaviour{Prints: "9.1.1"})
	pid := s.manager.PID()
	for tag, says := range map[string]string{
		"changed-sums": "signature", "other-signature": "signature", "changed-archive": "checksum", "cut-off": "checksum",
		"unsigned": "does not exist", "0.9.0": "instead of 0.9.0",
		"there-is-none": "no such release", "9.0.0": "cannot start", "9.1.0": "9.1.1",
	} {
		beginUpgrade(s.Supervised, tag, "apply")
		if st := waitForState(s.Supervised, "failed"); !strings.Contains(st.Progress.Message, says) {
			t.Errorf("%s: %q does not say %q", tag, st.Progress.Message, says)
		}
	}
	if s.holds("after releases that are refused", firstVersion); s.manager.PID() != pid {
		t.Error("a release that is refused has restarted the core")
	}
	s.publishWrong("9.2.0", systemdtest.Behaviour{Prints: "9.2.0", Crashes: true})
	s.publishWrong("9.3.0", systemdtest.Behaviour{Prints: "9.3.0", Answers: "0.2.0"})
	s.publishWrong("9.4.0", systemdtest.Behaviour{Prints: "9.4.0", Answers: "9.4.0", Unhealthy: true})
	s.publishWrong("9.5.0", systemdtest.Behaviour{Prints: "9.5.0", Answers: "9.5.0", NeverReady: true})
	for tag, says := range map[string]string{"9.2.0": "exited with error code", "9.3.0": "version 0.2.0 instead of 9.3.0",
		"9.4.0": "status 503", "9.5.0": "timeout"} {
		beginUpgrade(s.Supervised, tag, "apply")
		if st := waitForState(s.Supervised, "rolled_back"); !strings.Contains(st.Progress.Message, says) {
			t.Errorf("%s: %q does not say %q", tag, st.Progress.Message, says)
		}
		s.holds("after "+tag, firstVersion)
	}
	s.manager.Exec[0] = filepath.Join(s.opt, "first", "patchbay")
	beginUpgrade(s.Supervised, "good", "apply")
	if st := waitForState(s.Supervised, "failed"); !strings.Contains(st.Progress.Message, "drop-in") {
		t.Errorf("a unit that does not start the link: %s", st.Progress.Message)
	}
}

// TestUnitSupervisorIsKilled: an operation goes on after a kill -9 at each of its steps, and ends with exactly the new binaries or
// exactly the former ones.
func TestUnitSupervisorIsKilled(t *testing.T) {
	t.Parallel()
	// No service of this core has /api/version.
	s := startUnitSite(t, "search \"local\" \"docs\" {\n  config {\n    folders = [\"/usr/share/doc/base-files\"]\n  }\n}\nservice \"search\" {\n  backend = search.docs\n}\n")
	s.publish("0.2.0", "0.2.0", s.sources["0.2.0"])
	s.publish("0.3.0", "0.3.0", s.sources["0.3.0"])
	s.publishWrong("9.2.0", systemdtest.Behaviour{Prints: "9.2.0", Crashes: true})
	// Killed at switched, the supervisor has replaced the link, and restarted nothing.
	const switched = "switched"
	interrupt := func(step string, begin func()) {
		thaw := func() {}
		if step == switched {
			thaw = s.manager.Freeze()
		}
		folder := s.current()
		begin()
		if step == switched {
			s.switchesFrom(folder)
		} else {
			waitForUpgradeStep(s.Supervised, step)
		}
		s.Kill()
		thaw()
		s.Start()
	}
	version := ""
	for i, step := range []string{"precheck", "pull", "check_image", "apply", switched, "wait_healthy"} {
		version = []string{"0.2.0", "0.3.0"}[i%2]
		interrupt(step, func() { beginUpgrade(s.Supervised, version, "apply") })
		waitForState(s.Supervised, "succeeded")
		s.holds("killed at "+step, version)
	}
	for _, step := range []string{"rollback", "rollback_wait_healthy"} {
		interrupt(step, func() { beginUpgrade(s.Supervised, "9.2.0", "apply") })
		waitForState(s.Supervised, "rolled_back")
		s.holds("killed at "+step, version)
	}
	interrupt(switched, func() { askSupervisor(s.Supervised, http.MethodPost, "/self-upgrade/rollback", `{}`, http.StatusOK) })
	waitForState(s.Supervised, "rolled_back")
	s.holds("killed while a rollback by hand had switched", "0.2.0")
}

// TestUnitPage: the page speaks of releases and binaries, not of images.
func TestUnitPage(t *testing.T) {
	t.Parallel()
	s := startUnitSite(t, servingVersions)
	s.publish("0.2.0", "0.2.0", s.sources["0.2.0"])
	beginUpgrade(s.Supervised, "0.2.0", "apply")
	waitForState(s.Supervised, "succeeded")
	for language, words := range map[string]struct {
		has  []string
		lack string
	}{
		"en": {[]string{"Download", "Try the binaries", "former binaries come back", "The tag of a release at http"}, "image"},
		"zh": {[]string{"下载", "试运行程序文件", "将恢复原程序文件"}, "镜像"},
	} {
		req, err := http.NewRequest(http.MethodGet, s.Base+"/supervisor/", nil)
		kit.Must(t, err)
		req.Header.Set("Accept-Language", language)
		req.Header.Set("Accept", "text/html")
		resp, err := http.DefaultClient.Do(req)
		kit.Must(t, err)
		var page bytes.Buffer
		_, err = page.ReadFrom(resp.Body)
		kit.Must(t, err)
		kit.Must(t, resp.Body.Close())
		_, body, _ := strings.Cut(page.String(), "<main")
		kit.Contains(t, body, words.has...)
		if strings.Contains(body, words.lack) {
			t.Errorf("%s: the page says %q:\n%s", language, words.lack, body)
		}
	}
}
