package host

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/fault"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Process is a plugin process, which is started again when it ends.
type Process struct {
	host   *Host
	spec   Spec
	output *ring
	events eventList
	users  int

	ctx     context.Context
	cancel  context.CancelFunc
	done    chan struct{}
	started chan struct{}
	again   chan struct{}
	// sooner ends the wait before the next start.
	sooner chan struct{}
	link   atomic.Pointer[Link]
	// attempt is the last start of the process, nil before it; only superviseProcess and what it calls use it.
	attempt *Link
	// described is the plugin's description from its last start.
	described atomic.Pointer[pluginv1.DescribeResponse]

	mu       sync.Mutex
	state    State
	message  string
	since    time.Time
	version  string
	starts   int
	startErr error
	configs  map[string]*pluginv1.Config
	// refused holds, by instance, why the present run of the process does not have it.
	refused map[string]string
	// configuring holds, by instance, the number of the newest Configure that is under way; configures counts them all.
	configuring map[string]int64
	configures  int64
}

func newProcess(h *Host, spec Spec) *Process {
	ctx, cancel := context.WithCancel(context.Background())
	return &Process{
		host: h, spec: spec, output: &ring{redact: h.cfg.Redact}, ctx: ctx, cancel: cancel,
		done: make(chan struct{}), started: make(chan struct{}), again: make(chan struct{}, 1), sooner: make(chan struct{}, 1),
		state: Declared, since: time.Now(), configs: map[string]*pluginv1.Config{}, refused: map[string]string{}, configuring: map[string]int64{},
	}
}

// Release ends the caller's use of the process. The last user's Release ends the process.
func (p *Process) Release() { p.host.releaseProcess(p) }

// Link returns the connection to the running process. The error is a fault.PluginUnavailable.
func (p *Process) Link() (*Link, error) {
	if l := p.link.Load(); l != nil {
		return l, nil
	}
	st := p.Status()
	return nil, fault.New(fault.PluginUnavailable, "The provider %q is not available at the moment (%s).", st.Name, st.State)
}

// Describe returns the plugin's description from its last start, or nil before its first start.
func (p *Process) Describe() *pluginv1.DescribeResponse { return p.described.Load() }

func (p *Process) startTimeout() time.Duration {
	return cmp.Or(p.spec.StartTimeout, p.host.cfg.StartTimeout)
}

// skipPause starts a process at once that waits after a crash or a failure.
func (p *Process) skipPause() {
	select {
	case p.sooner <- struct{}{}:
	default:
	}
}

// Status returns the present status of the process.
func (p *Process) Status() Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	st := Status{
		Name: p.spec.Name, Key: p.spec.Key(), Version: p.version, State: p.state, Message: p.message, Since: p.since,
		Restarts: max(0, p.starts-1), Instances: slices.Sorted(maps.Keys(p.configs)),
	}
	if l := p.link.Load(); l != nil {
		st.PID = l.PID
	}
	return st
}

// Logs returns the last lines that the process wrote, at most 200.
func (p *Process) Logs() []string { return p.output.copyLines() }

// LogsAfter returns those of the last 200 lines that follow the first n which the process ever wrote, how many it has written,
// and a channel that is closed when it writes another one.
func (p *Process) LogsAfter(n int64) (lines []string, written int64, more <-chan struct{}) {
	return p.output.linesAfter(n)
}

// Restart ends the process and starts it again at once, also if it has failed.
func (p *Process) Restart() {
	select {
	case p.again <- struct{}{}:
	default:
	}
}

// Validate asks the plugin about a configuration.
func (p *Process) Validate(ctx context.Context, c *pluginv1.Config) (schema.Diagnostics, error) {
	l, err := p.Link()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, p.startTimeout())
	defer cancel()
	resp, err := l.Plugin.Validate(ctx, &pluginv1.ValidateRequest{Config: c})
	if err != nil {
		return nil, err
	}
	return schema.DiagnosticsFromProto(resp.GetDiagnostics()), nil
}

// waitStarted waits for the end of the first start and returns its error.
func (p *Process) waitStarted(ctx context.Context) error {
	select {
	case <-p.started:
	case <-ctx.Done():
		return ctx.Err()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.startErr
}

// setState sets state and message, and reports a change to OnState.
func (p *Process) setState(s State, message string) {
	p.mu.Lock()
	changed := p.state != s || p.message != message
	if p.state != s {
		p.since = time.Now()
	}
	p.state, p.message = s, message
	p.mu.Unlock()
	if changed {
		p.host.cfg.OnState(p.Status())
	}
}

// pluginLogger returns the logger of the host for this plugin.
func (p *Process) pluginLogger() hclog.Logger {
	return p.host.cfg.Logger.ResetNamed("plugin." + p.spec.Name)
}

// goPluginLogger returns the logger for the lines of go-plugin and of the plugin.
func (p *Process) goPluginLogger() hclog.Logger { return quiet{p.pluginLogger()} }

// restartDelay returns the pause before the next start after a number of crashes in a row.
func (p *Process) restartDelay(crashes int) time.Duration {
	if crashes <= 1 {
		return 0
	}
	d := p.host.cfg.BackoffMin << min(crashes-2, 16)
	d = min(d, p.host.cfg.BackoffMax)
	return d - time.Duration(rand.Int64N(int64(d)/5+1))
}

// isPermanent reports whether a restart does not solve err.
func isPermanent(err error) bool { return errors.Is(err, errPermanent) }
