package containers

import (
	"context"
	"time"

	"github.com/patchbay-dev/patchbay/core/event"
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

// Actionable reports whether an update of the whole stack, which is not archived, takes the service along.
func (d *ServiceDetail) Actionable() bool { return d.applicable() && d.Candidate.RolledBack == nil }

// LeftOut reports whether such an update leaves the service out because its candidate was rolled back.
func (d *ServiceDetail) LeftOut() bool { return d.applicable() && d.Candidate.RolledBack != nil }

func (d *ServiceDetail) applicable() bool {
	return (d.Status == statusUpdatable || d.Status == statusHint) && !d.Archived && !d.Self && (d.State != record.StateStopped || d.RunsOnce)
}

// Updatable reports whether the service can be updated by itself, with leave for another architecture where that differs.
func (d *ServiceDetail) Updatable() bool {
	return d.Candidate != nil && !d.Pinned && !d.Archived && !d.Self && d.Candidate.ApplyAfter.IsZero()
}

// Target is the candidate of the service as a target of an update; the service has a candidate.
func (d *ServiceDetail) Target() Target {
	return Target{ServiceID: d.ID, TargetTag: d.Candidate.Tag, TargetDigest: d.Candidate.Digest, PullTags: []string{}}
}

// CodeHostConfigured reports whether there is a code host whose package webhooks can be used.
func (s *Service) CodeHostConfigured() bool { return s.codeHost() != nil }

// LiveDeliveries tells of every webhook that is received. Close it when it is no longer needed.
func (s *Service) LiveDeliveries() *event.Subscription { return s.live.Subscribe(topicDeliveries) }

// CountServices returns how many services of stacks there are that are not archived: "all", those "running", and those with an
// "update" that may be applied.
func (s *Service) CountServices(ctx context.Context) (map[string]int64, error) {
	stacks, err := s.Overview(ctx, ArchivedExclude)
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
