package host

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// prepare puts the plugin into a process group of its own and asks the kernel to end it with the thread that starts it.
func prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// reapGroup waits for the end of the process, kills what is left of its group while the process still holds the group's id,
// and reaps it.
func (c *command) reapGroup() error {
	for unix.Waitid(unix.P_PID, c.pid(), nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
		continue
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	killGroup(c.pid())
	c.reaped = true
	return c.cmd.Wait()
}

// killGroup ends the plugin and whatever it has started.
func killGroup(pid int) {
	if pid > 1 {
		_ = unix.Kill(-pid, unix.SIGKILL)
	}
}
