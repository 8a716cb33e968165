package kit

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Core is a core process with a directory of its own. Its addresses change with a restart.
type Core struct {
	T      testing.TB
	Dir    string
	Config string
	Env    []string
	// Command is what the process does.
	Command string
	// Binary, if set, is a core of another version than the one under test.
	Binary string

	Cmd   *exec.Cmd
	Ended chan struct{}
	err   error
	Base  string
	// Engine is the container engine that the core sees.
	Engine *EngineView
	// Key, if set, is the API key of the calls that name no token.
	Key   string
	Admin string

	mu  sync.Mutex
	log strings.Builder
	// ready gets the log line that tells the addresses.
	ready chan string
}

const (
	// StartWithin is how long a start usually takes at most.
	StartWithin = 20 * time.Second
	// StopWithin is how long an end usually takes at most.
	StopWithin = 20 * time.Second
)

// NewCore writes a configuration into a directory without starting anything. Settings in env override the usual ones.
func NewCore(t testing.TB, hcl string, env ...string) *Core {
	t.Helper()
	dir := t.TempDir()
	sockets, err := os.MkdirTemp("", "pb")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(sockets) })
	c := &Core{T: t, Dir: dir, Config: filepath.Join(dir, "plugin.hcl"), Command: "serve"}
	c.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "SVC_HTTP_ADDR=127.0.0.1:0", "SVC_ADMIN_ADDR=127.0.0.1:0",
		// A binary with the race detector would wait a second at its end.
		"GORACE=atexit_sleep_ms=10",
		// What runs by the clock would come into a test when its minute is there: a test that is about it asks for it.
		"SVC_SCHEDULES=false", "SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV=true", "SVC_DATA_DIR=" + filepath.Join(dir, "data"), "SVC_SOCKET_DIR=" + sockets,
		"SVC_PLUGIN_BINARY=" + Built.Plugins,
	}, env...)
	c.Configure(hcl)
	t.Cleanup(c.checkSoundness)
	return c
}

// checkSoundness fails the test when the core panicked anywhere or a data race was seen in it.
func (c *Core) checkSoundness() {
	for _, text := range []string{"DATA RACE", "panic", "fatal error:", "goroutine 1"} {
		if at := strings.Index(c.Logs(), text); at >= 0 {
			c.T.Errorf("the log says %q:\n%s", text, c.Logs()[at:min(len(c.Logs()), at+4000)])
			return
		}
	}
}

// StartCore runs a core until the test ends.
func StartCore(t testing.TB, hcl string, env ...string) *Core {
	t.Helper()
	c := NewCore(t, hcl, env...)
	c.Start()
	t.Cleanup(func() {
		c.Stop()
		if t.Failed() {
			t.Logf("log of the core:\n%s", LastLines(c.Logs(), 60))
		}
	})
	return c
}

// LastLines returns the last lines of a text.
func LastLines(s string, lines int) string {
	all := strings.Split(s, "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// engineBlock is the declaration of this machine's engine; a core of a test gets its own view of it.
var engineBlock = regexp.MustCompile(`(?m)^engine "docker" "local" {}$`)

// Configure replaces plugin.hcl at once.
func (c *Core) Configure(hcl string) {
	c.T.Helper()
	if engineBlock.MatchString(hcl) {
		if c.Engine == nil {
			c.Engine = StartEngineView(c.T)
		}
		hcl = engineBlock.ReplaceAllString(hcl, fmt.Sprintf("engine \"docker\" \"local\" {\n  config { host = %q }\n}", c.Engine.Address()))
	}
	next := c.Config + ".next"
	if err := os.WriteFile(next, []byte(hcl), 0o600); err != nil {
		c.T.Fatal(err)
	}
	if err := os.Rename(next, c.Config); err != nil {
		c.T.Fatal(err)
	}
}

// Addresses matches the log line of a start: the port of the core, and the address of its administration.
var Addresses = regexp.MustCompile(`patchbay is ready: .*address=http://[^ ]*:(\d+) admin=http://([0-9.:]+)`)

// Start runs the core and waits until it is ready.
func (c *Core) Start() {
	c.T.Helper()
	c.Launch()
	select {
	case line := <-c.ready:
		m := Addresses.FindStringSubmatch(line)
		if m == nil {
			c.T.Fatalf("the core's addresses are not in %q", line)
		}
		c.Base, c.Admin = "http://127.0.0.1:"+m[1], "http://"+m[2]
	case <-c.Ended:
		c.T.Fatalf("the core ended at its start: %v\n%s", c.err, c.Logs())
	case <-time.After(Patience * StartWithin):
		_ = c.Cmd.Process.Kill()
		c.T.Fatalf("the core is not ready after %s\n%s", Patience*StartWithin, c.Logs())
	}
	Eventually(c.T, StartWithin, "the core answers /readyz", func() bool {
		resp, err := http.Get(c.Admin + "/readyz")
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

// Launch runs the core without waiting for anything.
func (c *Core) Launch() {
	c.T.Helper()
	c.Cmd = exec.Command(cmp.Or(c.Binary, Built.Core), c.Command, "-config", c.Config)
	c.Cmd.Env, c.Cmd.Dir = c.Env, c.Dir
	stderr, err := c.Cmd.StderrPipe()
	if err != nil {
		c.T.Fatal(err)
	}
	if err := c.Cmd.Start(); err != nil {
		c.T.Fatal(err)
	}
	c.Ended, c.ready = make(chan struct{}), make(chan string, 1)
	go c.followOutput(c.Cmd, stderr, c.Ended, c.ready)
}

// followOutput keeps the log until the process ends.
func (c *Core) followOutput(cmd *exec.Cmd, stderr io.Reader, ended chan struct{}, ready chan string) {
	lines := bufio.NewReader(stderr)
	for {
		line, err := lines.ReadString('\n')
		c.mu.Lock()
		c.log.WriteString(line)
		c.mu.Unlock()
		if strings.Contains(line, " is ready: ") && strings.Contains(line, "address=") {
			ready <- line
		}
		if err != nil {
			break
		}
	}
	c.err = cmd.Wait()
	close(ended)
}

// Logs returns what the core has logged in all its runs.
func (c *Core) Logs() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.log.String()
}

// Logged waits for a text in the log.
func (c *Core) Logged(text string) {
	c.T.Helper()
	Eventually(c.T, 10*time.Second, "the log says "+text, func() bool { return strings.Contains(c.Logs(), text) })
}

// Signal sends a signal to the core, if it still runs.
func (c *Core) Signal(s syscall.Signal) {
	c.T.Helper()
	if err := c.Cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		c.T.Fatal(err)
	}
}

// Reload has the core read its configuration again and waits until it says what came of it.
func (c *Core) Reload() {
	c.T.Helper()
	taken, refused := "configuration reloaded", "reload failed"
	count := func() int { l := c.Logs(); return strings.Count(l, taken) + strings.Count(l, refused) }
	before := count()
	c.Signal(syscall.SIGHUP)
	Eventually(c.T, 15*time.Second, "the configuration is read again", func() bool { return count() > before })
}

// Kill ends the core without any warning.
func (c *Core) Kill() {
	c.T.Helper()
	c.Signal(syscall.SIGKILL)
	<-c.Ended
}

// Stop ends the core in the ordinary way, if it runs.
func (c *Core) Stop() {
	select {
	case <-c.Ended:
		return
	default:
	}
	_ = c.Cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-c.Ended:
	case <-time.After(Patience * StopWithin):
		_ = c.Cmd.Process.Kill()
		c.T.Errorf("the core did not stop within %s", Patience*StopWithin)
		<-c.Ended
	}
}

// Restart ends the core in the ordinary way and starts it again.
func (c *Core) Restart() {
	c.T.Helper()
	c.Stop()
	c.Start()
}

// Output is what a command of the command line gave.
type Output struct {
	Stdout, Stderr string
	Status         int
}

// Run runs a command of the command line beside the core.
func (c *Core) Run(stdin string, args ...string) Output {
	c.T.Helper()
	cmd := exec.Command(cmp.Or(c.Binary, Built.Core), append(args, "-config", c.Config)...)
	var stdout, stderr strings.Builder
	cmd.Env, cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Env, c.Dir, strings.NewReader(stdin), &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		c.T.Fatalf("run %v: %v", args, err)
	}
	return Output{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// CLI runs a command that must succeed and returns what it printed.
func (c *Core) CLI(args ...string) string {
	c.T.Helper()
	out := c.Run("", args...)
	if out.Status != 0 {
		c.T.Fatalf("patchbay %s: status %d\n%s", strings.Join(args, " "), out.Status, out.Stderr)
	}
	return strings.TrimSpace(out.Stdout)
}

// Token makes an access token.
func (c *Core) Token() string {
	c.T.Helper()
	return c.CLI("token", "create", "-note", "test")
}

// AddKeys adds upstream keys and returns their ids.
func (c *Core) AddKeys(keys ...string) (ids []string) {
	c.T.Helper()
	out := c.Run(strings.Join(keys, "\n")+"\n", "key", "add")
	if out.Status != 0 {
		c.T.Fatalf("key add: status %d\n%s", out.Status, out.Stderr)
	}
	for line := range strings.Lines(out.Stdout) {
		id, _, _ := strings.Cut(line, " ")
		ids = append(ids, id)
	}
	return ids
}
