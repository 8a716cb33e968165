package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// begun are events of a package p in which TestHangs and its subtest run since 10:00 and 10:05, TestWaits waits for its turn, and others have
// ended.
const begun = `{"Time":"2026-01-02T10:00:00Z","Action":"run","Package":"p","Test":"TestHangs"}
{"Time":"2026-01-02T10:00:00Z","Action":"run","Package":"p","Test":"TestWaits"}
{"Time":"2026-01-02T10:00:00Z","Action":"pause","Package":"p","Test":"TestWaits"}
{"Time":"2026-01-02T10:00:00Z","Action":"run","Package":"p","Test":"TestHangs/deep"}
{"Time":"2026-01-02T10:00:00Z","Action":"pause","Package":"p","Test":"TestHangs/deep"}
{"Time":"2026-01-02T10:05:00Z","Action":"cont","Package":"p","Test":"TestHangs/deep"}
{"Time":"2026-01-02T10:00:00Z","Action":"run","Package":"p","Test":"TestBreaks"}
{"Time":"2026-01-02T10:00:00Z","Action":"fail","Package":"p","Test":"TestBreaks"}
{"Time":"2026-01-02T10:00:00Z","Action":"run","Package":"p","Test":"TestPasses"}
{"Time":"2026-01-02T10:00:00Z","Action":"pass","Package":"p","Test":"TestPasses"}
`

func TestPackageThatTimesOutTellsWhatRan(t *testing.T) {
	in := begun + `{"Action":"output","Package":"p","Test":"TestHangs/deep","Output":"panic: test timed out after 45m0s\n"}
{"Time":"2026-01-02T10:45:00Z","Action":"fail","Package":"p"}
`
	var out strings.Builder
	s := newSummary(&out)
	if err := s.read(strings.NewReader(in)); err != nil {
		t.Fatal(err)
	}
	const want = "--- FAIL p TestBreaks\n" +
		"panic: test timed out after 45m0s\nrunning for 45m0s: p TestHangs\nrunning for 40m0s: p TestHangs/deep\nFAIL\tp\t0.0s\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	s.rerunFailures(3, func(string, string) (string, bool) {
		t.Error("a test runs again after one has timed out")
		return "", true
	})
	if s.finish() {
		t.Error("a package that timed out has passed")
	}
}

func TestInterruptedRunTellsWhatRan(t *testing.T) {
	var out strings.Builder
	s := newSummary(&out)
	if err := s.read(strings.NewReader(begun)); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	s.printInterrupted(syscall.SIGTERM, time.Date(2026, 1, 2, 10, 6, 0, 0, time.UTC))
	const want = "stopped: terminated\nrunning for 6m0s: p TestHangs\nrunning for 1m0s: p TestHangs/deep\nfailed: p TestBreaks\n" +
		"1 passed, 1 failed, 0 skipped until then\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

// TestMain lets the test program be testsum itself, for the tests of signals and pipes.
func TestMain(m *testing.M) {
	if os.Getenv("TESTSUM_MAIN") != "" {
		main()
		return
	}
	m.Run()
}

func TestSignalEndsTheRunWithWhatRan(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], pipe)
	cmd.Env = append(os.Environ(), "TESTSUM_MAIN=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	named, err := os.OpenFile(pipe, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer named.Close()
	// Both streams are open; that of the pipe says that it was read.
	if _, err := io.WriteString(named, begun+"read\n"); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for part := make([]byte, 1024); !strings.Contains(out.String(), "read\n"); {
		n, err := stdout.Read(part)
		out.Write(part[:n])
		if err != nil {
			t.Fatalf("%v after %s", err, out.String())
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(&out, stdout); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("a run that was stopped has passed")
	}
	in.Close()
	if s := out.String(); !strings.Contains(s, "stopped: terminated\nrunning for ") || !strings.Contains(s, ": p TestHangs/deep\nfailed: p TestBreaks\n") {
		t.Errorf("it said\n%s", s)
	}
}
