package mailbox

import (
	"context"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/lists"
	"github.com/patchbay-dev/patchbay/core/services/mail/address"
	"github.com/patchbay-dev/patchbay/core/services/mail/domain"
	"github.com/patchbay-dev/patchbay/core/store"
)

// NewMailbox says what mailbox to make.
type NewMailbox struct {
	// Address, if set, says the same as LocalPart, Subdomain and MailDomain together.
	Address string
	// LocalPart is "" for a random one, MailDomain for a random active domain, Subdomain for the domain itself.
	LocalPart, Subdomain, MailDomain string
	Lifetime                         Lifetime
	Tags                             []string
}

// reserveFor is how long a reservation lasts whose provider does not answer: no request for a rule takes longer.
const reserveFor = 10 * time.Minute

// maxRandom is how many random names are tried.
const maxRandom = 8

// place is where a mailbox is to be.
type place struct {
	local, subdomain string
	domain           domain.Domain
}

func (p place) host() string {
	if p.subdomain == "" {
		return p.domain.Name
	}
	return p.subdomain + "." + p.domain.Name
}

// Create makes a mailbox. The error for an address that is taken is an *ExistsError if the caller may see the mailbox.
func (m *Mailboxes) Create(ctx context.Context, caller Caller, in NewMailbox) (Mailbox, error) {
	tags, err := NormaliseTags(in.Tags)
	if err != nil {
		return Mailbox{}, err
	}
	expires, err := in.Lifetime.expiry(m.cfg.Now())
	if err != nil {
		return Mailbox{}, err
	}
	at, err := m.findPlace(ctx, caller, in)
	if err != nil {
		return Mailbox{}, err
	}
	random := at.local == ""
	for attempt := 0; ; attempt++ {
		if random {
			at.local = address.RandomLocal(attempt)
		}
		box, err := m.register(ctx, caller, at, expires, tags)
		if !random || fault.CodeOf(err) != CodeExists || attempt == maxRandom-1 {
			return box, err
		}
	}
}

// findPlace finds the domain of a mailbox and checks its name.
func (m *Mailboxes) findPlace(ctx context.Context, caller Caller, in NewMailbox) (p place, err error) {
	if in.Address != "" {
		return m.parsePlace(ctx, caller, in.Address)
	}
	if p.subdomain, err = address.ParseSubdomain(in.Subdomain); err != nil {
		return place{}, err
	}
	if in.LocalPart != "" {
		if p.local, err = address.ParseLocal(in.LocalPart); err != nil {
			return place{}, err
		}
		if err := checkReserved(caller, p.local, "localPart"); err != nil {
			return place{}, err
		}
	}
	if p.domain, err = m.chooseDomain(ctx, in.MailDomain); err != nil {
		return place{}, err
	}
	if p.local != "" {
		_, err = address.Join(p.local, p.host())
	}
	return p, err
}

// parsePlace is findPlace for a whole address.
func (m *Mailboxes) parsePlace(ctx context.Context, caller Caller, text string) (place, error) {
	a, err := address.Parse(text)
	if err != nil {
		return place{}, err
	}
	if err := checkReserved(caller, a.Local, "address"); err != nil {
		return place{}, err
	}
	d, found, err := m.cfg.Domains.FindForHost(ctx, a.Host)
	if err != nil {
		return place{}, err
	}
	if !found {
		names, err := activeNames(ctx, m.cfg.Domains)
		if err != nil {
			return place{}, err
		}
		return place{}, fault.New(fault.InvalidArgument, "The address does not belong to an active mail domain.").With("field",
			"address").With("activeRootDomains", names)
	}
	return place{a.Local, strings.TrimSuffix(strings.TrimSuffix(a.Host, d.Name), "."), d}, nil
}

// activeNames returns the names of the active domains.
func activeNames(ctx context.Context, all domains) ([]string, error) {
	active, err := all.ListActive(ctx)
	return lists.ConvertAll(active, func(d domain.Domain) string { return d.Name }), err
}

func checkReserved(caller Caller, local, field string) error {
	if address.IsReserved(local) && !caller.Admin {
		return fault.New(fault.Forbidden, "%q is reserved for administrators.", local).With("field", field)
	}
	return nil
}

// chooseDomain returns the active domain of a name, or any active one for "".
func (m *Mailboxes) chooseDomain(ctx context.Context, name string) (domain.Domain, error) {
	active, err := m.cfg.Domains.ListActive(ctx)
	if err != nil {
		return domain.Domain{}, err
	}
	if len(active) == 0 {
		return domain.Domain{}, fault.New(fault.InvalidArgument, "No mail domain is active.").With("field", "mailDomain")
	}
	if name == "" {
		return active[address.RandomIndex(len(active))], nil
	}
	if name, err = address.ParseDomain(name); err != nil {
		return domain.Domain{}, err
	}
	for _, d := range active {
		if d.Name == name {
			return d, nil
		}
	}
	return domain.Domain{}, fault.New(fault.InvalidArgument, "The mail domain %s is not active.", name).With("field",
		"mailDomain").With("rootDomain", name)
}

// register makes a mailbox at a place: at once, or by way of a reservation while the provider makes a rule for it.
func (m *Mailboxes) register(ctx context.Context, caller Caller, at place, expires int64, tags []string) (Mailbox, error) {
	box := Mailbox{
		ID: store.NewID("mbx"), DomainID: at.domain.ID, OwnerID: caller.UserID, LocalPart: at.local, Subdomain: at.subdomain,
		MailDomain: at.domain.Name,
		Address:    at.local + "@" + at.host(), Source: Registered, Status: Active, CreatedAt: m.cfg.Now().UnixMilli(), ExpiresAt: expires,
		CreatedVia: caller.Via, KeyID: caller.KeyID, KeyName: caller.KeyName, KeyPrefix: caller.KeyPrefix, Tags: tags,
	}
	d, err := m.insertOwned(ctx, caller, &box)
	if err == nil && box.Status != Active {
		box, err = m.activateReservation(context.WithoutCancel(ctx), d, box)
	}
	return box, explainError(caller, at.domain.Name, err)
}

// insertOwned inserts a mailbox if its owner may have one more, its address is free and its domain active: as a reservation where the
// provider must be told of the address. It returns the domain. It locks the owner first, then the domain, then the mailbox.
func (m *Mailboxes) insertOwned(ctx context.Context, caller Caller, box *Mailbox) (d domain.Domain, err error) {
	err = m.store.Tx(ctx, "create mailbox", func(ctx context.Context) error {
		if err := m.checkCount(ctx, caller); err != nil {
			return err
		}
		if d, err = m.shareActive(ctx, *box); err != nil {
			return err
		}
		routed, err := m.cfg.Router.NeedsRoute(d, box.host())
		if err != nil {
			return err
		}
		if box.Status, box.RuleRequests, box.CleanupAt = Active, 0, 0; routed {
			box.Status, box.RuleRequests, box.CleanupAt = Destroying, 1, m.cfg.Now().Add(reserveFor).UnixMilli()
		}
		added, err := m.insertMailbox(ctx, box)
		if err != nil || added {
			return err
		}
		taken, found, err := m.findByAddress(ctx, box.Address)
		if err != nil {
			return err
		}
		if !found {
			return errExists()
		}
		return errTaken(caller, taken)
	})
	return d, err
}

// checkCount refuses one more mailbox for a user who has as many as may be. It locks the owner if there is a limit.
func (m *Mailboxes) checkCount(ctx context.Context, caller Caller) error {
	limit := m.cfg.Limits().PerUser
	if caller.Admin || limit == 0 {
		return nil
	}
	if err := m.lockOwner(ctx, caller.UserID); err != nil {
		return err
	}
	n, err := m.countOwned(ctx, caller.UserID)
	if err == nil && n >= limit {
		return fault.New(fault.Conflict, "You have %d mailboxes, which is the limit: delete some first.", n).With("limit", limit)
	}
	return err
}

// shareActive returns the domain of a mailbox, which stays as it is until the end of the transaction. It fails if that is not active any
// more.
func (m *Mailboxes) shareActive(ctx context.Context, box Mailbox) (domain.Domain, error) {
	d, err := m.cfg.Domains.ShareDomain(ctx, box.DomainID)
	if err != nil && fault.CodeOf(err) != fault.NotFound {
		return domain.Domain{}, err
	}
	if err != nil || d.Status != domain.Active {
		return domain.Domain{}, errDomainChanged(box, "The mail domain %s is no longer active.")
	}
	return d, nil
}

// errDomainChanged is for a mailbox that cannot be made because of what has become of its domain.
func errDomainChanged(box Mailbox, text string) error {
	return fault.New(fault.Conflict, text, box.MailDomain).With("domainId", box.DomainID).With("rootDomain", box.MailDomain)
}
