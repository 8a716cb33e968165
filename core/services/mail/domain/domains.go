package domain

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/fault"
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
	// Connect returns the DNS provider in use.
	Connect func() Connection
	Logger  hclog.Logger
	// Now is the clock.
	Now func() time.Time
}

// Domains manages the mail domains.
type Domains struct {
	*Store
	cfg Config

	mu sync.Mutex
	// busy are the names of the domains that an operation of this process changes.
	busy map[string]bool
}

// New makes the manager.
func New(cfg Config) *Domains {
	return &Domains{Store: NewStore(cfg.Store), cfg: cfg, busy: map[string]bool{}}
}

// AddFromSettings makes the domains that the settings name, and that there are not, as active ones. A deleted one comes back, once its
// deletion has ended; one that was disabled stays so. One that somebody changes at present is left out. It may be repeated.
func (d *Domains) AddFromSettings(ctx context.Context, names []string) error {
	for _, name := range names {
		if err := d.addFromSettings(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// addFromSettings is AddFromSettings for one name.
func (d *Domains) addFromSettings(ctx context.Context, name string) error {
	release, err := d.acquire(name)
	if err != nil {
		// Somebody changes it.
		return nil
	}
	defer release()
	found, exists, err := d.FindByName(ctx, name)
	if err != nil || exists && !found.isDeleted() {
		return err
	}
	row := Domain{Name: name, Binding: FromSettings, Status: Active, ProvisionedAt: d.cfg.Now().UnixMilli()}
	row.setRecords(planRecords(name, d.cfg.Connect().MXHost))
	return d.put(ctx, &row)
}

// put stores a domain under its name: a new row, or the one that a deleted domain has left.
func (d *Domains) put(ctx context.Context, row *Domain) error {
	now := d.cfg.Now().UnixMilli()
	return d.cfg.Store.Tx(ctx, "add mail domain", func(ctx context.Context) error {
		row.ID, row.CreatedAt, row.UpdatedAt = store.NewID("dom"), now, now
		added, err := d.insert(ctx, row)
		if err != nil || added {
			return err
		}
		former, _, err := d.FindByName(ctx, row.Name)
		if err != nil {
			return err
		}
		if !former.isDeleted() {
			return errManaged(former)
		}
		row.ID = former.ID
		return d.replaceDomain(ctx, row)
	})
}

// acquire keeps other operations away from a domain until release is called.
func (d *Domains) acquire(name string) (release func(), err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.busy[name] {
		return nil, fault.New(fault.Conflict, "Another change of %s is under way.", name)
	}
	d.busy[name] = true
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.busy, name)
	}, nil
}

// persist writes a domain in a transaction of its own, also when the request has ended.
func (d *Domains) persist(ctx context.Context, row *Domain) error {
	row.UpdatedAt = d.cfg.Now().UnixMilli()
	return d.cfg.Store.Tx(context.WithoutCancel(ctx), "change mail domain", func(ctx context.Context) error { return d.save(ctx, row) })
}

// persistStep journals how far an operation has come, before its next step. It fails if another provider has been put into use meanwhile.
func (d *Domains) persistStep(ctx context.Context, row *Domain, step string) error {
	if err := sameProvider(d.cfg.Connect(), *row); err != nil {
		return err
	}
	row.Step = step
	return d.persist(ctx, row)
}

func errManaged(d Domain) error {
	return fault.New(fault.Conflict, "%s is a mail domain already.", d.Name).With("domainId", d.ID)
}
