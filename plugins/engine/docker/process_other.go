//go:build !linux

package docker

import (
	"os"
	"os/exec"
	"syscall"
)

// isolate gives a command a process group of its own.
func isolate(cmd *exec.Cmd, _ syscall.Signal) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// tryLock reports true without a lock: the keeper ends commands here, and nothing outlives it.
func tryLock(*os.File) (bool, error) { return true, nil }

func adopt() {}

func endGroup(pid int, s syscall.Signal) { _ = syscall.Kill(-pid, s) }

func endAdopted() {}

// self is the running executable.
func self() (string, error) { return os.Executable() }
