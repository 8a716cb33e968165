// Command testsum reads the output of "go test -json" and prints what a person wants to know: the packages, the output of
// what failed, what the skipped tests miss and how to get it, and the sums. It exits with 1 if anything failed.
//
// It reads the standard input and, at the same time, the files that its arguments name, such as named pipes. When it is
// stopped by a signal, or a package ends before its tests, it lists the tests that were running.
//
// With -rerun N it runs each failed test once more, alone, and lists the ones that pass then as flaky; more than N of them fail the run.
// With -components FILE it writes which test asked for which component.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// event is one line of go test -json.
type event struct {
	Time       time.Time
	Action     string
	Package    string
	ImportPath string
	Test       string
	Output     string
	Elapsed    float64
	// Key and Value are those of an "attr" action.
	Key, Value string
}

// summary collects what was read.
type summary struct {
	// mu guards all else while several streams are read.
	mu                      sync.Mutex
	out                     io.Writer
	output                  map[string][]string
	passed, failed, skipped int
	// broken says that something failed that is not a test, such as a build.
	broken bool
	// failures are the failed tests of the top level, with the output of their subtests.
	failures []*failure
	// subtests collects the output of failed subtests, by the key of their test.
	subtests map[string][]string
	// packages are the packages that failed, with their own output.
	packages map[string]string
	needs    needs
	running  running
	// notOffered are the keys of checks that do not apply to the plugin under test: they are counted nowhere.
	notOffered map[string]bool
	// missing counts the skipped tests by what they miss; others are the reasons of tests that miss nothing.
	missing map[string]*component
	others  []string
}

// component is something that tests need and a machine may lack.
type component struct {
	tests int
	hint  string
}

func newSummary(out io.Writer) *summary {
	return &summary{out: out, output: map[string][]string{}, missing: map[string]*component{}, subtests: map[string][]string{},
		packages: map[string]string{}, needs: needs{}, running: running{}, notOffered: map[string]bool{}}
}

func main() {
	var again rerunner
	flag.IntVar(&again.limit, "rerun", 0, "run failed tests once more, and let `N` of them be flaky")
	flag.StringVar(&again.flags, "flags", "", "the `flags` of go test for a test that runs once more")
	flag.StringVar(&again.plain, "plain", "", "`packages`, as paths below the module, whose tests run without -race")
	components := flag.String("components", "", "write which test needs which component to `FILE`")
	flag.Parse()
	s := newSummary(os.Stdout)
	s.exitOnSignal()
	if err := s.readAll(os.Stdin, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "testsum:", err)
		os.Exit(2)
	}
	if *components != "" {
		if err := s.needs.writeTable(*components); err != nil {
			fmt.Fprintln(os.Stderr, "testsum:", err)
			os.Exit(2)
		}
	}
	if again.limit > 0 {
		s.rerunFailures(again.limit, again.runTest)
	}
	if !s.finish() {
		os.Exit(1)
	}
}

func (s *summary) read(r io.Reader) error {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 1<<20), 64<<20)
	for in.Scan() {
		var e event
		if json.Unmarshal(in.Bytes(), &e) != nil || e.Action == "" {
			s.mu.Lock()
			fmt.Fprintln(s.out, in.Text())
			s.mu.Unlock()
			continue
		}
		s.add(e)
	}
	return in.Err()
}

// readAll reads in and the named files, all at the same time.
func (s *summary) readAll(in io.Reader, files []string) error {
	var group sync.WaitGroup
	errs := make([]error, len(files)+1)
	for i, name := range files {
		group.Go(func() { errs[i] = s.readFile(name) })
	}
	errs[len(files)] = s.read(in)
	group.Wait()
	return errors.Join(errs...)
}

func (s *summary) readFile(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return s.read(f)
}

func (s *summary) add(e event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := e.Package + " " + e.Test
	if e.Test != "" {
		s.running.followEvent(e)
	}
	switch e.Action {
	case "output":
		s.output[key] = append(s.output[key], e.Output)
		return
	case "build-output":
		fmt.Fprint(s.out, e.Output)
		return
	case "build-fail":
		s.broken = true
		return
	case "attr":
		switch e.Key {
		case attrNeeds:
			s.needs.add(e.Value, e.Package, e.Test)
		case attrNotOffered:
			s.notOffered[key] = true
		}
		return
	case "pass", "fail", "skip":
	default:
		return
	}
	if e.Test == "" {
		s.pack(e, key)
		return
	}
	switch e.Action {
	case "pass":
		s.passed++
	case "skip":
		if s.notOffered[key] {
			break
		}
		s.skipped++
		s.addSkipped(e, skipReason(s.output[key]))
	case "fail":
		s.addFailure(e, key)
	}
	delete(s.output, key)
}

func (s *summary) pack(e event, key string) {
	switch e.Action {
	case "fail":
		output := strings.Join(s.output[key], "") + s.endUnfinished(e)
		s.packages[e.Package] = output
		fmt.Fprintf(s.out, "%sFAIL\t%s\t%.1fs\n", output, e.Package, e.Elapsed)
	case "pass":
		fmt.Fprintf(s.out, "ok\t%s\t%.1fs\n", e.Package, e.Elapsed)
	}
	delete(s.output, key)
}

// missingComponent matches the reason that the tests' helpers give: "FILE:LINE: NAME is missing: HINT".
var missingComponent = regexp.MustCompile(`^\S+\.go:\d+: (.+?) is missing: (.+)$`)

func (s *summary) addSkipped(e event, reason string) {
	if m := missingComponent.FindStringSubmatch(reason); m != nil {
		c := s.missing[m[1]]
		if c == nil {
			c = &component{hint: m[2]}
			s.missing[m[1]] = c
		}
		c.tests++
		// The longest tells most.
		if len(m[2]) > len(c.hint) {
			c.hint = m[2]
		}
		return
	}
	s.others = append(s.others, fmt.Sprintf("%s %s: %s", e.Package, e.Test, reason))
}

// skipReason returns what a test said last, when it skipped itself.
func skipReason(output []string) (last string) {
	for _, line := range output {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "=== ") && !strings.HasPrefix(line, "--- ") {
			last = line
		}
	}
	return last
}

func (s *summary) finish() bool {
	for _, name := range slices.Sorted(maps.Keys(s.missing)) {
		fmt.Fprintf(s.out, "skipped for want of %s: %d (%s)\n", name, s.missing[name].tests, s.missing[name].hint)
	}
	slices.Sort(s.others)
	for _, r := range s.others {
		fmt.Fprintln(s.out, "skipped:", r)
	}
	s.printFlaky()
	fmt.Fprintf(s.out, "%d passed, %d failed, %d skipped\n", s.passed, s.failed, s.skipped)
	return s.failed == 0 && !s.broken && len(s.packages) == 0
}
