package containers

import (
	"context"
	"time"

	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

// gapWait bounds how long the channels are asked whether their settings are complete.
const gapWait = 5 * time.Second

// ChannelGaps tells, by channel, why one that plays a role cannot be used as it is set: an invalid_argument names in its
// member field the setting that is missing or wrong, anything else says that the channel could not be asked. Channels that
// could be used are left out. Nothing is sent.
func (s *Service) ChannelGaps(ctx context.Context) (map[string]error, error) {
	set, err := s.storedNotifications(ctx)
	if err != nil {
		return nil, err
	}
	all, err := s.channels()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, gapWait)
	defer cancel()
	out := map[string]error{}
	for _, c := range all {
		if c.role == "" {
			continue
		}
		if err := s.complete(ctx, &set, all, c.role); err != nil {
			out[c.name] = err
		}
	}
	return out, nil
}

// The channels whose recipients are set in the console or by the API, by the names that they have there.
const (
	ChannelChat    = sdk.RoleChat
	ChannelEmail   = sdk.RoleEmail
	ChannelWebhook = sdk.RoleWebhook
	ChannelWebPush = sdk.RoleWebPush
)

// ChannelRoles are these names.
func ChannelRoles() []string { return sdk.Roles() }
