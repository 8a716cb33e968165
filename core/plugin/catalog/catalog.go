// Package catalog keeps the configured provider instances: it knows which kinds the core speaks, turns a configuration
// into instances by the difference to what runs, and hands them out by name.
package catalog

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/oklog/ulid/v2"

	"github.com/patchbay-dev/patchbay/core/plugin/host"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/kinds"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Desired is an instance as the configuration wants it.
type Desired struct {
	Kind   string
	Plugin string
	Name   string
	Spec   host.Spec
	// JSON is the decoded config block.
	JSON []byte
	// DataDir is set for instances that need one.
	DataDir string
	// Timeout bounds a call; Concurrency the calls at once. Zero leaves them to the kind.
	Timeout     time.Duration
	Concurrency int
}

// Ref is the name that handles have.
func (d Desired) Ref() string { return d.Kind + "." + d.Name }

// isSameAs reports whether d and o configure the same instance in the same way.
func (d Desired) isSameAs(o Desired) bool {
	return d.Spec.Key() == o.Spec.Key() && string(d.JSON) == string(o.JSON) && d.Timeout == o.Timeout && d.Concurrency == o.Concurrency &&
		d.DataDir == o.DataDir
}

// Config configures a Catalog.
type Config struct {
	Host   *host.Host
	Logger hclog.Logger
	// Kinds are the kinds that the core speaks (all).
	Kinds []kinds.Kind
	// Version and UserAgent are sent to the plugins. Protected are paths whose content must never leave the machine.
	Version   string
	UserAgent string
	Protected []string
	// Drain bounds the wait for the calls of an instance that is removed (30 s).
	Drain time.Duration
}

// Catalog holds the running instances.
type Catalog struct {
	cfg Config

	mu      sync.RWMutex
	handles map[string]*Handle
}

// New makes an empty catalog.
func New(cfg Config) *Catalog {
	if cfg.Drain <= 0 {
		cfg.Drain = 30 * time.Second
	}
	if cfg.Logger == nil {
		cfg.Logger = hclog.NewNullLogger()
	}
	if cfg.Kinds == nil {
		cfg.Kinds = kinds.All()
	}
	return &Catalog{cfg: cfg, handles: map[string]*Handle{}}
}

// Handle returns the handle of an instance by its reference, such as "search.docs".
func (c *Catalog) Handle(ref string) (*Handle, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if h := c.handles[ref]; h != nil {
		return h, nil
	}
	return nil, fmt.Errorf("there is no instance %s", ref)
}

// Instances returns the running instances, ordered by reference.
func (c *Catalog) Instances() []*Instance {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var out []*Instance
	for _, h := range c.handles {
		if in := h.Current(); in != nil {
			out = append(out, in)
		}
	}
	slices.SortFunc(out, func(a, b *Instance) int { return strings.Compare(a.Ref(), b.Ref()) })
	return out
}

// Close removes every instance after its calls. It returns when all have been removed.
func (c *Catalog) Close() {
	c.mu.Lock()
	handles := c.handles
	c.handles = map[string]*Handle{}
	c.mu.Unlock()
	var wg sync.WaitGroup
	for _, h := range handles {
		if in := h.replaceInstance(nil); in != nil {
			wg.Go(func() { in.retireAfterCalls(c.cfg.Drain) })
		}
	}
	wg.Wait()
}

// Candidate is a plugin process that was opened to read its description.
type Candidate struct {
	process *host.Process
	kind    *pluginv1.Kind
}

// Open returns a process of a plugin, started if it was not running, with the service that it offers for the kind.
func (c *Catalog) Open(ctx context.Context, kind string, spec host.Spec) (*Candidate, error) {
	p, err := c.cfg.Host.Open(ctx, spec)
	if err != nil {
		return nil, err
	}
	k, err := c.chooseService(kind, spec.Name, p.Describe())
	if err != nil {
		p.Release()
		return nil, err
	}
	return &Candidate{process: p, kind: k}, nil
}

// chooseService returns what a plugin offers of a kind, in the version that the core prefers.
func (c *Catalog) chooseService(kind, plugin string, d *pluginv1.DescribeResponse) (*pluginv1.Kind, error) {
	var spoken, offered []string
	for _, k := range c.cfg.Kinds {
		if k.Name != kind {
			continue
		}
		spoken = append(spoken, k.Service)
		if i := slices.IndexFunc(d.GetKinds(), func(o *pluginv1.Kind) bool { return o.GetService() == k.Service }); i >= 0 {
			return d.GetKinds()[i], nil
		}
	}
	if len(spoken) == 0 {
		return nil, fmt.Errorf("this core has no kind %q", kind)
	}
	for _, k := range d.GetKinds() {
		offered = append(offered, k.GetService())
	}
	return nil, fmt.Errorf("plugin %q offers %s; this core speaks %s for the kind %q", plugin, strings.Join(offered, ", "),
		strings.Join(spoken, ", "), kind)
}

// Close releases the process. A candidate that became an instance must not be closed.
func (c *Candidate) Close() { c.process.Release() }

// About returns the plugin's description of the kind.
func (c *Candidate) About() *pluginv1.Kind { return c.kind }

// Schema returns the schema of the config block.
func (c *Candidate) Schema() (*schema.Schema, error) { return schema.FromProto(c.kind.GetConfig()) }

// Has reports whether the plugin has a capability.
func (c *Candidate) Has(capability string) bool {
	return slices.Contains(c.kind.GetCapabilities(), capability)
}

// Instance returns the instance of a reference, or nil.
func (c *Catalog) Instance(ref string) *Instance {
	if h, err := c.Handle(ref); err == nil {
		return h.Current()
	}
	return nil
}

// Unchanged reports whether an instance runs that is configured as d says.
func (c *Catalog) Unchanged(d Desired) bool {
	in := c.Instance(d.Ref())
	return in != nil && in.isSameAs(d)
}

// Validate asks the plugin whether it accepts the configuration.
func (c *Catalog) Validate(ctx context.Context, cand *Candidate, d Desired, baseDir string) (schema.Diagnostics, error) {
	return cand.process.Validate(ctx, c.configMessage(d, "", baseDir))
}

// configMessage returns the configuration of an instance as it is sent to a plugin.
func (c *Catalog) configMessage(d Desired, id, baseDir string) *pluginv1.Config {
	return &pluginv1.Config{
		InstanceId: id, Kind: d.Kind, Name: d.Name, Json: d.JSON, DataDir: d.DataDir, BaseDir: baseDir,
		Host:           &pluginv1.Host{Version: c.cfg.Version, UserAgent: c.cfg.UserAgent},
		ProtectedPaths: c.cfg.Protected,
	}
}

func newID(d Desired) string { return d.Ref() + "-" + strings.ToLower(ulid.Make().String()) }

func isExclusive(k *pluginv1.Kind) bool {
	return slices.Contains(k.GetCapabilities(), framework.CapExclusive)
}
