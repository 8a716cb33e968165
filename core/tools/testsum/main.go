// Command testsum reads the output of "go test -json" and prints what a person wants to know: the packages, the output of
// what failed, what the skipped tests miss and how to get it, and the sums. It exits with 1 if anything failed.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
)

// event is one line of go test -json.
type event struct {
	Action     string
	Package    string
	ImportPath string
	Test       string
	Output     string
	Elapsed    float64
}

// summary collects what was read.
type summary struct {
	out                     io.Writer
	output                  map[string][]string
	passed, failed, skipped int
	broken                  bool
	// missing counts the skipped tests by what they miss; others are the reasons of tests that miss nothing.
	missing map[component]int
	others  []string
}

// component is something that tests need and a machine may lack.
type component struct{ name, hint string }

func newSummary(out io.Writer) *summary {
	return &summary{out: out, output: map[string][]string{}, missing: map[component]int{}}
}

func main() {
	s := newSummary(os.Stdout)
	if err := s.read(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "testsum:", err)
		os.Exit(2)
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
			fmt.Fprintln(s.out, in.Text())
			continue
		}
		s.add(e)
	}
	return in.Err()
}

func (s *summary) add(e event) {
	key := e.Package + " " + e.Test
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
		s.skipped++
		s.addSkipped(e, skipReason(s.output[key]))
	case "fail":
		s.failed++
		fmt.Fprintf(s.out, "--- FAIL %s %s\n%s", e.Package, e.Test, strings.Join(s.output[key], ""))
	}
	delete(s.output, key)
}

func (s *summary) pack(e event, key string) {
	switch e.Action {
	case "fail":
		s.broken = true
		fmt.Fprintf(s.out, "%sFAIL\t%s\t%.1fs\n", strings.Join(s.output[key], ""), e.Package, e.Elapsed)
	case "pass":
		fmt.Fprintf(s.out, "ok\t%s\t%.1fs\n", e.Package, e.Elapsed)
	}
	delete(s.output, key)
}

// missingComponent matches the reason that the tests' helpers give: "FILE:LINE: NAME is missing: HINT".
var missingComponent = regexp.MustCompile(`^\S+\.go:\d+: (.+?) is missing: (.+)$`)

func (s *summary) addSkipped(e event, reason string) {
	if m := missingComponent.FindStringSubmatch(reason); m != nil {
		s.missing[component{m[1], m[2]}]++
		return
	}
	s.others = append(s.others, fmt.Sprintf("%s %s: %s", e.Package, e.Test, reason))
}

// skipReason returns what a test said when it skipped itself.
func skipReason(output []string) string {
	var words []string
	for _, line := range output {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "=== ") && !strings.HasPrefix(line, "--- ") {
			words = append(words, line)
		}
	}
	return strings.Join(words, " ")
}

func (s *summary) finish() bool {
	for _, c := range slices.SortedFunc(maps.Keys(s.missing), func(a, b component) int {
		return cmp.Or(strings.Compare(a.name, b.name), strings.Compare(a.hint, b.hint))
	}) {
		fmt.Fprintf(s.out, "skipped for want of %s: %d (%s)\n", c.name, s.missing[c], c.hint)
	}
	slices.Sort(s.others)
	for _, r := range s.others {
		fmt.Fprintln(s.out, "skipped:", r)
	}
	fmt.Fprintf(s.out, "%d passed, %d failed, %d skipped\n", s.passed, s.failed, s.skipped)
	return s.failed == 0 && !s.broken
}
