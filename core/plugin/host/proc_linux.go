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

// waitExit blocks until the process has ended, without reaping it.
func waitExit(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return
		}
	}
}

// killGroup ends the plugin and whatever it has started.
func killGroup(pid int) {
	if pid > 1 {
		_ = unix.Kill(-pid, unix.SIGKILL)
	}
}

func alive(pid int) bool { return unix.Kill(pid, 0) != unix.ESRCH }
