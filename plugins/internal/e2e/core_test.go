package e2e

import (
	"bufio"
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

// core is a core process with a directory of its own. Its addresses change with a restart.
type core struct {
	t      testing.TB
	dir    string
	config string
	env    []string
	// command is what the process does.
	command string

	cmd   *exec.Cmd
	ended chan struct{}
	err   error
	base  string
	// engine is the container engine that the core sees.
	engine *engineView
	// key, if set, is the API key of the calls that name no token.
	key   string
	admin string

	mu  sync.Mutex
	log strings.Builder
	// ready gets the log line that tells the addresses.
	ready chan string
}

const (
	startWithin = 20 * time.Second
	stopWithin  = 20 * time.Second
)

// newCore writes a configuration into a directory without starting anything. Settings in env override the usual ones.
func newCore(t testing.TB, hcl string, env ...string) *core {
	t.Helper()
	dir := t.TempDir()
	sockets, err := os.MkdirTemp("", "pb")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(sockets) })
	c := &core{t: t, dir: dir, config: filepath.Join(dir, "plugin.hcl"), command: "serve"}
	c.env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "SVC_HTTP_ADDR=127.0.0.1:0", "SVC_ADMIN_ADDR=127.0.0.1:0",
		// A binary with the race detector would wait a second at its end.
		"GORACE=atexit_sleep_ms=10",
		// What runs by the clock would come into a test when its minute is there: a test that is about it asks for it.
		"SVC_SCHEDULES=false", "SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV=true", "SVC_DATA_DIR=" + filepath.Join(dir, "data"), "SVC_SOCKET_DIR=" + sockets,
		"SVC_PLUGIN_BINARY=" + built.plugins,
	}, env...)
	c.configure(hcl)
	t.Cleanup(c.sound)
	return c
}

// sound fails the test when the core panicked anywhere or a data race was seen in it.
func (c *core) sound() {
	for _, text := range []string{"DATA RACE", "panic", "fatal error:", "goroutine 1"} {
		if at := strings.Index(c.logs(), text); at >= 0 {
			c.t.Errorf("the log says %q:\n%s", text, c.logs()[at:min(len(c.logs()), at+4000)])
			return
		}
	}
}

// startCore runs a core until the test ends.
func startCore(t testing.TB, hcl string, env ...string) *core {
	t.Helper()
	c := newCore(t, hcl, env...)
	c.start()
	t.Cleanup(func() {
		c.stop()
		if t.Failed() {
			t.Logf("log of the core:\n%s", tail(c.logs(), 60))
		}
	})
	return c
}

func tail(s string, lines int) string {
	all := strings.Split(s, "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// engineBlock is the declaration of this machine's engine; a core of a test gets its own view of it.
var engineBlock = regexp.MustCompile(`(?m)^engine "docker" "local" {}$`)

// configure replaces plugin.hcl at once.
func (c *core) configure(hcl string) {
	c.t.Helper()
	if engineBlock.MatchString(hcl) {
		if c.engine == nil {
			c.engine = startEngineView(c.t)
		}
		hcl = engineBlock.ReplaceAllString(hcl, fmt.Sprintf("engine \"docker\" \"local\" {\n  config { host = %q }\n}", c.engine.address()))
	}
	next := c.config + ".next"
	if err := os.WriteFile(next, []byte(hcl), 0o600); err != nil {
		c.t.Fatal(err)
	}
	if err := os.Rename(next, c.config); err != nil {
		c.t.Fatal(err)
	}
}

var addresses = regexp.MustCompile(`patchbay is ready: .*address=http://[^ ]*:(\d+) admin=http://([0-9.:]+)`)

// start runs the core and waits until it is ready.
func (c *core) start() {
	c.t.Helper()
	c.launch()
	select {
	case line := <-c.ready:
		m := addresses.FindStringSubmatch(line)
		if m == nil {
			c.t.Fatalf("the core's addresses are not in %q", line)
		}
		c.base, c.admin = "http://127.0.0.1:"+m[1], "http://"+m[2]
	case <-c.ended:
		c.t.Fatalf("the core ended at its start: %v\n%s", c.err, c.logs())
	case <-time.After(patience * startWithin):
		_ = c.cmd.Process.Kill()
		c.t.Fatalf("the core is not ready after %s\n%s", patience*startWithin, c.logs())
	}
	eventually(c.t, startWithin, "the core answers /readyz", func() bool {
		resp, err := http.Get(c.admin + "/readyz")
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

// launch runs the core without waiting for anything.
func (c *core) launch() {
	c.t.Helper()
	c.cmd = exec.Command(built.core, c.command, "-config", c.config)
	c.cmd.Env, c.cmd.Dir = c.env, c.dir
	stderr, err := c.cmd.StderrPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.ended, c.ready = make(chan struct{}), make(chan string, 1)
	go c.follow(c.cmd, stderr, c.ended, c.ready)
}

// follow keeps the log until the process ends.
func (c *core) follow(cmd *exec.Cmd, stderr io.Reader, ended chan struct{}, ready chan string) {
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

func (c *core) logs() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.log.String()
}

// logged waits for a text in the log.
func (c *core) logged(text string) {
	c.t.Helper()
	eventually(c.t, 10*time.Second, "the log says "+text, func() bool { return strings.Contains(c.logs(), text) })
}

func (c *core) signal(s syscall.Signal) {
	c.t.Helper()
	if err := c.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		c.t.Fatal(err)
	}
}

// hup has the core read its configuration again and waits until it says what came of it.
func (c *core) hup() {
	c.t.Helper()
	taken, refused := "configuration reloaded", "reload failed"
	count := func() int { l := c.logs(); return strings.Count(l, taken) + strings.Count(l, refused) }
	before := count()
	c.signal(syscall.SIGHUP)
	eventually(c.t, 15*time.Second, "the configuration is read again", func() bool { return count() > before })
}

// kill9 ends the core without any warning.
func (c *core) kill9() {
	c.t.Helper()
	c.signal(syscall.SIGKILL)
	<-c.ended
}

// wait returns the exit status.
func (c *core) wait(within time.Duration) int {
	c.t.Helper()
	select {
	case <-c.ended:
		return c.cmd.ProcessState.ExitCode()
	case <-time.After(patience * within):
		_ = c.cmd.Process.Kill()
		c.t.Fatalf("the core did not end within %s\n%s", patience*within, tail(c.logs(), 40))
	}
	return -1
}

// stop ends the core in the ordinary way, if it runs.
func (c *core) stop() {
	select {
	case <-c.ended:
		return
	default:
	}
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-c.ended:
	case <-time.After(patience * stopWithin):
		_ = c.cmd.Process.Kill()
		c.t.Errorf("the core did not stop within %s", patience*stopWithin)
		<-c.ended
	}
}

// restart ends the core in the ordinary way and starts it again.
func (c *core) restart() {
	c.t.Helper()
	c.stop()
	c.start()
}

// output is what a command of the command line gave.
type output struct {
	stdout, stderr string
	status         int
}

// run runs a command of the command line beside the core.
func (c *core) run(stdin string, args ...string) output {
	c.t.Helper()
	cmd := exec.Command(built.core, append(args, "-config", c.config)...)
	var stdout, stderr strings.Builder
	cmd.Env, cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = c.env, c.dir, strings.NewReader(stdin), &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		c.t.Fatalf("run %v: %v", args, err)
	}
	return output{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// cli runs a command that must succeed and returns what it printed.
func (c *core) cli(args ...string) string {
	c.t.Helper()
	out := c.run("", args...)
	if out.status != 0 {
		c.t.Fatalf("patchbay %s: status %d\n%s", strings.Join(args, " "), out.status, out.stderr)
	}
	return strings.TrimSpace(out.stdout)
}

// token makes an access token.
func (c *core) token() string {
	c.t.Helper()
	return c.cli("token", "create", "-note", "test")
}

// addKeys adds upstream keys and returns their ids.
func (c *core) addKeys(keys ...string) (ids []string) {
	c.t.Helper()
	out := c.run(strings.Join(keys, "\n")+"\n", "key", "add")
	if out.status != 0 {
		c.t.Fatalf("key add: status %d\n%s", out.status, out.stderr)
	}
	for line := range strings.Lines(out.stdout) {
		id, _, _ := strings.Cut(line, " ")
		ids = append(ids, id)
	}
	return ids
}
