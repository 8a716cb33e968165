package supervisor

import (
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// TestImageIsTriedFirst: an image that cannot start, or says another version than its label, replaces nothing; one about which nothing is
// known is left to the health check of the core.
func TestImageIsTriedFirst(t *testing.T) {
	for name, tt := range map[string]struct {
		result engine.RunResult
		fails  error
		says   string
	}{
		"good":            {engine.RunResult{Output: "patchbay 2, commit c, go1.26\n"}, nil, ""},
		"with a v":        {engine.RunResult{Output: "a warning\npatchbay v2, commit c\n"}, nil, ""},
		"silent":          {engine.RunResult{}, nil, ""},
		"other words":     {engine.RunResult{Output: "2.7\n"}, nil, ""},
		"not supported":   {engine.RunResult{}, errs.New(errs.Plugin, codes.Unimplemented, errs.ReasonUnsupported, "no"), ""},
		"another version": {engine.RunResult{Output: "patchbay 3, commit c\n"}, nil, "the version 3, but its label says 2"},
		"fails":           {engine.RunResult{ExitCode: 127, Output: "missing library"}, nil, "exit code 127. missing library"},
		"does not start": {engine.RunResult{}, errs.New(errs.Caller, codes.FailedPrecondition, "WRONG_STATE", "exec format error"),
			"exec format error"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			sup := s.supervise(t, nil)
			next := imageOfVersion("2")
			s.engine.Publish(repository+":latest", next)
			s.engine.SetRun(next.ID, tt.result)
			if tt.fails != nil {
				s.engine.Fail("run", fault.FromPlugin("engine.fake", tt.fails))
			}
			if _, err := sup.Begin(Request{Mode: Apply, RollbackOnFailure: true}); err != nil {
				t.Fatal(err)
			}
			if tt.says == "" {
				if ended(t, sup, Succeeded); s.core().ImageID != next.ID {
					t.Errorf("the core runs %s", s.core().ImageID)
				}
				return
			}
			o := ended(t, sup, Failed)
			if !strings.Contains(o.Message, tt.says) || o.Step != StepCheck {
				t.Errorf("it ended at %s with %q, want %q", o.Step, o.Message, tt.says)
			}
			if calls := s.engine.CallsOf("compose"); len(calls) > 0 || s.engine.NameOf(repository+":latest") != s.core().ImageID {
				t.Errorf("something was changed: %v, latest names %s", calls, s.engine.NameOf(repository+":latest"))
			}
		})
	}
}

// TestVersionOfTheImageIsExpected: what an image without a label says of itself is what its core must answer.
func TestVersionOfTheImageIsExpected(t *testing.T) {
	s := newSite(t)
	sup := s.supervise(t, nil)
	next := imageOfVersion("2")
	next.Labels = nil
	s.engine.Publish(repository+":latest", next)
	s.engine.SetRun(next.ID, engine.RunResult{Output: "patchbay 5, commit c\n"})
	if _, err := sup.Begin(Request{Mode: Apply, RollbackOnFailure: true}); err != nil {
		t.Fatal(err)
	}
	if o := ended(t, sup, RolledBack); !strings.Contains(o.Message, "version 2 instead of 5") {
		t.Errorf("it ended with %q", o.Message)
	}
}
