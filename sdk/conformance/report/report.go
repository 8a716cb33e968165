// Package report holds what a run of the contract found.
package report

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Result is the outcome of one check.
type Result struct {
	// Check is the stable name of the check, such as "descriptor"; Form is "streams" or "unary" for checks that run over
	// both, else empty.
	Check string
	Form  string
	// Skipped tells why the check does not apply; empty if it ran.
	Skipped string
	// Err tells what is wrong; nil if the check passed or was skipped.
	Err  error
	Took time.Duration
}

// Name is the check with its form: "samples/streams".
func (r Result) Name() string {
	if r.Form == "" {
		return r.Check
	}
	return r.Check + "/" + r.Form
}

// String is the result in one line.
func (r Result) String() string {
	switch {
	case r.Err != nil:
		return fmt.Sprintf("FAIL  %s: %v", r.Name(), r.Err)
	case r.Skipped != "":
		return fmt.Sprintf("skip  %s: %s", r.Name(), r.Skipped)
	}
	return "ok    " + r.Name()
}

// Report holds the results in the order in which the checks ran.
type Report struct {
	Results []Result
}

// Failed are the results of the checks that failed.
func (r Report) Failed() []Result {
	var out []Result
	for _, res := range r.Results {
		if res.Err != nil {
			out = append(out, res)
		}
	}
	return out
}

// Err joins the failures; it is nil if the plugin conforms.
func (r Report) Err() error {
	var errs []error
	for _, res := range r.Failed() {
		errs = append(errs, fmt.Errorf("%s: %w", res.Name(), res.Err))
	}
	return errors.Join(errs...)
}

// String lists the results, one in a line.
func (r Report) String() string {
	var b strings.Builder
	for _, res := range r.Results {
		fmt.Fprintln(&b, res)
	}
	return b.String()
}
