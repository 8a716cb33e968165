package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const pollEvery = 10 * time.Millisecond

// patience is by how much a machine may be slower than the one that waits were chosen on before a test fails for it. A test that passes
// does not wait longer.
const patience = 4

// deadlineAfter returns the time at which a wait for what usually takes less than within is given up.
func deadlineAfter(within time.Duration) time.Time { return time.Now().Add(patience * within) }

// slower returns how long something may take here that has to end within limit: the limit times what PATCHBAY_TEST_SLOWNESS says, a whole
// number by which the machine is slower than usual or is kept busy by other tests; 1 without it.
func slower(limit time.Duration) time.Duration {
	factor, err := strconv.Atoi(os.Getenv(envSlowness))
	if err != nil || factor < 1 {
		return limit
	}
	return time.Duration(factor) * limit
}

// eventually polls until done, and fails the test when that takes longer than patience times within.
func eventually(t testing.TB, within time.Duration, what string, done func() bool) {
	t.Helper()
	deadline := deadlineAfter(within)
	for !done() {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", patience*within, what)
		}
		time.Sleep(pollEvery)
	}
}

// must fails the test for an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// contains fails the test for each text that is missing.
func contains(t testing.TB, in string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(in, text) {
			t.Errorf("%q is missing in:\n%s", text, in)
		}
	}
}

// plugins are the process ids of the plugins that a core has started.
func (c *core) plugins() []int { return processes(built.plugins, c.cmd.Process.Pid) }

// processes finds those that run a binary and, unless parent is 0, are children of it.
func processes(binary string, parent int) (pids []int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		exe, err := os.Readlink(filepath.Join("/proc", e.Name(), "exe"))
		if err != nil || strings.TrimSuffix(exe, " (deleted)") != binary {
			continue
		}
		if parent == 0 || parentOf(pid) == parent {
			pids = append(pids, pid)
		}
	}
	return pids
}

func parentOf(pid int) int {
	fields := statOf(pid)
	if len(fields) < 2 {
		return 0
	}
	ppid, _ := strconv.Atoi(fields[1])
	return ppid
}

// statOf returns the fields of /proc/PID/stat from the state on: the name in brackets before them may hold spaces.
func statOf(pid int) []string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	return strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
}

// cpuTime returns the processor time that processes have used, with that of their children that have ended.
func cpuTime(pids ...int) time.Duration {
	const clockTick = 10 * time.Millisecond // USER_HZ, which is 100 on Linux.
	var ticks int64
	for _, pid := range pids {
		fields := statOf(pid)
		if len(fields) < 15 {
			continue
		}
		for _, field := range fields[11:15] {
			n, _ := strconv.ParseInt(field, 10, 64)
			ticks += n
		}
	}
	return time.Duration(ticks) * clockTick
}

// alive reports whether a process still exists; one that has ended but was not waited for does not count.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	fields := statOf(pid)
	return len(fields) > 0 && fields[0] != "Z"
}

// socketDirs returns the directories that cores have made below the configured directory for sockets.
func (c *core) socketDirs() []string {
	c.t.Helper()
	var base string
	for _, e := range c.env {
		if dir, ok := strings.CutPrefix(e, "SVC_SOCKET_DIR="); ok {
			base = dir
		}
	}
	found, err := filepath.Glob(filepath.Join(base, "*"))
	if err != nil || base == "" {
		c.t.Fatalf("list the directories for sockets in %q: %v", base, err)
	}
	return found
}
