package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSkippedTestsAreGroupedByWhatTheyMiss(t *testing.T) {
	var in strings.Builder
	for _, test := range [][2]string{
		{"A", "    testkit.go:24: postgres is missing: set URL to a server\\n"},
		{"B", "    main_test.go:94: postgres is missing: set URL\\n"},
		{"C", "    mta.go:100: postfix is missing: install postfix\\n"},
		{"D", "    x_test.go:1: only on another system\\n"},
	} {
		in.WriteString(`{"Action":"output","Package":"p","Test":"` + test[0] + `","Output":"` + test[1] + `"}` + "\n")
		in.WriteString(`{"Action":"skip","Package":"p","Test":"` + test[0] + `"}` + "\n")
	}
	in.WriteString(`{"Action":"pass","Package":"p","Test":"E"}` + "\n")
	var out strings.Builder
	s := newSummary(&out)
	if err := s.read(strings.NewReader(in.String())); err != nil || !s.finish() {
		t.Fatal(err)
	}
	const want = "skipped for want of postfix: 1 (install postfix)\n" +
		"skipped for want of postgres: 2 (set URL to a server)\n" +
		"skipped: p D: x_test.go:1: only on another system\n" +
		"1 passed, 0 failed, 4 skipped\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

// jsonEvents returns lines of go test -json for one failed test with the given output, and its package.
func jsonEvents(pkg, test, output string) string {
	line := func(e event) string {
		b, _ := json.Marshal(e)
		return string(b) + "\n"
	}
	return line(event{Action: "output", Package: pkg, Test: test, Output: output}) +
		line(event{Action: "fail", Package: pkg, Test: test}) +
		line(event{Action: "output", Package: pkg, Output: "FAIL\n"}) +
		line(event{Action: "fail", Package: pkg})
}

func TestFailedTestsRunOnceMore(t *testing.T) {
	const pkg = "github.com/patchbay-dev/patchbay/core/httpd"
	tests := []struct {
		name         string
		in           string
		passesAgain  bool
		runs         int
		ok, hasFlaky bool
	}{
		{"passes then", jsonEvents(pkg, "TestPage", "too slow\n"), true, 1, true, true},
		{"fails again", jsonEvents(pkg, "TestPage", "wrong\n"), false, 1, false, false},
		{"with subtests", jsonEvents(pkg, "TestPage/wide", "too slow\n") + jsonEvents(pkg, "TestPage", "\n"), true, 1, true, true},
		{"a data race", jsonEvents(pkg, "TestPage", "WARNING: DATA RACE\n"), true, 0, false, false},
		{"a panic", jsonEvents(pkg, "TestPage", "panic: nil map\n"), true, 0, false, false},
		{"a leak", jsonEvents(pkg, "TestPage", "found unexpected goroutines:\n"), true, 0, false, false},
		{"a crash test", jsonEvents(pkg, "TestCrashKeepsMail", "lost\n"), true, 0, false, false},
		{"a test of quota", jsonEvents(pkg, "TestQuotaHolds", "over\n"), true, 0, false, false},
		{"the package of locks", jsonEvents("github.com/patchbay-dev/patchbay/core/queue", "TestTwice", "twice\n"), true, 0, false, false},
		{"the package of access", jsonEvents("github.com/patchbay-dev/patchbay/core/auth", "TestUsers", "in\n"), true, 0, false, false},
		{"too many", jsonEvents(pkg, "TestA", "") + jsonEvents(pkg, "TestB", "") + jsonEvents(pkg, "TestC", "") + jsonEvents(pkg, "TestD", ""),
			true, 0, false, false},
		{"three", jsonEvents(pkg, "TestA", "") + jsonEvents(pkg, "TestB", "") + jsonEvents(pkg, "TestC", ""), true, 3, true, true},
		{"a broken build beside", `{"Action":"build-fail"}` + "\n" + jsonEvents(pkg, "TestPage", "slow\n"), true, 0, false, false},
		{"a package that failed outside tests", jsonEvents(pkg, "TestPage", "slow\n") + `{"Action":"fail","Package":"p"}` + "\n", true, 0, false,
			false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out strings.Builder
			s := newSummary(&out)
			if err := s.read(strings.NewReader(tt.in)); err != nil {
				t.Fatal(err)
			}
			runs := 0
			s.rerunFailures(3, func(string, string) (string, bool) { runs++; return "second output\n", tt.passesAgain })
			ok := s.finish()
			hasFlaky := strings.Contains(out.String(), "\nflaky: ") && strings.Contains(out.String(), "passed:\nsecond output\n")
			if ok != tt.ok || runs != tt.runs || hasFlaky != tt.hasFlaky {
				t.Errorf("ok %v, %d runs, flaky %v; want %v, %d, %v\n%s", ok, runs, hasFlaky, tt.ok, tt.runs, tt.hasFlaky, out.String())
			}
		})
	}
}

func TestComponentsAreListed(t *testing.T) {
	const in = `{"Action":"attr","Package":"p","Test":"TestB/sub","Key":"needs","Value":"postgres"}
{"Action":"attr","Package":"p","Test":"TestA","Key":"needs","Value":"postgres"}
{"Action":"attr","Package":"p","Test":"TestA","Key":"needs","Value":"postgres"}
{"Action":"attr","Package":"p","Test":"TestC","Key":"needs","Value":"npm"}
{"Action":"attr","Package":"p","Test":"TestD/zones","Key":"not-offered","Value":"zones"}
{"Action":"skip","Package":"p","Test":"TestD/zones"}
`
	var out strings.Builder
	s := newSummary(&out)
	if err := s.read(strings.NewReader(in)); err != nil || !s.finish() {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "table")
	if err := s.needs.writeTable(file); err != nil {
		t.Fatal(err)
	}
	const want = "npm\tp\tTestC\npostgres\tp\tTestA\npostgres\tp\tTestB\n"
	if got, err := os.ReadFile(file); err != nil || string(got) != want {
		t.Errorf("got %q, %v", got, err)
	}
	if out.String() != "0 passed, 0 failed, 0 skipped\n" {
		t.Errorf("what a plugin does not offer is listed: %s", out.String())
	}
}
