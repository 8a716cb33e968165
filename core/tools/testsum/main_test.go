package main

import (
	"strings"
	"testing"
)

func TestSkippedTestsAreGroupedByWhatTheyMiss(t *testing.T) {
	var in strings.Builder
	for _, test := range [][2]string{
		{"A", "    testkit.go:24: postgres is missing: set URL to a server\\n"},
		{"B", "    main_test.go:94: postgres is missing: set URL to a server\\n"},
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
