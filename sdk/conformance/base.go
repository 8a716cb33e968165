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
	// answers tells whether an instance is there: whatever it says counts, save that it does not exist.
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

// before runs what comes before the calls of the kind, and tells whether these make sense. descriptor checks the kind's
// own part of the description.
func (r *base) before(ctx context.Context, descriptor func(context.Context) error) bool {
	if r.check(ctx, "describe", r.describe) != nil {
		return false
	}
	r.check(ctx, "capabilities", r.capabilities)
	if errors.Join(r.check(ctx, "schema", r.configSchema), r.check(ctx, "descriptor", descriptor)) != nil {
		return false
	}
	r.check(ctx, "validate", r.validate)
	r.check(ctx, "agreement", r.agreement)
	if r.check(ctx, "configure", r.configure) != nil {
		return false
	}
	r.check(ctx, "configure-keeps", r.configureKeeps)
	r.check(ctx, "replace", r.replace)
	r.check(ctx, "instances", r.instances)
	r.check(ctx, "remove", r.remove)
	return true
}

// after runs what comes after the calls of the kind. credential comes last: it judges all that came back, and the log.
func (r *base) after(ctx context.Context, credential func(context.Context) error) {
	r.check(ctx, "health", r.health)
	r.check(ctx, "stop", r.stop)
	r.check(ctx, "errors", func(context.Context) error { return list(r.malformed) })
	r.check(ctx, "panics", func(context.Context) error { return list(r.panics) })
	r.check(ctx, "credential", credential)
}

// skip is the error of a check that does not apply.
type skip string

func (s skip) Error() string { return string(s) }

// errPanic is in the chain of an error that comes from a panic: that is reported once, by the check "panics".
var errPanic = errors.New("the plugin panicked")

func (r *base) check(ctx context.Context, name string, do func(context.Context) error) error {
	return r.record(ctx, name, "", do)
}

func (r *base) record(ctx context.Context, name, form string, do func(context.Context) error) error {
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

// config is a new configuration with a directory of its own; json may differ from the good one.
func (r *base) config(id, json string) (*pluginv1.Config, error) {
	c := &pluginv1.Config{
		InstanceId: id, Kind: r.word, Name: "conformance", Json: []byte(json), BaseDir: r.with.baseDir,
		Host: &pluginv1.Host{Version: "0.0.0", UserAgent: "patchbay-conformance"},
	}
	if !r.has(framework.CapDataDir) {
		return c, nil
	}
	r.next++
	c.DataDir = filepath.Join(r.with.dataDir, "instance-"+strconv.Itoa(r.next))
	return c, os.MkdirAll(c.DataDir, 0o700)
}

func (r *base) has(capability string) bool {
	return slices.Contains(r.kind.GetCapabilities(), capability)
}

func (r *base) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, r.with.timeout)
}
