package domain

import (
	"context"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Connection is the DNS provider in use.
type Connection struct {
	// Ref is the reference of the instance, such as dns.main; "" without one.
	Ref string
	// Plugin is the name of the plugin of that instance; "" if it is not known.
	Plugin string
	// DNS is nil without a provider: domains are active at once, and their records are set by hand.
	DNS client.DNS
	// MXHost is the host that MX records name; "" if it is not known.
	MXHost string
}

// Unrouted is a registered mailbox that has no rule at the provider, or one that is not known.
type Unrouted struct{ ID, Address string }

// mailboxes is what domains need to know of their mailboxes.
type mailboxes interface {
	// CountLive returns how many mailboxes of a domain are not destroyed.
	CountLive(ctx context.Context, domainID string) (int64, error)
	// ListUnrouted returns the active registered mailboxes of a domain that have no rule that is known.
	ListUnrouted(ctx context.Context, domainID string) ([]Unrouted, error)
	// BeginRule notes, in the running transaction, that the provider is asked to make the rule of a mailbox. It reports false if the
	// mailbox needs none.
	BeginRule(ctx context.Context, mailboxID string) (needed bool, err error)
	// EndRule notes, in the running transaction, how such a request has ended: with a rule, or for "" without one. The rule of a mailbox
	// that is not active any more is looked for, and deleted, by the clean-up: when it looks anyway, or from a time on if it would not.
	EndRule(ctx context.Context, mailboxID, ruleID string, at time.Time) error
	// ForgetRules makes the rules of the mailboxes of a domain unknown to us, in the running transaction.
	ForgetRules(ctx context.Context, domainID string) error
	// ExpireCaught ends the time of the mailboxes that the catch-all of a domain has made, in the running transaction.
	ExpireCaught(ctx context.Context, domainID string, at time.Time) error
}

// Config is what the package needs.
type Config struct {
	Store     *store.Store
	Mailboxes mailboxes
	// Locks keep operations on one domain apart; nil does so in this process alone.
	Locks *cluster.Locks
	// Connect returns the DNS provider in use.
	Connect func() Connection
	Logger  hclog.Logger
	// Now is the clock.
	Now func() time.Time
}
