package e2e

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// The statuses of the command line.
const (
	statusFailed  = 1
	statusMistake = 2
)

// startFails runs a core that cannot start and checks what it says.
func (c *core) startFails(status int, texts ...string) {
	c.t.Helper()
	c.launch()
	if got := c.wait(startWithin); got != status {
		c.t.Errorf("exit status %d, want %d", got, status)
	}
	contains(c.t, c.logs(), texts...)
	if pids := processes(built.plugins, c.cmd.Process.Pid); len(pids) > 0 {
		c.t.Errorf("plugins are left: %v", pids)
	}
}

// localHCL is a configuration on a folder of its own, without an account anywhere.
const localHCL = `
search "local" "docs" {
  config { folders = ["docs"] }
}
service "search" {
  backend = search.docs
}
`

// localCore prepares a core with one document.
func localCore(t testing.TB, hcl string, env ...string) *core {
	t.Helper()
	c := newCore(t, hcl, env...)
	if err := os.Mkdir(filepath.Join(c.dir, "docs"), 0o700); err != nil {
		t.Fatal(err)
	}
	text := "# Guide\n\nA plugin that crashes is started again by its host.\n"
	if err := os.WriteFile(filepath.Join(c.dir, "docs", "guide.md"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestStartSaysWhichAddressIsTaken(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	addr := l.Addr().String()
	for _, name := range []string{"SVC_HTTP_ADDR", "SVC_ADMIN_ADDR"} {
		localCore(t, localHCL, name+"="+addr).startFails(statusFailed, "the address "+addr+" is taken", name)
	}
}

func TestStartSaysThatTheDataDirectoryCannotBeWritten(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, "/proc/patchbay"} {
		localCore(t, localHCL, "SVC_DATA_DIR="+dir).startFails(statusFailed, "patchbay:", dir)
	}
}

func TestStartRefusesANewerDatabase(t *testing.T) {
	t.Parallel()
	c := localCore(t, localHCL)
	c.token()
	if _, err := c.writable(t).Exec("INSERT INTO goose_search (version_id, is_applied) VALUES (9999, 1)"); err != nil {
		t.Fatal(err)
	}
	c.startFails(statusFailed, "newer", "9999")
	if out := c.run("", "token", "create"); out.status != statusFailed || !strings.Contains(out.stderr, "newer") {
		t.Errorf("token create on a newer database: status %d: %s", out.status, out.stderr)
	}
}

func TestSecondCoreOnTheSameDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	eachStorage(t, func(t *testing.T, s storage) {
		first := localCore(t, s.hcl+localHCL)
		first.start()
		t.Cleanup(first.stop)
		second := localCore(t, s.hcl+localHCL, "SVC_DATA_DIR="+filepath.Join(first.dir, "data"))
		second.startFails(statusFailed, "one core may use a database at a time")
		first.search(t, first.token(), 200)
		first.kill9()
		second.start()
		t.Cleanup(second.stop)
	})
}

func TestStartSaysThatThePluginBinaryIsMissing(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "patchbay-plugins")
	localCore(t, localHCL, "SVC_PLUGIN_BINARY="+missing).startFails(statusFailed, missing, "make build", "SVC_PLUGIN_BINARY")
}

func TestStartRefusesABadMasterKey(t *testing.T) {
	t.Parallel()
	short := base64.StdEncoding.EncodeToString([]byte("short"))
	t.Run("too short", func(t *testing.T) {
		c := localCore(t, localHCL, "SVC_SECRET_KEY="+short)
		c.startFails(statusMistake, "SVC_SECRET_KEY", "5 bytes, want 32")
		if strings.Contains(c.logs(), short) {
			t.Error("the key is shown")
		}
	})
	t.Run("not base64", func(t *testing.T) {
		localCore(t, localHCL, "SVC_SECRET_KEY=!!").startFails(statusMistake, "SVC_SECRET_KEY")
	})
	for name, content := range map[string]string{"file too short": short, "file empty": "", "file is no text": "\xff\xfe\x00"} {
		t.Run(name, func(t *testing.T) {
			c := localCore(t, localHCL)
			c.token()
			path := filepath.Join(c.dir, "data", "master.key")
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			c.startFails(statusFailed, path)
		})
	}
	t.Run("file is a directory", func(t *testing.T) {
		c := localCore(t, localHCL)
		path := filepath.Join(c.dir, "data", "master.key")
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
		c.startFails(statusFailed, path)
	})
}

func TestStartNamesFileAndLineOfEachMistake(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ hcl, at, text string }{
		"unknown service":   {"service \"serach\" {}\n", "plugin.hcl line 1", "search"},
		"unknown backend":   {"service \"search\" {\n  backend = search.web\n}\n", "plugin.hcl line 2", "search.web"},
		"unknown plugin":    {"search \"tavly\" \"web\" {}\nservice \"search\" {\n  backend = search.web\n}\n", "plugin.hcl line 1", "tavily"},
		"relative base_url": {strings.Replace(localHCL, "backend", "base_url = \"search\"\n  backend", 1), "plugin.hcl line 6", "base_url"},
		"reserved base_url": {strings.Replace(localHCL, "backend", "base_url = \"/system\"\n  backend", 1), "plugin.hcl line 6", "/system"},
		"ftp base_url": {strings.Replace(localHCL, "backend", "base_url = \"ftp://example.org/\"\n  backend", 1), "plugin.hcl line 6",
			"base_url"},
		"plugin's own": {
			"search \"tavily\" \"web\" {\n  config {\n    base_url = \"nowhere\"\n  }\n}\nservice \"search\" {\n  backend = search.web\n}\n",
			"plugin.hcl line 3", "base_url",
		},
		"syntax": {"service \"search\" {\n", "plugin.hcl line 1", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := localCore(t, tt.hcl)
			c.startFails(statusMistake, tt.at, tt.text)
			if out := c.run("", "config", "check"); out.status != statusMistake || !strings.Contains(out.stderr, tt.at) {
				t.Errorf("config check: status %d: %s", out.status, out.stderr)
			}
		})
	}
	t.Run("no file", func(t *testing.T) {
		c := localCore(t, localHCL)
		if err := os.Remove(c.config); err != nil {
			t.Fatal(err)
		}
		c.startFails(statusMistake, "plugin.hcl")
	})
}

// thirdPartyHCL runs a search plugin of somebody else from a file, with an argument that is a file as well.
func thirdPartyHCL(path string) string {
	return fmt.Sprintf("plugin \"other\" {\n  path = %q\n  args = [\"search/local\"]\n}\n", path) +
		strings.ReplaceAll(localHCL, `search "local"`, `search "other"`)
}

func TestThirdPartyPluginsArePinned(t *testing.T) {
	t.Parallel()
	binary, err := os.ReadFile(built.plugins)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "other-plugin")
	if err := os.WriteFile(path, binary, 0o700); err != nil {
		t.Fatal(err)
	}
	c := localCore(t, thirdPartyHCL(path))
	c.startFails(statusMistake, "plugin.hcl line 1", "plugin lock", `"other"`)

	sum := sha256.Sum256(binary)
	contains(t, c.cli("plugin", "lock"), "other", hex.EncodeToString(sum[:]))
	c.start()
	c.search(t, c.token(), 200)
	c.stop()

	// A script in its place leaves a trace if anything of it runs.
	trace := filepath.Join(c.dir, "trace")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\ntouch "+trace+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	c.startFails(statusMistake, "checksum", "plugin lock")
	if out := c.run("", "config", "check"); out.status != statusMistake || !strings.Contains(out.stderr, "checksum") {
		t.Errorf("config check: status %d: %s", out.status, out.stderr)
	}
	if _, err := os.Stat(trace); err == nil {
		t.Error("the changed plugin has run")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	c.startFails(statusMistake, path)
}

func TestCommandsOnAnUnusableStorageEndSoon(t *testing.T) {
	t.Parallel()
	c := localCore(t, "storage \"postgres\" {\n  url = \"postgres://nobody:hunter2@"+testkit.FreeAddress(t)+"/none?sslmode=disable\"\n}\n"+localHCL)
	began := time.Now()
	c.startFails(statusFailed, "patchbay:")
	if took := time.Since(began); took > slower(15*time.Second) {
		t.Errorf("it took %s", took)
	}
	if strings.Contains(c.logs(), "hunter2") {
		t.Errorf("the password is shown: %s", c.logs())
	}
}
