package containers

import (
	"time"
)

// SelfUpgradeURL is where this instance itself is upgraded: a path on this host, or an absolute URL.
func (s *Service) SelfUpgradeURL() string { return s.settings().SelfUpgradeURL }

// ComposeCommand is the compose command as the settings name it.
func (s *Service) ComposeCommand() string { return s.settings().ComposeBin }

// DiscoveryInterval is the pause between two automatic discoveries.
func (s *Service) DiscoveryInterval() time.Duration {
	return time.Duration(s.settings().Discovery) * time.Second
}
