package main

import (
	"cmp"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// testName is a test or a subtest of a package.
type testName struct{ pkg, test string }

// running holds the tests that have begun and not ended, with the time since when they run. A test that waits for its turn is not running.
type running map[testName]time.Time

// followEvent follows an event of a test.
func (r running) followEvent(e event) {
	name := testName{e.Package, e.Test}
	switch e.Action {
	case "run", "cont":
		r[name] = e.Time
	case "pause", "pass", "fail", "skip":
		delete(r, name)
	}
}

// sortByAge returns the running tests of a package, or of all packages if pkg is "", the longest running first.
func (r running) sortByAge(pkg string) []testName {
	var names []testName
	for name := range r {
		if pkg == "" || name.pkg == pkg {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b testName) int {
		return cmp.Or(r[a].Compare(r[b]), strings.Compare(a.pkg, b.pkg), strings.Compare(a.test, b.test))
	})
	return names
}

// describeAges returns a line for each of names, with its age at the time of now.
func (r running) describeAges(names []testName, now time.Time) string {
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, "running for %s: %s %s\n", now.Sub(r[name]).Round(time.Second), name.pkg, name.test)
	}
	return b.String()
}

// endUnfinished returns the output of the tests that were running when their package failed, which go test ends without a result, and a line
// for each. The goroutine dump of a test that timed out is part of it.
func (s *summary) endUnfinished(e event) string {
	names := s.running.sortByAge(e.Package)
	var b strings.Builder
	for _, name := range names {
		key := name.pkg + " " + name.test
		b.WriteString(strings.Join(s.output[key], ""))
		delete(s.output, key)
	}
	b.WriteString(s.running.describeAges(names, e.Time))
	for _, name := range names {
		delete(s.running, name)
	}
	return b.String()
}

// exitOnSignal has the program exit at a signal that ends a run, after it has printed what was running and what has failed.
func (s *summary) exitOnSignal() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		received := <-signals
		s.mu.Lock()
		s.printInterrupted(received, time.Now())
		os.Exit(1)
	}()
}

// printInterrupted prints the tests that are running at the time of now, and those that have failed.
func (s *summary) printInterrupted(received os.Signal, now time.Time) {
	fmt.Fprintf(s.out, "stopped: %s\n%s", received, s.running.describeAges(s.running.sortByAge(""), now))
	for _, f := range s.failures {
		fmt.Fprintf(s.out, "failed: %s %s\n", f.pkg, f.test)
	}
	fmt.Fprintf(s.out, "%d passed, %d failed, %d skipped until then\n", s.passed, s.failed, s.skipped)
}
