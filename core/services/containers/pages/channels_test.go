package pages

import (
	"errors"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/notify/channels"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

// channels makes the doubles of channels, once.
func (s *site) channels() []channels.Channel {
	if s.chat == nil {
		s.chat = fake.NewNotifier(sdk.Descriptor{Role: sdk.RoleChat, Capabilities: []string{sdk.CapImage, sdk.CapHTML}})
		s.push = fake.NewNotifier(sdk.Descriptor{Role: sdk.RoleWebPush, Capabilities: []string{sdk.CapIdempotent}})
		s.mail = fake.NewNotifier(sdk.Descriptor{Role: sdk.RoleEmail, Capabilities: []string{sdk.CapHTML}})
		s.other = fake.NewNotifier(sdk.Descriptor{})
	}
	return []channels.Channel{{Ref: "notify.chat", Notifier: s.chat}, {Ref: "notify.mail", Notifier: s.mail},
		{Ref: "notify.push", Notifier: s.push}, {Ref: "notify.pager", Notifier: s.other}}
}

func (s *site) channel(ref string) (client.Notifier, error) {
	for _, c := range s.channels() {
		if c.Ref == ref {
			return c, nil
		}
	}
	return nil, errors.New("there is no such instance")
}
