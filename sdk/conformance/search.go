// Package conformance holds the contract of each kind as checks that run against any plugin, in whatever language it is
// written: over a connection to a process, or inside a test.
package conformance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc"

	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
	"github.com/patchbay-dev/patchbay/sdk/schema"
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

// run is one run of the suite.
type run struct {
	cfg    SearchConfig
	conn   grpc.ClientConnInterface
	plugin pluginv1.PluginClient
	report Report

	kind   *pluginv1.Kind
	schema *schema.Schema
	desc   *search.Descriptor
	main   string
	next   int

	mu        sync.Mutex
	leaks     []string
	panics    []string
	malformed []string
	resources map[string]string
}

// Search runs all checks of the search kind over a connection to a plugin. The plugin is stopped at the end; its process
// is the caller's to end.
func Search(ctx context.Context, conn grpc.ClientConnInterface, cfg SearchConfig) Report {
	if cfg.Timeout <= 0 {
		cfg.Timeout = 30 * time.Second
	}
	if cfg.Prompt <= 0 {
		cfg.Prompt = 5 * time.Second
	}
	if cfg.JSON == "" {
		cfg.JSON = "{}"
	}
	if cfg.DataDir == "" {
		if dir, err := os.MkdirTemp("", "conformance"); err == nil {
			cfg.DataDir = dir
			defer os.RemoveAll(dir)
		}
	}
	r := &run{cfg: cfg, conn: conn, plugin: pluginv1.NewPluginClient(conn), resources: map[string]string{}}
	r.all(ctx)
	return r.report
}

func (r *run) all(ctx context.Context) {
	if r.check(ctx, "describe", r.describe) != nil {
		return
	}
	r.check(ctx, "capabilities", r.capabilities)
	if errors.Join(r.check(ctx, "schema", r.configSchema), r.check(ctx, "descriptor", r.descriptor)) != nil {
		return
	}
	r.check(ctx, "validate", r.validate)
	r.check(ctx, "agreement", r.agreement)
	if r.check(ctx, "configure", r.configure) != nil {
		return
	}
	r.check(ctx, "configure-keeps", r.configureKeeps)
	r.check(ctx, "replace", r.replace)
	r.check(ctx, "instances", r.instances)
	r.check(ctx, "remove", r.remove)
	for _, c := range []struct {
		name string
		do   func(context.Context, *caller) error
	}{
		{"unknown-instance", r.unknownInstance},
		{"samples", r.samples},
		{"unknown-operation", r.unknownOperation},
		{"bad-body", r.badBody},
		{"large-body", r.largeBody},
		{"concurrency", r.concurrency},
		{"cancel", r.cancel},
		{"deadline", r.deadline},
		{"wrong-credential", r.wrongCredential},
	} {
		for _, form := range []string{formStreams, formUnary} {
			r.record(ctx, c.name, form, func(ctx context.Context) error { return r.over(ctx, form, c.do) })
		}
	}
	r.check(ctx, "same-answers", r.sameAnswers)
	r.check(ctx, "stream", r.streaming)
	r.check(ctx, "key-status", r.keyStatus)
	r.check(ctx, "health", r.health)
	r.check(ctx, "stop", r.stop)
	r.check(ctx, "errors", func(context.Context) error { return list(r.malformed) })
	r.check(ctx, "panics", func(context.Context) error { return list(r.panics) })
	r.check(ctx, "credential", r.credential)
}

// skip is the error of a check that does not apply.
type skip string

func (s skip) Error() string { return string(s) }

// errPanic is in the chain of an error that comes from a panic: that is reported once, by the check "panics".
var errPanic = errors.New("the plugin panicked")

func (r *run) check(ctx context.Context, name string, do func(context.Context) error) error {
	return r.record(ctx, name, "", do)
}

func (r *run) record(ctx context.Context, name, form string, do func(context.Context) error) error {
	began := time.Now()
	err := do(ctx)
	res := Result{Check: name, Form: form, Took: time.Since(began)}
	var s skip
	switch {
	case errors.As(err, &s):
		res.Skipped, err = string(s), nil
	case errors.Is(err, errPanic):
		res.Skipped = "a panic came between"
		r.panics = append(r.panics, res.Name())
	default:
		res.Err = err
	}
	r.report.Results = append(r.report.Results, res)
	return err
}

// list makes one error of findings.
func list(found []string) error {
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

// config is a new configuration with a directory of its own; json may differ from that of the SearchConfig.
func (r *run) config(id, json string) (*pluginv1.Config, error) {
	c := &pluginv1.Config{
		InstanceId: id, Kind: search.Kind, Name: "conformance", Json: []byte(json), BaseDir: r.cfg.BaseDir,
		Host: &pluginv1.Host{Version: "0.0.0", UserAgent: "patchbay-conformance"},
	}
	if !r.has(search.CapDataDir) {
		return c, nil
	}
	r.next++
	c.DataDir = filepath.Join(r.cfg.DataDir, "instance-"+strconv.Itoa(r.next))
	return c, os.MkdirAll(c.DataDir, 0o700)
}

func (r *run) has(capability string) bool {
	for _, c := range r.kind.GetCapabilities() {
		if c == capability {
			return true
		}
	}
	return false
}

func (r *run) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, r.cfg.Timeout)
}
