package kit

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

// PollEvery is the time between two looks at what a test waits for.
const PollEvery = 10 * time.Millisecond

// Patience is by how much a machine may be slower than the one that waits were chosen on before a test fails for it. A test that passes
// does not wait longer.
const Patience = 4

// DeadlineAfter returns the time at which a wait for what usually takes less than within is given up.
func DeadlineAfter(within time.Duration) time.Time { return time.Now().Add(Patience * within) }

// Slower returns how long something may take here that has to end within limit: the limit times what PATCHBAY_TEST_SLOWNESS says, a whole
// number by which the machine is slower than usual or is kept busy by other tests; 1 without it.
func Slower(limit time.Duration) time.Duration {
	factor, err := strconv.Atoi(os.Getenv(envSlowness))
	if err != nil || factor < 1 {
		return limit
	}
	return time.Duration(factor) * limit
}

// Eventually polls until done, and fails the test when that takes longer than patience times within.
func Eventually(t testing.TB, within time.Duration, what string, done func() bool) {
	t.Helper()
	deadline := DeadlineAfter(within)
	for !done() {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", Patience*within, what)
		}
		time.Sleep(PollEvery)
	}
}

// Must fails the test for an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Contains fails the test for each text that is missing.
func Contains(t testing.TB, in string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(in, text) {
			t.Errorf("%q is missing in:\n%s", text, in)
		}
	}
}

// Plugins are the process ids of the plugins that a core has started.
func (c *Core) Plugins() []int { return Processes(Built.Plugins, c.Cmd.Process.Pid) }

// Processes finds those that run a binary and, unless parent is 0, are children of it.
func Processes(binary string, parent int) (pids []int) {
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
	fields := StatOf(pid)
	if len(fields) < 2 {
		return 0
	}
	ppid, _ := strconv.Atoi(fields[1])
	return ppid
}

// StatOf returns the fields of /proc/PID/stat from the state on: the name in brackets before them may hold spaces.
func StatOf(pid int) []string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	return strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
}

// IsAlive reports whether a process still exists; one that has ended but was not waited for does not count.
func IsAlive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	fields := StatOf(pid)
	return len(fields) > 0 && fields[0] != "Z"
}
