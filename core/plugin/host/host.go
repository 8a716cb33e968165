// Package host runs plugin processes: it launches them, shakes hands, watches them, starts them again and ends them.
//
// A process is shared by all instances with the same Spec. Whatever happens to a plugin, the core goes on: calls to a
// process that is not there fail at once, and everything else is unharmed.
package host

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
)

// Config configures a Host. Zero values take the defaults in parentheses.
type Config struct {
	Logger hclog.Logger
	// PluginLogLevel is the level of the plugins' own logs ("info").
	PluginLogLevel string
	// Output gets what plugins write to standard error, as it is, if it is not nil. Processes write to it at the same time.
	Output io.Writer
	// Redact, if set, takes secrets out of the lines that are kept of what plugins write to standard error.
	Redact func(string) string
	// SocketDir is the preferred directory below which sockets live. One that somebody else could tamper with, or whose
	// path is too long, is not used: then it is as without one (/run/patchbay for root, $XDG_RUNTIME_DIR, DataDir, a
	// shared temporary directory).
	SocketDir string
	// DataDir is the core's data directory, if it has one.
	DataDir string
	// StartTimeout bounds a start until the plugin has described itself, where its Spec says nothing else
	// (DefaultStartTimeout).
	StartTimeout time.Duration
	// PingInterval and PingTimeout pace the liveness check (5 s and 3 s); PingFailures in a row end the process (3).
	PingInterval time.Duration
	PingTimeout  time.Duration
	PingFailures int
	// BackoffMin and BackoffMax bound the pause before a start after a crash (0.5 s and 1 min). The first start after a
	// crash comes at once.
	BackoffMin time.Duration
	BackoffMax time.Duration
	// FileInterval is how often the files of a plugin that has failed are looked at (5 s).
	FileInterval time.Duration
	// Calm is how long a process must be ready before its crashes are forgotten (5 min).
	Calm time.Duration
	// OnState hears of every change; it must not block.
	OnState func(Status)
}

func (c Config) withDefaults() Config {
	set := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	set(&c.StartTimeout, DefaultStartTimeout)
	set(&c.PingInterval, 5*time.Second)
	set(&c.PingTimeout, 3*time.Second)
	set(&c.BackoffMin, 500*time.Millisecond)
	set(&c.BackoffMax, time.Minute)
	set(&c.Calm, 5*time.Minute)
	set(&c.FileInterval, 5*time.Second)
	if c.PingFailures <= 0 {
		c.PingFailures = 3
	}
	if c.PluginLogLevel == "" {
		c.PluginLogLevel = "info"
	}
	if c.Logger == nil {
		c.Logger = hclog.NewNullLogger()
	}
	if c.Redact == nil {
		c.Redact = func(line string) string { return line }
	}
	if c.OnState == nil {
		c.OnState = func(Status) {}
	}
	return c
}

// DefaultStartTimeout is how long a plugin may take to start where nobody says otherwise.
const DefaultStartTimeout = 10 * time.Second

// Host owns the plugin processes of a core.
type Host struct {
	cfg      Config
	sockets  *socketDirectory
	launches atomic.Int64

	mu        sync.Mutex
	processes map[string]*Process
}

// New makes a host and its private directory for sockets, and sweeps what dead cores have left.
func New(cfg Config) (*Host, error) {
	cfg = cfg.withDefaults()
	dir, err := newSocketDirectory(cfg)
	if err != nil {
		return nil, err
	}
	return &Host{cfg: cfg, sockets: dir, processes: map[string]*Process{}}, nil
}

// Open returns the process for a spec, started if it was not running, and counts one more user of it. It waits for the
// first start only: an error says why that failed, and the process is let go again. Every Open needs a Release.
func (h *Host) Open(ctx context.Context, spec Spec) (*Process, error) {
	key := spec.Key()
	h.mu.Lock()
	p := h.processes[key]
	if p == nil {
		p = newProcess(h, spec)
		h.processes[key] = p
		go p.run()
	}
	p.users++
	h.mu.Unlock()
	p.hurry()
	if err := p.waitStarted(ctx); err != nil {
		h.release(p)
		return nil, err
	}
	return p, nil
}

func (h *Host) release(p *Process) {
	h.mu.Lock()
	p.users--
	last := p.users == 0
	if last {
		delete(h.processes, p.spec.Key())
	}
	h.mu.Unlock()
	if last {
		p.stop()
	}
}

// Statuses pictures all processes, in no particular order.
func (h *Host) Statuses() []Status {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make([]Status, 0, len(h.processes))
	for _, p := range h.processes {
		out = append(out, p.Status())
	}
	return out
}

// Close ends all processes and removes the directory of sockets. The caller has drained the calls before.
func (h *Host) Close() {
	h.mu.Lock()
	all := h.processes
	h.processes = map[string]*Process{}
	h.mu.Unlock()
	var wg sync.WaitGroup
	for _, p := range all {
		wg.Go(p.stop)
	}
	wg.Wait()
	h.sockets.remove()
}
