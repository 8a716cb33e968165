package docker

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// isolateGroup gives a command a process group of its own, and has the kernel send it a signal when the thread ends that
// starts it.
func isolateGroup(cmd *exec.Cmd, last syscall.Signal) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: last}
}

// tryLock acquires the advisory lock of an open file. It reports whether it did: another open file may hold it.
func tryLock(f *os.File) (bool, error) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// adoptOrphans makes this process the parent of the orphans among its descendants.
func adoptOrphans() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

func endGroup(pid int, s syscall.Signal) { _ = syscall.Kill(-pid, s) }

// endAdopted kills this process's children until there are none: a descendant with a group of its own is among them once
// its parent is gone.
func endAdopted() {
	for range 100 {
		children := listChildren(os.Getpid())
		if len(children) == 0 {
			return
		}
		for _, pid := range children {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			_, _ = syscall.Wait4(pid, nil, 0, nil)
		}
	}
}

func listChildren(parent int) (out []int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		raw, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		// The name of the program stands in parentheses and may hold anything; state and parent follow it.
		fields := bytes.Fields(raw[bytes.LastIndexByte(raw, ')')+1:])
		if len(fields) > 1 && string(fields[1]) == strconv.Itoa(parent) {
			out = append(out, pid)
		}
	}
	return out
}

// ownExecutable returns the running executable, also after another one has taken its place on the disk.
func ownExecutable() (string, error) { return "/proc/self/exe", nil }
