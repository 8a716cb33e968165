package core

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

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// The statuses of the command line.
const (
	statusFailed  = 1
	statusMistake = 2
)

// startFails runs a core that cannot start and checks what it says.
func startFails(c *kit.Core, status int, texts ...string) {
	c.T.Helper()
	c.Launch()
	if got := waitForExit(c, kit.StartWithin); got != status {
		c.T.Errorf("exit status %d, want %d", got, status)
	}
	kit.Contains(c.T, c.Logs(), texts...)
	if pids := kit.Processes(kit.Built.Plugins, c.Cmd.Process.Pid); len(pids) > 0 {
		c.T.Errorf("plugins are left: %v", pids)
	}
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
		startFails(kit.LocalCore(t, kit.LocalHCL, name+"="+addr), statusFailed, "the address "+addr+" is taken", name)
	}
}

func TestStartSaysThatTheDataDirectoryCannotBeWritten(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, "/proc/patchbay"} {
		startFails(kit.LocalCore(t, kit.LocalHCL, "SVC_DATA_DIR="+dir), statusFailed, "patchbay:", dir)
	}
}

func TestStartRefusesANewerDatabase(t *testing.T) {
	t.Parallel()
	c := kit.LocalCore(t, kit.LocalHCL)
	c.Token()
	if _, err := c.Writable(t).Exec("INSERT INTO goose_search (version_id, is_applied) VALUES (9999, 1)"); err != nil {
		t.Fatal(err)
	}
	startFails(c, statusFailed, "newer", "9999")
	if out := c.Run("", "token", "create"); out.Status != statusFailed || !strings.Contains(out.Stderr, "newer") {
		t.Errorf("token create on a newer database: status %d: %s", out.Status, out.Stderr)
	}
}

func TestSecondCoreOnTheSameDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	kit.EachStorage(t, func(t *testing.T, s kit.Storage) {
		first := kit.LocalCore(t, s.HCL+kit.LocalHCL)
		first.Start()
		t.Cleanup(first.Stop)
		second := kit.LocalCore(t, s.HCL+kit.LocalHCL, "SVC_DATA_DIR="+filepath.Join(first.Dir, "data"))
		startFails(second, statusFailed, "one core may use a database at a time")
		if s.Postgres != "" {
			startFails(kit.LocalCore(t, s.HCL+kit.LocalHCL, "SVC_REPLICAS=true", kit.NewMasterKey()),
				statusFailed, "several with replicas = true (SVC_REPLICAS) on PostgreSQL")
		}
		first.Search(t, first.Token(), 200)
		first.Kill()
		second.Start()
		t.Cleanup(second.Stop)
	})
}

func TestStartSaysThatThePluginBinaryIsMissing(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "patchbay-plugins")
	startFails(kit.LocalCore(t, kit.LocalHCL, "SVC_PLUGIN_BINARY="+missing), statusFailed, missing, "make build", "SVC_PLUGIN_BINARY")
}

func TestStartRefusesABadMasterKey(t *testing.T) {
	t.Parallel()
	short := base64.StdEncoding.EncodeToString([]byte("short"))
	t.Run("too short", func(t *testing.T) {
		c := kit.LocalCore(t, kit.LocalHCL, "SVC_SECRET_KEY="+short)
		startFails(c, statusMistake, "SVC_SECRET_KEY", "5 bytes, want 32")
		if strings.Contains(c.Logs(), short) {
			t.Error("the key is shown")
		}
	})
	t.Run("not base64", func(t *testing.T) {
		startFails(kit.LocalCore(t, kit.LocalHCL, "SVC_SECRET_KEY=!!"), statusMistake, "SVC_SECRET_KEY")
	})
	for name, content := range map[string]string{"file too short": short, "file empty": "", "file is no text": "\xff\xfe\x00"} {
		t.Run(name, func(t *testing.T) {
			c := kit.LocalCore(t, kit.LocalHCL)
			c.Token()
			path := filepath.Join(c.Dir, "data", "master.key")
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			startFails(c, statusFailed, path)
		})
	}
	t.Run("file is a directory", func(t *testing.T) {
		c := kit.LocalCore(t, kit.LocalHCL)
		path := filepath.Join(c.Dir, "data", "master.key")
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
		startFails(c, statusFailed, path)
	})
}

func TestStartNamesFileAndLineOfEachMistake(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ hcl, at, text string }{
		"unknown service":   {"service \"serach\" {}\n", "plugin.hcl line 1", "search"},
		"unknown backend":   {"service \"search\" {\n  backend = search.web\n}\n", "plugin.hcl line 2", "search.web"},
		"unknown plugin":    {"search \"tavly\" \"web\" {}\nservice \"search\" {\n  backend = search.web\n}\n", "plugin.hcl line 1", "tavily"},
		"relative base_url": {strings.Replace(kit.LocalHCL, "backend", "base_url = \"search\"\n  backend", 1), "plugin.hcl line 6", "base_url"},
		"reserved base_url": {strings.Replace(kit.LocalHCL, "backend", "base_url = \"/system\"\n  backend", 1), "plugin.hcl line 6", "/system"},
		"ftp base_url": {strings.Replace(kit.LocalHCL, "backend", "base_url = \"ftp://example.org/\"\n  backend", 1), "plugin.hcl line 6",
			"base_url"},
		"plugin's own": {
			"search \"tavily\" \"web\" {\n  config {\n    base_url = \"nowhere\"\n  }\n}\nservice \"search\" {\n  backend = search.web\n}\n",
			"plugin.hcl line 3", "base_url",
		},
		"syntax": {"service \"search\" {\n", "plugin.hcl line 1", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := kit.LocalCore(t, tt.hcl)
			startFails(c, statusMistake, tt.at, tt.text)
			if out := c.Run("", "config", "check"); out.Status != statusMistake || !strings.Contains(out.Stderr, tt.at) {
				t.Errorf("config check: status %d: %s", out.Status, out.Stderr)
			}
		})
	}
	t.Run("no file", func(t *testing.T) {
		c := kit.LocalCore(t, kit.LocalHCL)
		if err := os.Remove(c.Config); err != nil {
			t.Fatal(err)
		}
		startFails(c, statusMistake, "plugin.hcl")
	})
}

// thirdPartyHCL runs a search plugin of somebody else from a file, with an argument that is a file as well.
func thirdPartyHCL(path string) string {
	return fmt.Sprintf("plugin \"other\" {\n  path = %q\n  args = [\"search/local\"]\n}\n", path) +
		strings.ReplaceAll(kit.LocalHCL, `search "local"`, `search "other"`)
}

func TestThirdPartyPluginsArePinned(t *testing.T) {
	t.Parallel()
	binary, err := os.ReadFile(kit.Built.Plugins)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "other-plugin")
	if err := os.WriteFile(path, binary, 0o700); err != nil {
		t.Fatal(err)
	}
	c := kit.LocalCore(t, thirdPartyHCL(path))
	startFails(c, statusMistake, "plugin.hcl line 1", "plugin lock", `"other"`)

	sum := sha256.Sum256(binary)
	kit.Contains(t, c.CLI("plugin", "lock"), "other", hex.EncodeToString(sum[:]))
	c.Start()
	c.Search(t, c.Token(), 200)
	c.Stop()

	// A script in its place leaves a trace if anything of it runs.
	trace := filepath.Join(c.Dir, "trace")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\ntouch "+trace+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	startFails(c, statusMistake, "checksum", "plugin lock")
	if out := c.Run("", "config", "check"); out.Status != statusMistake || !strings.Contains(out.Stderr, "checksum") {
		t.Errorf("config check: status %d: %s", out.Status, out.Stderr)
	}
	if _, err := os.Stat(trace); err == nil {
		t.Error("the changed plugin has run")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	startFails(c, statusMistake, path)
}

func TestCommandsOnAnUnusableStorageEndSoon(t *testing.T) {
	t.Parallel()
	c := kit.LocalCore(t, "storage \"postgres\" {\n  url = \"postgres://nobody:hunter2@"+testkit.FreeAddress(t)+"/none?sslmode=disable\"\n}\n"+kit.LocalHCL)
	began := time.Now()
	startFails(c, statusFailed, "patchbay:")
	if took := time.Since(began); took > kit.Slower(15*time.Second) {
		t.Errorf("it took %s", took)
	}
	if strings.Contains(c.Logs(), "hunter2") {
		t.Errorf("the password is shown: %s", c.Logs())
	}
}
