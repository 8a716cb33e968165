package mailbox

import (
	"cmp"
	"context"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/services/mail/domain"
	"github.com/patchbay-dev/patchbay/core/store"
)

// domains is what mailboxes need to know of the mail domains.
type domains interface {
	// ListActive returns the active domains, by name.
	ListActive(ctx context.Context) ([]domain.Domain, error)
	// FindForHost returns the active domain that a host belongs to. It reports false if there is none.
	FindForHost(ctx context.Context, host string) (domain.Domain, bool, error)
	// ShareDomain returns a domain that stays as it is until the end of the running transaction.
	ShareDomain(ctx context.Context, id string) (domain.Domain, error)
}

// router has the provider of a domain route mail for single addresses to us.
type router interface {
	// NeedsRoute reports whether the provider must be told of a mailbox at a host of the domain.
	NeedsRoute(d domain.Domain, host string) (bool, error)
	// AddRoute has the provider accept mail for an address, and returns the id of its rule, "" where it needs none. One that
	// there is is reused.
	AddRoute(ctx context.Context, d domain.Domain, address string) (ruleID string, err error)
	// RemoveRoute deletes the rule of an address, which is of the provider that the domain has in this state. That there is none is no
	// error. If its id is not known, it is found first.
	RemoveRoute(ctx context.Context, d domain.Domain, address, ruleID string, known bool) error
}

// messageRemover deletes what mailboxes hold.
type messageRemover interface {
	// DeleteMailboxMessages deletes all messages of a mailbox. That there are none is no error.
	DeleteMailboxMessages(ctx context.Context, mailboxID string) error
}

// Limits bound how many mailboxes there may be.
type Limits struct {
	// PerUser is how many mailboxes that are not destroyed a user may have, administrators excepted; 0 means no limit.
	PerUser int64
	// CatchAll is how many mailboxes the catch-all of a domain makes at most; 0 means no limit.
	CatchAll int64
}

// Config is what the package needs.
type Config struct {
	Store    *store.Store
	Domains  domains
	Router   router
	Messages messageRemover
	// Locks keep those apart who delete the contents of one mailbox; nil does so in this process alone.
	Locks  *cluster.Locks
	Logger hclog.Logger
	// Limits returns those in use.
	Limits func() Limits
	// Now is the clock.
	Now func() time.Time
}

// Mailboxes manages the mailboxes.
type Mailboxes struct {
	*Store
	cfg Config
}

// New makes the manager.
func New(cfg Config) *Mailboxes {
	cfg.Locks = cmp.Or(cfg.Locks, new(cluster.Locks))
	return &Mailboxes{Store: NewStore(cfg.Store), cfg: cfg}
}

// lockContents keeps others, also other nodes, from deleting the rules and messages of a mailbox. The error is cluster.ErrLocked if
// somebody does so already: two would look for one rule, and the later one could find, and delete, that of the next mailbox with the
// address.
func (m *Mailboxes) lockContents(ctx context.Context, id string) (*cluster.Lock, error) {
	return m.cfg.Locks.TryLock(ctx, "mail.mailbox/"+id)
}
