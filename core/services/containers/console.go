package containers

import (
	"context"
	"time"

	"github.com/patchbay-dev/patchbay/core/services/containers/record"
)

// SelfUpgradeURL is where this instance itself is upgraded: a path on this host, or an absolute URL.
func (s *Service) SelfUpgradeURL() string { return s.settings().SelfUpgradeURL }

// ComposeCommand is the compose command as the settings name it.
func (s *Service) ComposeCommand() string { return s.settings().ComposeBin }

// DiscoveryInterval is the pause between two automatic discoveries.
func (s *Service) DiscoveryInterval() time.Duration {
	return time.Duration(s.settings().Discovery) * time.Second
}

// CountServices returns how many services of stacks there are that are not archived: "all", those "running", and those with an
// "update" that may be applied.
func (p *Projects) CountServices(ctx context.Context) (map[string]int64, error) {
	stacks, err := p.Overview(ctx, ArchivedExclude)
	out := map[string]int64{"all": 0, "running": 0, "update": 0}
	for _, st := range stacks {
		for i := range st.Services {
			svc := &st.Services[i]
			if svc.Archived {
				continue
			}
			out["all"]++
			if svc.State == record.StateRunning {
				out["running"]++
			}
			if svc.Actionable() {
				out["update"]++
			}
		}
	}
	return out, err
}
