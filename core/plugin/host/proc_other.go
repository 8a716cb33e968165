//go:build !linux

package host

import (
	"os"
	"os/exec"
	"time"
)

func prepare(*exec.Cmd) {}

// waitExit blocks until the process has ended.
func waitExit(pid int) {
	for alive(pid) {
		time.Sleep(50 * time.Millisecond)
	}
}

func killGroup(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}

func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer p.Release()
	return true
}
