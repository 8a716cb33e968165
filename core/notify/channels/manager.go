// Package channels keeps what people have set about the channels of notifications: which are switched on, where they
// reach people, their sealed secrets, the browsers that have subscribed, and which events are told. It knows no service:
// the one whose pages show the settings names its events, and writes its messages.
package channels

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/store"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

// Config is what a Manager needs.
type Config struct {
	Store   *store.Store
	Keyring *secret.Keyring
	// Sender sends what the manager's services post.
	Sender *notify.Sender
	Logger hclog.Logger
	// Locks keep changes of the settings apart; nil does so in this process alone.
	Locks *cluster.Locks
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Channel is an instance of the kind notify.
type Channel struct {
	// Ref is its reference, such as notify.ops.
	Ref string
	client.Notifier
}

// Event is something that people can ask not to be told of.
type Event struct {
	// Name is what the settings call it, Kind the kind of the messages that tell it.
	Name, Kind string
}

// Host is the service whose pages and endpoints show the settings.
type Host interface {
	// NotificationEvents returns the events of the settings.
	NotificationEvents() []Event
	// NotificationLocale returns the language of messages, "zh" or "en".
	NotificationLocale() string
	// PublicBaseURL returns the public address of the pages, or "".
	PublicBaseURL(ctx context.Context) string
	// WriteTest writes a message that shows whether messages arrive. An empty channel means all of them.
	WriteTest(ctx context.Context, channel, text string) (*notify.Message, error)
}

// Manager keeps the settings of channels. It is safe for concurrent use.
type Manager struct {
	*records
	// service is the name of host.
	service string
	host    Host
	listed  atomic.Pointer[listed]
}

// listed is what a reload replaces at once.
type listed struct {
	channels []Channel
	// declared are the references of the configuration, also of instances that do not run.
	declared []string
}

// New returns a manager without channels, and has the sender ask it where alerts go.
func New(cfg Config) (*Manager, error) {
	if cfg.Store == nil || cfg.Keyring == nil || cfg.Sender == nil {
		return nil, errors.New("the settings of channels need a database, a keyring and a sender")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = hclog.NewNullLogger()
	}
	cfg.Locks = cmp.Or(cfg.Locks, new(cluster.Locks))
	m := &Manager{records: &records{cfg}}
	m.listed.Store(&listed{})
	cfg.Sender.UseChannels(m)
	return m, nil
}

// SetHost names the service whose pages show the settings. It is called before anything is sent.
func (m *Manager) SetHost(service string, h Host) { m.service, m.host = service, h }

// SetChannels replaces the channels. The settings show them in this order; declared are the references of the
// configuration, also of instances that do not run.
func (m *Manager) SetChannels(channels []Channel, declared []string) {
	m.listed.Store(&listed{channels, declared})
}

// Locale implements notify.Channels: it returns the language of the host, or "en".
func (m *Manager) Locale() string {
	if m.host == nil {
		return "en"
	}
	return m.host.NotificationLocale()
}

func (m *Manager) declaredEvents() []Event {
	if m.host == nil {
		return nil
	}
	return m.host.NotificationEvents()
}

// channel is a Channel with its place in the settings.
type channel struct {
	Channel
	// name is the role that it plays, else the instance's name.
	name string
	// role is empty for a channel that has its recipient in the configuration.
	role string
}

// The channels whose recipients people set, by the names that they have in the settings.
const (
	RoleChat    = sdk.RoleChat
	RoleEmail   = sdk.RoleEmail
	RoleWebhook = sdk.RoleWebhook
	RoleWebPush = sdk.RoleWebPush
)

// Roles returns the names of these channels.
func Roles() []string { return sdk.Roles() }

// attribute is a setting of a role, and the name that it has in the configuration of an instance.
type attribute struct{ member, attribute string }

// attributes are the settings of the roles. The first of each is the secret.
var attributes = map[string][]attribute{
	sdk.RoleChat:    {{"botToken", "bot_token"}, {"chatId", "chat_id"}},
	sdk.RoleEmail:   {{"smtpUrl", "smtp_url"}},
	sdk.RoleWebhook: {{"secret", "secrets"}, {"url", "url"}},
	sdk.RoleWebPush: {{"vapidPrivateKey", "vapid_private_key"}, {"vapidPublicKey", "vapid_public_key"}, {"vapidSubject", "vapid_subject"}},
}

// listChannels returns the channels in the order of the configuration. The first that can play a role plays it; others have the
// name of their instance.
func (m *Manager) listChannels() ([]channel, error) {
	var out []channel
	taken := map[string]bool{}
	for _, c := range m.listed.Load().channels {
		about, err := c.Describe()
		if err != nil {
			return nil, fmt.Errorf("ask the channel %s what it can do: %w", c.Ref, err)
		}
		next := channel{Channel: c, role: about.Role}
		if next.role == "" || taken[next.role] || attributes[next.role] == nil {
			next.role = ""
			_, next.name, _ = strings.Cut(c.Ref, ".")
			if attributes[next.name] != nil || taken[next.name] {
				next.name = c.Ref
			}
		} else {
			next.name = next.role
		}
		taken[next.name] = true
		out = append(out, next)
	}
	return out, nil
}

// findChannel returns the channel with a name, or nil.
func findChannel(all []channel, name string) *channel {
	i := slices.IndexFunc(all, func(c channel) bool { return c.name == name })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// invalid returns the error for a field that is not as it must be.
func invalid(field, format string, args ...any) *fault.Error {
	return fault.New(fault.InvalidArgument, format, args...).With("field", field)
}
