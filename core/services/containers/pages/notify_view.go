package pages

import (
	"slices"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/notify/channels"
)

// notifyPages are the pages of notifications.
type notifyPages struct{ pages }

const (
	notifyPath = "/notifications"
	// messagesShown is how many notifications of the history a page shows.
	messagesShown = 50
)

// channelForm is what was sent to change a channel, without secrets, and why it was refused.
type channelForm struct {
	Channel string
	Values  map[string]string
	Err     *fault.Error
}

// notifyView is what the page shows.
type notifyView struct {
	Settings channels.NotificationSettings
	Channels []channelView
	Browsers []channels.Subscriber
	Form     channelForm
	History  historyView
}

// channelNamed is the one with a name; nil if there is none.
func (n *notifyView) channelNamed(name string) *channelView {
	i := slices.IndexFunc(n.Channels, func(ch channelView) bool { return ch.Name == name })
	if i < 0 {
		return nil
	}
	return &n.Channels[i]
}

// channelView is one channel, also one that no instance plays.
type channelView struct {
	Name string
	channels.ChannelState
	// Gap is why it cannot be used; nil if it can.
	Gap *fault.Error
	// Last is its newest delivery; nil if there was none.
	Last *channels.MessageDelivery
	// Answer is what became of a test, Refused why it or a change was refused. They are nil unless that is what the page answers.
	Answer  *channels.TestResult
	Refused *fault.Error
	// Refs are the instances that the settings name already.
	Refs []string
}

// hasRole reports whether its recipient is set in the console.
func (ch channelView) hasRole() bool { return slices.Contains(channels.Roles(), ch.Name) }

// stateName is what a person wants to know of it first.
func (ch channelView) stateName() string {
	switch {
	case !ch.Available:
		return "absent"
	case ch.Gap != nil && ch.Gap.Code != fault.InvalidArgument:
		return "unreachable"
	case ch.Gap != nil:
		return "incomplete"
	case !ch.Enabled:
		return "off"
	case ch.Last != nil && ch.Last.State == "failed":
		return "failed"
	}
	return "on"
}

// isFixed reports whether the configuration sets a member.
func (ch channelView) isFixed(member string) bool { return slices.Contains(ch.ReadOnly, member) }

// historyView is a page of the history.
type historyView struct {
	Messages []channels.SentMessage
	// Before is where it begins; empty for the newest. Next is where the next page begins; empty at the end.
	Before, Next string
}

// setting is one field of the form of a channel.
type setting struct {
	// Channel and Member are its place in the settings of the API.
	Channel, Member string
	// Kind is the type of the input; a field with Options is a choice of them.
	Kind    string
	Options []string
	// Value is what stands in the field; for a secret always empty.
	Value string
	// Set reports whether a secret is stored; a secret field that is left empty keeps it.
	Secret, Set bool
	// Fixed fields are set in the configuration.
	Fixed bool
	// Err is why the value was refused; nil if it was not.
	Err *fault.Error
}

func (f setting) fieldID() string { return f.Channel + "-" + f.Member }
