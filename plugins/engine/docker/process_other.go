//go:build !linux

package docker

import (
	"os"
	"os/exec"
	"syscall"
)

// isolateGroup gives a command a process group of its own.
func isolateGroup(cmd *exec.Cmd, _ syscall.Signal) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// tryLock reports true without a lock: the keeper ends commands here, and nothing outlives it.
func tryLock(*os.File) (bool, error) { return true, nil }

func adoptOrphans() {}

func endGroup(pid int, s syscall.Signal) { _ = syscall.Kill(-pid, s) }

func endAdopted() {}

// ownExecutable returns the running executable.
func ownExecutable() (string, error) { return os.Executable() }
