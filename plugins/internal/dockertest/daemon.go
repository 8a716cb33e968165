package dockertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// Daemon is a container engine of a test's own, which the test may kill. A nil Daemon is the engine of this machine.
type Daemon struct {
	// Host is its address, as DOCKER_HOST has it.
	Host string

	dir string
	cmd *exec.Cmd
	log bytes.Buffer
}

// StartDaemon starts a container engine that ends with the test, together with everything in it.
func StartDaemon(t testing.TB) *Daemon {
	t.Helper()
	_, err := exec.LookPath("dockerd")
	testkit.Require(t, "dockerd", err == nil, "install docker.io")
	testkit.Require(t, "root", os.Geteuid() == 0, "run the test as root: it starts a container engine")
	_, err = exec.LookPath("ip")
	testkit.Require(t, "ip", err == nil, "install iproute2")
	// The path of a socket must be short, and the name of a network interface too.
	dir, err := os.MkdirTemp("", "pbd")
	if err != nil {
		t.Fatal(err)
	}
	d := &Daemon{Host: "unix://" + filepath.Join(dir, "docker.sock"), dir: dir}
	t.Cleanup(func() {
		if d.cmd != nil && d.cmd.ProcessState != nil {
			d.Start(t)
		}
		d.removeAll()
		if t.Failed() {
			t.Logf("end of the engine's log:\n%s", d.log.String()[max(0, d.log.Len()-8000):])
		}
	})
	// Without a bridge of its own the engine would take that of this machine's engine, or remove it.
	for _, args := range [][]string{{"link", "add", d.bridgeName(), "type", "bridge"},
		{"address", "add", fmt.Sprintf("10.214.%d.1/24", rand.IntN(256)), "dev", d.bridgeName()}, {"link", "set", d.bridgeName(), "up"}} {
		if _, err := runCommand(nil, nil, "ip", args...); err != nil {
			t.Fatalf("make a bridge: %v", err)
		}
	}
	d.Start(t)
	return d
}

// bridgeName is the network interface of the engine's default network.
func (d *Daemon) bridgeName() string { return filepath.Base(d.dir) }

// Start starts a killed engine again, and waits until it answers.
func (d *Daemon) Start(t testing.TB) {
	t.Helper()
	// Published ports are passed on by a proxy. An engine with address pools of its own would remove docker0 at its second start.
	d.cmd = exec.Command("dockerd", "--host", d.Host, "--data-root", filepath.Join(d.dir, "data"), "--exec-root",
		filepath.Join(d.dir, "exec"), "--pidfile", filepath.Join(d.dir, "docker.pid"),
		"--containerd-namespace", filepath.Base(d.dir), "--containerd-plugins-namespace", filepath.Base(d.dir)+"-plugins", "--bridge",
		d.bridgeName(), "--iptables=false")
	d.cmd.Stdout, d.cmd.Stderr = &d.log, &d.log
	if err := d.cmd.Start(); err != nil {
		t.Fatalf("start dockerd: %v", err)
	}
	testkit.Eventually(t, time.Minute, func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		return exec.CommandContext(ctx, "docker", d.clientArgs("version")...).Run() == nil
	}, "the engine of the test answers")
}

// Kill ends the engine with kill -9, and waits until the kernel has ended its containerd, too. The containers stay, as in a crash.
func (d *Daemon) Kill(t testing.TB) {
	t.Helper()
	d.endBy(t, syscall.SIGKILL)
}

// stopTime is how long an engine that stops in order may take for it.
const stopTime = 30 * time.Second

// Stop ends the engine as an orderly restart does, which stops the containers first. One that hangs meanwhile is killed, as a service
// manager does.
func (d *Daemon) Stop(t testing.TB) {
	t.Helper()
	late := time.AfterFunc(stopTime, func() { _ = d.cmd.Process.Kill() })
	defer late.Stop()
	d.endBy(t, syscall.SIGTERM)
}

// endBy sends the engine a signal, and waits until it has ended and its containerd, too: a new engine would take that for one that goes on.
func (d *Daemon) endBy(t testing.TB, signal os.Signal) {
	t.Helper()
	// Where containerd is a service of the machine, there is none of the engine.
	text, _ := os.ReadFile(filepath.Join(d.dir, "exec/containerd/containerd.pid"))
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	if err := d.cmd.Process.Signal(signal); err != nil {
		t.Fatalf("end dockerd: %v", err)
	}
	_ = d.cmd.Wait()
	if pid > 1 {
		testkit.Eventually(t, time.Minute, func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) },
			"the containerd of the engine ends")
	}
}

// removeAll ends the engine and removes all that it has made.
func (d *Daemon) removeAll() {
	defer func() {
		_, _ = runCommand(nil, nil, "ip", "link", "delete", d.bridgeName())
		_ = os.RemoveAll(d.dir)
	}()
	if d.cmd == nil || d.cmd.Process == nil {
		return
	}
	ids, _ := runCommand(nil, nil, "docker", d.clientArgs("ps", "-aq")...)
	if ids != "" {
		_, _ = runCommand(nil, nil, "docker", d.clientArgs(append([]string{"rm", "-f", "-v"}, strings.Fields(ids)...)...)...)
	}
	networks, _ := runCommand(nil, nil, "docker", d.clientArgs("network", "ls", "-q", "--filter", "type=custom")...)
	if networks != "" {
		_, _ = runCommand(nil, nil, "docker", d.clientArgs(append([]string{"network", "rm"}, strings.Fields(networks)...)...)...)
	}
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	ended := time.AfterFunc(20*time.Second, func() { _ = d.cmd.Process.Kill() })
	_ = d.cmd.Wait()
	ended.Stop()
	mounts, _ := os.ReadFile("/proc/self/mounts")
	lines := strings.Split(string(mounts), "\n")
	slices.Reverse(lines)
	for _, line := range lines {
		if fields := strings.Fields(line); len(fields) > 1 && strings.HasPrefix(fields[1], d.dir+"/") {
			_ = syscall.Unmount(fields[1], syscall.MNT_DETACH)
		}
	}
}

// clientArgs returns the arguments of a docker command for the engine.
func (d *Daemon) clientArgs(args ...string) []string {
	if d == nil {
		return args
	}
	return append([]string{"--host", d.Host}, args...)
}

// Docker runs the docker command and returns its standard output without surrounding space. The test fails if it does.
func (d *Daemon) Docker(t testing.TB, args ...string) string {
	t.Helper()
	out, err := runCommand(nil, nil, "docker", d.clientArgs(args...)...)
	if err != nil {
		t.Fatalf("docker %s: %v", strings.Join(args, " "), err)
	}
	return out
}

// Up runs a compose command in the directory of a project. The test fails if it does.
func (d *Daemon) Up(t testing.TB, bin ComposeBin, dir string, args ...string) {
	t.Helper()
	var env []string
	if d != nil {
		env = []string{"DOCKER_HOST=" + d.Host}
	}
	args = append([]string{"--project-directory", dir, "-p", filepath.Base(dir), "-f", composeFile(t, dir)}, args...)
	if _, err := runCommand(env, nil, bin.Path, args...); err != nil {
		t.Fatalf("compose %s %s: %v", bin.Name, strings.Join(args, " "), err)
	}
}

// FindContainer is the id of the one container of a service, running or not; empty if there is none.
func (d *Daemon) FindContainer(t testing.TB, dir, service string) string {
	t.Helper()
	return d.Docker(t, "ps", "-aq", "--no-trunc", "--filter", "label=com.docker.compose.project="+filepath.Base(dir),
		"--filter", "label=com.docker.compose.service="+service)
}
