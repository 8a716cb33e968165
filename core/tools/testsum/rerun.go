package main

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

// failure is a failed test of the top level.
type failure struct {
	pkg, test string
	// output is that of the test and its failed subtests.
	output string
	// failed counts the test and its failed subtests.
	failed int
	// second is the output of the second run, for a flaky test.
	second string
	flaky  bool
}

// addFailure counts a failed test or subtest and prints its output.
func (s *summary) addFailure(e event, key string) {
	s.failed++
	output := strings.Join(s.output[key], "")
	fmt.Fprintf(s.out, "--- FAIL %s %s\n%s", e.Package, e.Test, output)
	top, _, isSubtest := strings.Cut(e.Test, "/")
	topKey := e.Package + " " + top
	s.subtests[topKey] = append(s.subtests[topKey], output)
	if isSubtest {
		return
	}
	parts := s.subtests[topKey]
	delete(s.subtests, topKey)
	s.failures = append(s.failures, &failure{pkg: e.Package, test: e.Test, output: strings.Join(parts, ""), failed: len(parts)})
}

// graveOutput matches what is never the fault of a busy machine: a data race, a panic, a goroutine that was left running.
var graveOutput = regexp.MustCompile(`(?m)DATA RACE|race detected during execution|^panic:|^fatal error:|\bpanic: |unexpected goroutines|goroutine leak|test timed out after`)

// strictTest matches the tests whose single failure is a defect: of crashes, quota, locks and access.
var strictTest = regexp.MustCompile(`(?i)crash|kill|interrupt|power|durable|quota|credit|budget|lock|exclusive|access|auth|signin|session|passkey|scope|secret|token|polic|refused|nobodyis|leak|race`)

// strictPackage matches the packages that are about nothing else.
var strictPackage = regexp.MustCompile(`/core/(auth|secret|queue|privatedir)(/|$)`)

// mayRerun reports whether f may be a matter of the machine's speed. pkgOutput is what its package printed outside tests.
func mayRerun(f *failure, pkgOutput string) bool {
	return !graveOutput.MatchString(f.output) && !graveOutput.MatchString(pkgOutput) && !strictTest.MatchString(f.test) &&
		!strictPackage.MatchString(f.pkg)
}

// rerunFailures runs each failed test once more by run, which returns its output and whether it passed. Tests that pass then are flaky and
// count as passed, unless they are more than limit. Nothing runs again after a failure that must not happen once (see mayRerun).
func (s *summary) rerunFailures(limit int, run func(pkg, test string) (output string, passed bool)) {
	if s.broken || len(s.failures) == 0 || len(s.failures) > limit {
		return
	}
	for pkg := range s.packages {
		if !slices.ContainsFunc(s.failures, func(f *failure) bool { return f.pkg == pkg }) {
			return
		}
	}
	for _, f := range s.failures {
		if !mayRerun(f, s.packages[f.pkg]) {
			return
		}
	}
	for _, f := range s.failures {
		fmt.Fprintf(s.out, "=== running once more, alone: %s %s\n", f.pkg, f.test)
		f.second, f.flaky = run(f.pkg, f.test)
		if !f.flaky {
			fmt.Fprint(s.out, f.second)
		}
	}
	for _, f := range s.failures {
		if f.flaky {
			s.failed -= f.failed
			s.passed += f.failed
		}
	}
	for pkg := range s.packages {
		if !slices.ContainsFunc(s.failures, func(f *failure) bool { return f.pkg == pkg && !f.flaky }) {
			delete(s.packages, pkg)
		}
	}
}

// printFlaky lists the flaky tests with the output of both runs.
func (s *summary) printFlaky() {
	for _, f := range s.failures {
		if f.flaky {
			fmt.Fprintf(s.out, "flaky: %s %s\nfirst run, failed:\n%ssecond run, alone, passed:\n%s", f.pkg, f.test, f.output, f.second)
		}
	}
}

// rerunner says how a test runs once more. plain are the packages, as paths below the module, that run without -race.
type rerunner struct {
	limit        int
	flags, plain string
}

// modulePath is the module of the tests; sdk below it is a module of its own.
const modulePath = "github.com/patchbay-dev/patchbay"

// runTest runs one test alone.
func (r rerunner) runTest(pkg, test string) (string, bool) {
	local := "./" + strings.TrimPrefix(strings.TrimPrefix(pkg, modulePath), "/")
	args := []string{"test", "-count=1", "-v", "-run", "^" + regexp.QuoteMeta(test) + "$"}
	for _, flag := range strings.Fields(r.flags) {
		if flag != "-race" || !slices.Contains(strings.Fields(r.plain), local) {
			args = append(args, flag)
		}
	}
	cmd := exec.Command("go", args...)
	if rest, ok := strings.CutPrefix(local, "./sdk/"); ok {
		cmd.Dir, local = "sdk", "./"+rest
	}
	cmd.Args = append(cmd.Args, local)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, io.Writer(&out)
	err := cmd.Run()
	ran := strings.Contains(out.String(), "--- PASS: "+test+" ")
	return out.String(), err == nil && ran
}
