// Package systemdtest stands for systemd where it does not run: a manager of one unit of Type=notify, and a systemctl that asks it. It
// starts, stops and restarts the real program of the unit, and knows no more of systemd than the supervisor asks for.
package systemdtest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// SocketName is the socket of the manager, beside the program systemctl.
const SocketName = "manager"

// Answer is what systemctl prints and ends with.
type Answer struct {
	Status int
	Text   string
}

// Behaviour is how a core that is played is wrong.
type Behaviour struct {
	// Prints is what its version command prints, Answers what it tells at /api/version.
	Prints, Answers string
	// CannotStart has each command fail, Crashes end the core at its start; NeverReady has it tell the manager nothing.
	CannotStart, Crashes, NeverReady, Unhealthy bool
}

// Times of the unit.
const (
	startTimeout = 15 * time.Second
	stopTimeout  = 20 * time.Second
	restartDelay = 100 * time.Millisecond
	startLimit   = 5
)

// Manager runs one unit. Its fields are set before Open.
type Manager struct {
	Unit string
	// Exec is the command line of the unit, and Env all of its environment besides NOTIFY_SOCKET.
	Exec, Env []string
	Log       io.Writer

	notified chan struct{}
	notify   string
	life     context.Context

	// frozen, if it is set, is closed at the end of a freeze.
	frozen atomic.Pointer[chan struct{}]

	// job is held while the unit is started or stopped.
	job sync.Mutex

	mu       sync.Mutex
	process  *process
	active   string
	sub      string
	result   string
	status   int
	restarts int
	starts   int
}

// process is a run of the program.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{}
	// stopped tells that the manager has ended it.
	stopped bool
}

// Open serves systemctl, a program in a new directory, which is returned to be put before PATH. The unit ends with the test.
func (m *Manager) Open(t testing.TB, systemctl string) (bin string) {
	t.Helper()
	bin, err := os.MkdirTemp("", "pb")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(bin) })
	if err := os.Link(systemctl, filepath.Join(bin, "systemctl")); err != nil {
		t.Fatal(err)
	}
	m.notify, m.notified, m.life, m.active, m.sub = filepath.Join(bin, "notify"), make(chan struct{}, 8), t.Context(), "inactive", "dead"
	states, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: m.notify, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	calls, err := net.Listen("unix", filepath.Join(bin, SocketName))
	if err != nil {
		t.Fatal(err)
	}
	go m.readStates(states)
	go m.serveCalls(calls)
	t.Cleanup(func() {
		m.job.Lock()
		defer m.job.Unlock()
		m.stopProcess()
		_, _ = states.Close(), calls.Close()
	})
	return bin
}

// readStates tells the start that waits that the program is ready.
func (m *Manager) readStates(from *net.UnixConn) {
	for buf := make([]byte, 1024); ; {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		if strings.Contains(string(buf[:n]), "READY=1") {
			select {
			case m.notified <- struct{}{}:
			default:
			}
		}
	}
}

func (m *Manager) serveCalls(calls net.Listener) {
	for {
		conn, err := calls.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			var args []string
			if json.NewDecoder(conn).Decode(&args) == nil {
				_ = json.NewEncoder(conn).Encode(m.runCommand(args))
			}
		}()
	}
}

// Freeze has the manager leave calls that change something unanswered, until the function that it returns is called. They come to nothing
// then, as if who made them had been killed first.
func (m *Manager) Freeze() (thaw func()) {
	frozen := make(chan struct{})
	m.frozen.Store(&frozen)
	return func() {
		m.frozen.Store(nil)
		close(frozen)
	}
}

// runCommand does what systemctl was called for.
func (m *Manager) runCommand(args []string) Answer {
	unit := args[len(args)-1]
	if frozen := m.frozen.Load(); frozen != nil && args[0] != "show" {
		<-*frozen
		return Answer{Status: 1, Text: "Connection timed out"}
	}
	switch {
	case args[0] == "show" && unit != m.Unit:
		return Answer{Text: "LoadState=not-found\nActiveState=inactive\nSubState=dead\nMainPID=0\n"}
	case args[0] == "show":
		return Answer{Text: m.describeUnit()}
	case unit != m.Unit:
		return Answer{Status: 5, Text: "Failed to " + args[0] + " " + unit + ": Unit " + unit + " not loaded."}
	case args[0] == "reset-failed":
		m.mu.Lock()
		defer m.mu.Unlock()
		m.starts = 0
		return Answer{}
	case args[0] == "restart":
		if err := m.Restart(); err != nil {
			return Answer{Status: 1, Text: "Job for " + unit + " failed because " + err.Error() + "."}
		}
		return Answer{}
	}
	return Answer{Status: 1, Text: "Unknown command verb " + args[0] + "."}
}

// describeUnit returns the properties of the unit.
func (m *Manager) describeUnit() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return fmt.Sprintf("ExecStart={ path=%s ; argv[]=%s ; ignore_errors=no ; start_time=[n/a] }\nLoadState=loaded\nActiveState=%s\nSubState=%s\nMainPID=%d\nNRestarts=%d\nExecMainStatus=%d\nResult=%s\n",
		m.Exec[0], strings.Join(m.Exec, " "), m.active, m.sub, m.pidLocked(), m.restarts, m.status, m.result)
}

// PID returns the process of the unit, 0 for none.
func (m *Manager) PID() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.pidLocked()
}

func (m *Manager) pidLocked() int {
	if m.process == nil {
		return 0
	}
	return m.process.cmd.Process.Pid
}

// Restart stops the program if it runs, starts it, and returns when it has told that it is ready.
func (m *Manager) Restart() error {
	m.job.Lock()
	defer m.job.Unlock()
	m.stopProcess()
	m.mu.Lock()
	m.restarts = 0
	m.mu.Unlock()
	return m.startProcess()
}

// stopProcess ends the program and all that it has started.
func (m *Manager) stopProcess() {
	m.mu.Lock()
	p := m.process
	m.active, m.sub = "deactivating", "stop-sigterm"
	if p == nil {
		m.active, m.sub = "inactive", "dead"
		m.mu.Unlock()
		return
	}
	p.stopped = true
	m.mu.Unlock()
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(stopTimeout):
	}
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	<-p.ended
}

// startProcess starts the program and waits until it is ready.
func (m *Manager) startProcess() error {
	cmd := exec.Command(m.Exec[0], m.Exec[1:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.Dir = append([]string{"NOTIFY_SOCKET=" + m.notify}, m.Env...), m.Log, m.Log, filepath.Dir(m.notify)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	for len(m.notified) > 0 {
		<-m.notified
	}
	m.mu.Lock()
	m.active, m.sub, m.result, m.status = "activating", "start", "success", 0
	m.starts++
	if err := cmd.Start(); err != nil {
		m.active, m.sub, m.result, m.status = "failed", "failed", "exit-code", 203
		m.mu.Unlock()
		return fmt.Errorf("the program cannot be executed: %w", err)
	}
	p := &process{cmd: cmd, ended: make(chan struct{})}
	m.process = p
	m.mu.Unlock()
	go m.awaitEnd(p)
	select {
	case <-m.notified:
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.process == p {
			m.active, m.sub = "active", "running"
		}
		return nil
	case <-p.ended:
		return fmt.Errorf("the control process exited with error code")
	case <-time.After(startTimeout):
		m.stopProcess()
		m.mu.Lock()
		defer m.mu.Unlock()
		m.active, m.sub, m.result = "failed", "failed", "timeout"
		return fmt.Errorf("a timeout was exceeded")
	}
}

// awaitEnd notes how the program ended, and starts it again if nobody has stopped it and it did not succeed.
func (m *Manager) awaitEnd(p *process) {
	_ = p.cmd.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.process, m.active, m.sub, m.status = nil, "inactive", "dead", p.cmd.ProcessState.ExitCode()
	defer close(p.ended)
	if p.stopped || p.cmd.ProcessState.Success() {
		return
	}
	m.result = "exit-code"
	if m.starts >= startLimit {
		m.active, m.sub = "failed", "failed"
		return
	}
	m.active, m.sub = "activating", "auto-restart"
	m.restarts++
	go m.startAgain(m.starts)
}

// startAgain starts the program after a pause, unless it was started or stopped meanwhile.
func (m *Manager) startAgain(starts int) {
	time.Sleep(restartDelay)
	m.job.Lock()
	defer m.job.Unlock()
	m.mu.Lock()
	due := m.sub == "auto-restart" && m.starts == starts && m.life.Err() == nil
	m.mu.Unlock()
	if due {
		_ = m.startProcess()
	}
}
