package conformance

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

	"github.com/patchbay-dev/patchbay/sdk/framework"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// common is what the checks that all kinds share must know; see SearchConfig.
type common struct {
	json            string
	invalid         []string
	baseDir         string
	dataDir         string
	logs            func() string
	timeout, prompt time.Duration
	// secrets are texts that the plugin must not give away.
	secrets []string
}

// base is a run of the checks that all kinds share.
type base struct {
	with          common
	word, service string
	conn          grpc.ClientConnInterface
	plugin        pluginv1.PluginClient
	// answers reports whether an instance is there: whatever it says counts, save that it does not exist.
	answers func(ctx context.Context, id string) bool
	report  Report

	kind   *pluginv1.Kind
	schema *schema.Schema
	main   string
	next   int

	mu        sync.Mutex
	leaks     []string
	panics    []string
	malformed []string
}

// newBase fills in defaults; done removes what was made.
func newBase(conn grpc.ClientConnInterface, word, service string, with common) (b *base, done func()) {
	if with.timeout <= 0 {
		with.timeout = 30 * time.Second
	}
	if with.prompt <= 0 {
		with.prompt = 5 * time.Second
	}
	if with.json == "" {
		with.json = "{}"
	}
	done = func() {}
	if with.dataDir == "" {
		if dir, err := os.MkdirTemp("", "conformance"); err == nil {
			with.dataDir = dir
			done = func() { _ = os.RemoveAll(dir) }
		}
	}
	return &base{with: with, word: word, service: service, conn: conn, plugin: pluginv1.NewPluginClient(conn)}, done
}

// check is one check of a kind's own. form is "streams" or "unary" where there is one of each.
type check struct {
	name, form string
	do         func(context.Context) error
}

// suite is what a kind adds to the checks that all kinds share.
type suite struct {
	// descriptor checks the kind's own part of the description; nil where it has none.
	descriptor func(context.Context) error
	// checks call the main instance, in this order.
	checks []check
	// credential comes last, since it looks at all that came back, and at the log; nil means that no secret may be there.
	credential func(context.Context) error
}

// runSuite performs the shared checks and, between them, those of s. It ends early where the others would make no sense.
func (r *base) runSuite(ctx context.Context, s suite) Report {
	if s.descriptor == nil {
		s.descriptor = func(context.Context) error { return nil }
	}
	if s.credential == nil {
		s.credential = func(context.Context) error { return r.checkLeaks() }
	}
	if !r.checkInstances(ctx, s.descriptor) {
		return r.report
	}
	for _, c := range s.checks {
		_ = r.recordCheck(ctx, c)
	}
	for _, c := range []check{
		{name: "health", do: r.checkHealth},
		{name: "stop", do: r.checkStop},
		{name: "errors", do: func(context.Context) error { return joinFindings(r.malformed) }},
		{name: "panics", do: func(context.Context) error { return joinFindings(r.panics) }},
		{name: "credential", do: s.credential},
	} {
		_ = r.recordCheck(ctx, c)
	}
	return r.report
}

// checkInstances checks the description and the life of instances, and reports whether there is one that can be called.
func (r *base) checkInstances(ctx context.Context, descriptor func(context.Context) error) bool {
	if r.recordCheck(ctx, check{name: "describe", do: r.checkDescribe}) != nil {
		return false
	}
	_ = r.recordCheck(ctx, check{name: "capabilities", do: r.checkCapabilities})
	if errors.Join(r.recordCheck(ctx, check{name: "schema", do: r.configSchema}), r.recordCheck(ctx, check{name: "descriptor", do: descriptor})) != nil {
		return false
	}
	_ = r.recordCheck(ctx, check{name: "validate", do: r.checkValidate})
	_ = r.recordCheck(ctx, check{name: "agreement", do: r.checkAgreement})
	if r.recordCheck(ctx, check{name: "configure", do: r.checkConfigure}) != nil {
		return false
	}
	for _, c := range []check{
		{name: "configure-keeps", do: r.configureKeeps},
		{name: "replace", do: r.checkReplace},
		{name: "instances", do: r.checkTwoInstances},
		{name: "remove", do: r.checkRemove},
	} {
		_ = r.recordCheck(ctx, c)
	}
	return true
}

// skip is the error of a check that does not apply.
type skip string

func (s skip) Error() string { return string(s) }

// errPanic is in the chain of an error that comes from a panic: that is reported once, by the check "panics".
var errPanic = errors.New("the plugin panicked")

// recordCheck performs a check and adds its result to the report. It returns the check's error.
func (r *base) recordCheck(ctx context.Context, c check) error {
	began := time.Now()
	err := c.do(ctx)
	res := Result{Check: c.name, Form: c.form, Took: time.Since(began)}
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
func (r *base) newConfig(id, json string) (*pluginv1.Config, error) {
	c := &pluginv1.Config{
		InstanceId: id, Kind: r.word, Name: "conformance", Json: []byte(json), BaseDir: r.with.baseDir,
		Host: &pluginv1.Host{Version: "0.0.0", UserAgent: "patchbay-conformance"},
	}
	if !r.hasCapability(framework.CapDataDir) {
		return c, nil
	}
	r.next++
	c.DataDir = filepath.Join(r.with.dataDir, "instance-"+strconv.Itoa(r.next))
	return c, os.MkdirAll(c.DataDir, 0o700)
}

func (r *base) hasCapability(capability string) bool {
	return slices.Contains(r.kind.GetCapabilities(), capability)
}

func (r *base) withTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, r.with.timeout)
}
