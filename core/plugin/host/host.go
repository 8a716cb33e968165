// Package host runs plugin processes: it starts, watches, restarts and ends them.
//
// A process is shared by all instances with the same Spec. Calls to a process that does not run fail at once; the rest of
// the core is not affected.
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
	// Env returns more variables, as NAME=value, for the processes of the plugin of a name; nil for none.
	Env func(plugin string) []string
	// Output, if not nil, gets the unchanged standard error of all plugins. It must be safe for concurrent use.
	Output io.Writer
	// Redact, if set, removes secrets from the lines of standard error that are kept.
	Redact func(string) string
	// SocketDir is the preferred directory for sockets. If it is empty, another user could change it, or its path is too
	// long, the first usable one of these takes its place: /run/patchbay for root, $XDG_RUNTIME_DIR, DataDir, a shared
	// temporary directory.
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
	// FileInterval is how often the files of a failed plugin are checked for changes (5 s).
	FileInterval time.Duration
	// Calm is how long a process must run until earlier crashes no longer count (5 min).
	Calm time.Duration
	// OnState is called after each change of a state. It must not block.
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

// DefaultStartTimeout is how long a plugin may take to start if neither its Spec nor the Config has a time.
const DefaultStartTimeout = 10 * time.Second

// Host owns the plugin processes of a core.
type Host struct {
	cfg      Config
	sockets  *socketDirectory
	launches atomic.Int64

	mu        sync.Mutex
	processes map[string]*Process
}

// New makes a host and its private directory for sockets, and removes the directories of cores that have ended.
func New(cfg Config) (*Host, error) {
	cfg = cfg.withDefaults()
	dir, err := newSocketDirectory(cfg)
	if err != nil {
		return nil, err
	}
	return &Host{cfg: cfg, sockets: dir, processes: map[string]*Process{}}, nil
}

// Open returns the process for a spec, started if it was not running, and counts one more user of it. It waits for the
// first start; if that fails it returns why, and the process is released. Each successful Open needs a Release.
func (h *Host) Open(ctx context.Context, spec Spec) (*Process, error) {
	key := spec.Key()
	h.mu.Lock()
	p := h.processes[key]
	if p == nil {
		p = newProcess(h, spec)
		h.processes[key] = p
		go p.superviseProcess()
	}
	p.users++
	h.mu.Unlock()
	p.skipPause()
	if err := p.waitStarted(ctx); err != nil {
		h.releaseProcess(p)
		return nil, err
	}
	return p, nil
}

// releaseProcess counts one user less, and ends the process after the last one.
func (h *Host) releaseProcess(p *Process) {
	h.mu.Lock()
	p.users--
	last := p.users == 0
	if last {
		delete(h.processes, p.spec.Key())
	}
	h.mu.Unlock()
	if last {
		p.stopProcess()
	}
}

// Statuses returns the status of each process, in no particular order.
func (h *Host) Statuses() []Status {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make([]Status, 0, len(h.processes))
	for _, p := range h.processes {
		out = append(out, p.Status())
	}
	return out
}

// Close ends all processes and removes the directory of sockets. Calls should have ended before.
func (h *Host) Close() {
	h.mu.Lock()
	all := h.processes
	h.processes = map[string]*Process{}
	h.mu.Unlock()
	var wg sync.WaitGroup
	for _, p := range all {
		wg.Go(p.stopProcess)
	}
	wg.Wait()
	h.sockets.removeDirectory()
}
