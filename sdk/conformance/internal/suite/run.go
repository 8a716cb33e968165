// Package suite performs the checks that all kinds share, and what the checks of the kinds have in common.
package suite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc"

	"github.com/patchbay-dev/patchbay/sdk/conformance/report"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Settings is what the checks that all kinds share must know; see SearchConfig.
type Settings struct {
	JSON            string
	Invalid         []string
	BaseDir         string
	DataDir         string
	Logs            func() string
	Timeout, Prompt time.Duration
	// Secrets are texts that the plugin must not give away.
	Secrets []string
}

// Run is a run of the checks that all kinds share.
type Run struct {
	Settings      Settings
	word, service string
	Conn          grpc.ClientConnInterface
	plugin        pluginv1.PluginClient
	// Answers reports whether an instance is there: whatever it says counts, save that it does not exist.
	Answers func(ctx context.Context, id string) bool
	report  report.Report

	Kind   *pluginv1.Kind
	schema *schema.Schema
	MainID string
	next   int

	mu        sync.Mutex
	leaks     []string
	panics    []string
	malformed []string
}

// New fills in defaults; done removes what was made.
func New(conn grpc.ClientConnInterface, word, service string, with Settings) (b *Run, done func()) {
	if with.Timeout <= 0 {
		with.Timeout = 30 * time.Second
	}
	if with.Prompt <= 0 {
		with.Prompt = 5 * time.Second
	}
	if with.JSON == "" {
		with.JSON = "{}"
	}
	done = func() {}
	if with.DataDir == "" {
		if dir, err := os.MkdirTemp("", "conformance"); err == nil {
			with.DataDir = dir
			done = func() { _ = os.RemoveAll(dir) }
		}
	}
	return &Run{Settings: with, word: word, service: service, Conn: conn, plugin: pluginv1.NewPluginClient(conn)}, done
}

// Check is one check of a kind's own. form is "streams" or "unary" where there is one of each.
type Check struct {
	Name, Form string
	Perform    func(context.Context) error
}

// Checks is what a kind adds to the checks that all kinds share.
type Checks struct {
	// Descriptor checks the kind's own part of the description; nil where it has none.
	Descriptor func(context.Context) error
	// List call the main instance, in this order.
	List []Check
	// Credential comes last, since it looks at all that came back, and at the log; nil means that no secret may be there.
	Credential func(context.Context) error
}

// Perform performs the shared checks and, between them, those of s. It ends early where the others would make no sense.
func (r *Run) Perform(ctx context.Context, s Checks) report.Report {
	if s.Descriptor == nil {
		s.Descriptor = func(context.Context) error { return nil }
	}
	if s.Credential == nil {
		s.Credential = func(context.Context) error { return r.CheckLeaks() }
	}
	if !r.checkInstances(ctx, s.Descriptor) {
		return r.report
	}
	for _, c := range s.List {
		_ = r.recordCheck(ctx, c)
	}
	for _, c := range []Check{
		{Name: "health", Perform: r.checkHealth},
		{Name: "stop", Perform: r.checkStop},
		{Name: "errors", Perform: func(context.Context) error { return joinFindings(r.malformed) }},
		{Name: "panics", Perform: func(context.Context) error { return joinFindings(r.panics) }},
		{Name: "credential", Perform: s.Credential},
	} {
		_ = r.recordCheck(ctx, c)
	}
	return r.report
}

// checkInstances checks the description and the life of instances, and reports whether there is one that can be called.
func (r *Run) checkInstances(ctx context.Context, descriptor func(context.Context) error) bool {
	if r.recordCheck(ctx, Check{Name: "describe", Perform: r.checkDescribe}) != nil {
		return false
	}
	_ = r.recordCheck(ctx, Check{Name: "capabilities", Perform: r.checkCapabilities})
	if errors.Join(r.recordCheck(ctx, Check{Name: "schema", Perform: r.configSchema}),
		r.recordCheck(ctx, Check{Name: "descriptor", Perform: descriptor})) != nil {
		return false
	}
	_ = r.recordCheck(ctx, Check{Name: "validate", Perform: r.checkValidate})
	_ = r.recordCheck(ctx, Check{Name: "agreement", Perform: r.checkAgreement})
	if r.recordCheck(ctx, Check{Name: "configure", Perform: r.checkConfigure}) != nil {
		return false
	}
	for _, c := range []Check{
		{Name: "configure-keeps", Perform: r.configureKeeps},
		{Name: "replace", Perform: r.checkReplace},
		{Name: "instances", Perform: r.checkTwoInstances},
		{Name: "remove", Perform: r.checkRemove},
	} {
		_ = r.recordCheck(ctx, c)
	}
	return true
}

// Skip is the error of a check that does not apply.
type Skip string

func (s Skip) Error() string { return string(s) }

// ErrPanic is in the chain of an error that comes from a panic: that is reported once, by the check "panics".
var ErrPanic = errors.New("the plugin panicked")

// recordCheck performs a check and adds its result to the report. It returns the check's error.
func (r *Run) recordCheck(ctx context.Context, c Check) error {
	began := time.Now()
	err := c.Perform(ctx)
	res := report.Result{Check: c.Name, Form: c.Form, Took: time.Since(began)}
	var s Skip
	switch {
	case errors.As(err, &s):
		res.Skipped, err = string(s), nil
	case errors.Is(err, ErrPanic):
		res.Skipped = "a panic came between"
		r.panics = append(r.panics, res.Name())
	default:
		res.Err = err
	}
	r.report.Results = append(r.report.Results, res)
	return err
}

// joinFindings makes one error of findings.
func joinFindings(found []string) error {
	if len(found) == 0 {
		return nil
	}
	const most = 5
	more := ""
	if len(found) > most {
		more = fmt.Sprintf(" and %d more", len(found)-most)
		found = found[:most]
	}
	return fmt.Errorf("%q%s", found, more)
}

// newConfig is a new configuration with a directory of its own; json may differ from the good one.
func (r *Run) newConfig(id, json string) (*pluginv1.Config, error) {
	c := &pluginv1.Config{
		InstanceId: id, Kind: r.word, Name: "conformance", Json: []byte(json), BaseDir: r.Settings.BaseDir,
		Host: &pluginv1.Host{Version: "0.0.0", UserAgent: "patchbay-conformance"},
	}
	if !r.HasCapability(framework.CapDataDir) {
		return c, nil
	}
	r.next++
	c.DataDir = filepath.Join(r.Settings.DataDir, "instance-"+strconv.Itoa(r.next))
	return c, os.MkdirAll(c.DataDir, 0o700)
}

// HasCapability reports whether the plugin declares a capability for the kind.
func (r *Run) HasCapability(capability string) bool {
	return slices.Contains(r.Kind.GetCapabilities(), capability)
}

// WithTimeout returns a context for one call, which ends after Settings.Timeout.
func (r *Run) WithTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, r.Settings.Timeout)
}
