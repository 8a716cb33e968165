package host

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// setProcessGroup gives the plugin a process group of its own. The kernel ends it with the thread that starts it.
func setProcessGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// reapGroup waits for the end of the process, kills what is left of its group while the process still holds the group's id,
// and reaps it.
func (c *command) reapGroup() error {
	for unix.Waitid(unix.P_PID, c.processID(), nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
		continue
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	killGroup(c.processID())
	c.reaped = true
	return c.cmd.Wait()
}

// killGroup kills the plugin and the processes that it has started in its group.
func killGroup(pid int) {
	if pid > 1 {
		_ = unix.Kill(-pid, unix.SIGKILL)
	}
}
