package containers

import (
	"cmp"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/notify/channels"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/services/containers/webhook"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

// SelfUpgradeURL is where this instance itself is upgraded: a path on this host, or an absolute URL.
func (s *Service) SelfUpgradeURL() string { return s.settings().SelfUpgradeURL }

// ComposeCommand is the compose command as the settings name it.
func (s *Service) ComposeCommand() string { return s.settings().ComposeBin }

// DiscoveryInterval is the pause between two automatic discoveries.
func (s *Service) DiscoveryInterval() time.Duration {
	return time.Duration(s.settings().Discovery) * time.Second
}

// Channels returns the settings of channels, which the service shows.
func (s *Service) Channels() *channels.Manager { return s.cfg.Channels }

// Version returns the version of the core.
func (s *Service) Version() string { return cmp.Or(s.cfg.Version, "0.0.0-dev") }

// CheckTriggerSecret compares what a caller shows with the secret of the settings, in constant time.
func (s *Service) CheckTriggerSecret(shown string) error {
	want := s.settings().WebhookSecret.Reveal()
	switch {
	case want == "":
		return webhook.SignatureError(webhook.SignatureNoSecret, "No webhook secret is set.")
	case !secret.Equal(shown, want):
		return webhook.SignatureError(webhook.SignatureTriggered, "The webhook secret is wrong.")
	}
	return nil
}

// Queue returns the queue of the service's jobs.
func (s *Service) Queue() *work.Queue { return s.queue }

// Live returns the bus of what the queue does not carry.
func (s *Service) Live() *event.Bus { return s.live }

// Logger returns the log of the service.
func (s *Service) Logger() hclog.Logger { return s.log }

// Now returns the time.
func (s *Service) Now() time.Time { return s.cfg.Now() }
