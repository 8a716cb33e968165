package containers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/notify/channels"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/store"
)

// allMigrations are those of all that the service stands on.
func allMigrations() []store.Migrations {
	return []store.Migrations{queue.Migrations(), notify.Migrations(), Migrations()}
}

// channelSet are doubles of channels by their references.
type channelSet map[string]*fake.Notifier

// listed are the channels in the order of their references.
func (c channelSet) listed() (out []channels.Channel) {
	for _, ref := range slices.Sorted(maps.Keys(c)) {
		out = append(out, channels.Channel{Ref: ref, Notifier: c[ref]})
	}
	return out
}

// sender makes a sender to the channels, quick to try again.
func (c channelSet) sender(t testing.TB, st *store.Store, now func() time.Time) *notify.Sender {
	t.Helper()
	s, err := notify.New(notify.Config{
		Store: st, Now: now, Backoff: func(attempt int) time.Duration { return 20 * time.Millisecond << min(attempt-1, 5) },
		Channel: func(ref string) (client.Notifier, error) {
			if ch := c[ref]; ch != nil {
				return ch, nil
			}
			return nil, fmt.Errorf("there is no instance %s", ref)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// newManager makes the settings of channels with a keyring.
func (e *env) newManager(sender *notify.Sender, ring *secret.Keyring) *channels.Manager {
	e.Helper()
	m, err := channels.New(channels.Config{Store: e.store, Keyring: ring, Sender: sender, Now: e.now})
	e.must(err)
	return m
}

// recipient is that of a role.
func (e *env) recipient(role string) notify.Recipient {
	e.Helper()
	set, err := e.manager.Settings(context.Background())
	e.must(err)
	return notify.Recipient{Name: role, Channel: map[string]string{
		channels.RoleChat: set.Chat.Instance, channels.RoleEmail: set.Email.Instance, channels.RoleWebhook: set.Webhook.Instance,
		channels.RoleWebPush: set.WebPush.Instance,
	}[role]}
}
