package testplugin

import (
	"os/exec"
	"syscall"
)

// bindToParent makes the process die with the thread that starts it.
func bindToParent(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
