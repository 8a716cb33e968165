// Package conformance holds the contract of each kind as checks that run against any plugin, in whatever language it is
// written: over a connection to a process, or inside a test.
package conformance

import (
	"context"
	"time"

	"google.golang.org/grpc"

	"github.com/patchbay-dev/patchbay/sdk/conformance/internal/suite"
	"github.com/patchbay-dev/patchbay/sdk/conformance/report"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

// Sample is a call that the plugin must answer.
type Sample struct {
	Operation  string
	ResourceID string
	// ResourceFrom names the operation whose sample yields the ResourceID; that sample stands before this one.
	ResourceFrom string
	Query        string
	// Body is a JSON object, or empty where the operation has none.
	Body string
	// Stream samples are called by Stream, the others by Invoke.
	Stream bool
	// Status is the expected HTTP status; 0 stands for any from 200 to 299.
	Status int
	// Check, if set, looks at the answer.
	Check func(*search.Response) error
}

// SearchConfig tells how to use a search plugin.
type SearchConfig struct {
	// JSON is a config block that the plugin accepts; empty means one without members. Invalid are blocks that it must
	// refuse, beyond those that the suite makes from the schema.
	JSON    string
	Invalid []string
	// Samples has at least one entry for each operation; empty means DefaultSamples.
	Samples []Sample
	// Slow is a call that does not end by itself within 10 seconds. Without it the first sample stands in, and little is
	// learnt about cancelled calls.
	Slow *Sample
	// Credential is a valid key, for plugins that need one. It should be a text that is found nowhere else.
	Credential string
	// BaseDir is the directory of the configuration file; DataDir is a directory below which each instance gets its own.
	// Empty DataDir makes a temporary one.
	BaseDir string
	DataDir string
	// Logs returns what the plugin has logged so far; nil if that cannot be known.
	Logs func() string
	// Timeout bounds each call (30 s). Prompt bounds the end of a call whose context has ended, and the removal of an
	// instance that serves no call (5 s).
	Timeout time.Duration
	Prompt  time.Duration
}

const (
	formStreams = "streams"
	formUnary   = "unary"
)

// searchRun is one run of the suite.
type searchRun struct {
	*suite.Run
	cfg       SearchConfig
	desc      *search.Descriptor
	resources map[string]string
}

// Search runs all checks of the search kind over a connection to a plugin. The plugin is stopped at the end; its process
// is the caller's to end.
func Search(ctx context.Context, conn grpc.ClientConnInterface, cfg SearchConfig) report.Report {
	b, done := suite.New(conn, search.Kind, search.Service, suite.Settings{
		JSON: cfg.JSON, Invalid: cfg.Invalid, BaseDir: cfg.BaseDir, DataDir: cfg.DataDir, Logs: cfg.Logs,
		Timeout: cfg.Timeout, Prompt: cfg.Prompt, Secrets: []string{cfg.Credential},
	})
	defer done()
	r := &searchRun{Run: b, cfg: cfg, resources: map[string]string{}}
	b.Answers = r.instanceAnswers
	var checks []suite.Check
	for _, c := range []struct {
		name string
		do   func(context.Context, *caller) error
	}{
		{"unknown-instance", r.unknownInstance},
		{"samples", r.checkSamples},
		{"unknown-operation", r.unknownOperation},
		{"bad-body", r.badBody},
		{"large-body", r.largeBody},
		{"concurrency", r.checkConcurrency},
		{"cancel", r.checkCancel},
		{"deadline", r.checkDeadline},
		{"wrong-credential", r.wrongCredential},
	} {
		for _, form := range []string{formStreams, formUnary} {
			checks = append(checks, suite.Check{Name: c.name, Form: form,
				Perform: func(ctx context.Context) error { return r.runInForm(ctx, form, c.do) }})
		}
	}
	return r.Perform(ctx, suite.Checks{Descriptor: r.checkDescriptor, Credential: r.checkCredential, List: append(checks,
		suite.Check{Name: "same-answers", Perform: r.sameAnswers},
		suite.Check{Name: "stream", Perform: r.checkStreaming},
		suite.Check{Name: "key-status", Perform: r.keyStatus},
		suite.Check{Name: "index", Perform: r.checkIndexCalls},
	)})
}
