// Package candidate looks for new versions: it asks registries, compares what runs with what they have, and finds the
// versions behind digests.
package candidate

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/sdk/registry"
)

// Candidates looks for new versions: it asks the registries what they have under the tags of services, and finds the versions behind
// digests.
type Candidates struct {
	base
	*registries
	*inference
	// platform is the host's, once the engine has told it.
	platform atomic.Pointer[record.Platform]
}

// New returns the candidates.
func New(cfg Config) *Candidates {
	b := base{cfg: cfg, store: &Store{cfg.Store}}
	r := newRegistries(b)
	return &Candidates{base: b, registries: r, inference: newInference(b, r)}
}

// ForgetSettings has what depends on the settings found out again.
func (c *Candidates) ForgetSettings() {
	c.platform.Store(nil)
	c.registries.resetHosts()
}

// Credentials returns for which of the registries there are credentials. The first one's reader is asked.
func (c *Candidates) Credentials(ctx context.Context, hosts []string) ([]string, error) {
	return askRegistry(ctx, c.registries, hosts[0], func(ctx context.Context, in client.Registry, a registry.Access) ([]string, error) {
		return in.Credentials(ctx, a, hosts)
	})
}

// hostPlatform is the platform that images are compared with.
func (c *Candidates) hostPlatform(ctx context.Context) (record.Platform, error) {
	if set := c.cfg.Settings().HostPlatform; set != "" {
		return record.ParsePlatform(set)
	}
	if p := c.platform.Load(); p != nil {
		return *p, nil
	}
	info, err := c.cfg.Engine().Info(ctx, "")
	if err != nil {
		return record.Platform{}, fmt.Errorf("ask the engine for its platform: %w", err)
	}
	p := record.Platform{OS: info.OS, Arch: info.Arch, Variant: info.Variant}
	c.platform.Store(&p)
	return p, nil
}
