package docker_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"

	"github.com/patchbay-dev/patchbay/plugins/engine/docker"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/plugintest"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
)

// envParent makes the test's executable the parent of a plugin: it holds the plugin's path and a directory.
const envParent = "ENGINE_DOCKER_TEST_PARENT"

// parent starts a plugin as the core does and runs a compose command that does not end.
func parent() {
	path, dir, _ := strings.Cut(os.Getenv(envParent), "|")
	c := plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig: framework.Handshake(), Plugins: plugin.PluginSet{}, Cmd: exec.Command(path, "engine/docker"),
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC}, Logger: hclog.NewNullLogger(),
	})
	rpc, err := c.Client()
	if err != nil {
		fmt.Println("failed", err)
		return
	}
	conn := rpc.(*plugin.GRPCClient).Conn
	ctx := context.Background()
	config := &pluginv1.Config{InstanceId: "a", Kind: engine.Kind, Name: "a", Json: []byte("{}"), BaseDir: dir}
	if _, err := pluginv1.NewPluginClient(conn).Configure(ctx, &pluginv1.ConfigureRequest{Config: config}); err != nil {
		fmt.Println("failed", err)
		return
	}
	fmt.Println("plugin", c.ReattachConfig().Pid)
	_, err = engine.NewClient(conn, "a").Compose(ctx, lasting(dir), func(l engine.Line) error {
		_, err := fmt.Println(l.Text)
		return err
	})
	fmt.Println("failed", err)
}

// lastingScript is a compose command that goes on for ever, with a child that has left its process group and ignores
// signals.
const lastingScript = `#!/bin/sh
case "$*" in
*--help*) echo "--no-deps --pull "; exit ;;
*version*) echo 2.0.0; exit ;;
esac
echo compose $$
setsid sh -c 'trap "" TERM; echo child $$; while :; do sleep 1; done' &
while :; do sleep 1; done
`

func lasting(dir string) engine.ComposeRequest {
	return engine.ComposeRequest{
		Bin: filepath.Join(dir, "compose"), Action: engine.ActionStop, Project: "p", WorkingDir: dir,
		Files: []string{filepath.Join(dir, "c.yaml")},
	}
}

func writeScript(t *testing.T, dir string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "compose"), []byte(lastingScript), 0o755); err != nil {
		t.Fatal(err)
	}
}

func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !strings.Contains(string(raw), ") Z ")
}

func TestComposeDiesWithTheCore(t *testing.T) {
	path, err := executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, victim := range []string{"core", "plugin"} {
		t.Run(victim, func(t *testing.T) {
			dir := t.TempDir()
			writeScript(t, dir)
			core := exec.Command(os.Args[0])
			core.Env = append(os.Environ(), envParent+"="+path+"|"+dir)
			out, err := core.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := core.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = core.Process.Kill(); _ = core.Wait() }()
			pids := map[string]int{"core": core.Process.Pid}
			for s := bufio.NewScanner(out); len(pids) < 4 && s.Scan(); {
				name, number, _ := strings.Cut(s.Text(), " ")
				pid, err := strconv.Atoi(number)
				if err != nil {
					t.Fatalf("the parent says %q", s.Text())
				}
				pids[name] = pid
			}
			if len(pids) < 4 {
				t.Fatalf("only these came up: %v", pids)
			}
			if err := syscall.Kill(pids[victim], syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"plugin", "compose", "child"} {
				testkit.Eventually(t, 15*time.Second, func() bool { return !alive(pids[name]) }, name+" is gone")
			}
		})
	}
}

func TestComposeEndsWithItsCaller(t *testing.T) {
	dir := t.TempDir()
	writeScript(t, dir)
	l := plugintest.Load(t, docker.Declare(executable))
	c := engine.NewClient(l.Conn, l.Configure(t, plugintest.Config(t, engine.Kind, "local", "{}")))
	for name, end := range map[string]func(context.CancelFunc) error{
		"context":  func(cancel context.CancelFunc) error { cancel(); return nil },
		"receiver": func(context.CancelFunc) error { return errEnough },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var pids []int
			_, err := c.Compose(ctx, lasting(dir), func(line engine.Line) error {
				_, number, _ := strings.Cut(line.Text, " ")
				pid, _ := strconv.Atoi(number)
				if pids = append(pids, pid); len(pids) == 2 {
					return end(cancel)
				}
				return nil
			})
			if err == nil || len(pids) < 2 {
				t.Fatalf("%v, %v", err, pids)
			}
			for _, pid := range pids {
				testkit.Eventually(t, 10*time.Second, func() bool { return !alive(pid) }, "the process is gone")
			}
		})
	}
}
