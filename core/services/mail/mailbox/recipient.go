package mailbox

import (
	"context"
	"net/http"
	"regexp"
	"strings"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/mail/address"
	"github.com/patchbay-dev/patchbay/core/services/mail/domain"
	"github.com/patchbay-dev/patchbay/core/store"
)

// FindForMail returns the active mailbox that mail to an address goes to. If there is none and the catch-all of the domain takes
// the address, the mailbox has an address and no id: MakeForMail makes it. planned is how many more such mailboxes the caller is
// going to make. The error is a fault with CodeUnknown or CodeExpired where the sender is to be refused for good.
func (m *Mailboxes) FindForMail(ctx context.Context, text string, planned int) (Mailbox, error) {
	if text == address.Postmaster {
		return m.findPostmaster(ctx)
	}
	a, box, found, err := m.findNamed(ctx, everybody, text)
	switch {
	case err != nil:
		return Mailbox{}, err
	case !found:
		d, err := m.findCatchAll(ctx, a)
		if err != nil {
			return Mailbox{}, err
		}
		return Mailbox{Address: a.String()}, m.checkCaught(ctx, d, planned)
	}
	return m.checkReceives(ctx, a, box)
}

// MakeForMail returns the active mailbox of an address that FindForMail has found, and makes it where the catch-all of the domain
// has to. Its errors are those of FindForMail. It works inside a running transaction as well.
func (m *Mailboxes) MakeForMail(ctx context.Context, text string) (Mailbox, error) {
	a, box, found, err := m.findNamed(ctx, everybody, text)
	switch {
	case err != nil:
		return Mailbox{}, err
	case found:
		return m.checkReceives(ctx, a, box)
	}
	return m.catchAddress(ctx, a)
}

// everybody sees all mailboxes, as arriving mail does.
var everybody = Caller{Admin: true}

// findNamed returns the mailbox of an address to which mail comes, or else that of name@ for name+tag@, with its address. It looks only
// at what the caller sees, and reports false if there is none.
func (m *Mailboxes) findNamed(ctx context.Context, caller Caller, text string) (a address.Address, box Mailbox, found bool, err error) {
	if a, err = address.ParseRecipient(text); err != nil {
		return a, box, false, errUnknownRecipient()
	}
	if box, found, err = m.findReceiver(ctx, a.String()); err != nil || found && caller.sees(box) {
		return a, box, found, err
	}
	if name, tagged := a.WithoutTag(); tagged {
		if box, found, err = m.findReceiver(ctx, name.String()); err != nil || found && caller.sees(box) {
			return name, box, found, err
		}
	}
	return a, Mailbox{}, false, nil
}

// findPostmaster returns the mailbox for mail to postmaster without a domain: that of the first active domain which has one.
func (m *Mailboxes) findPostmaster(ctx context.Context) (Mailbox, error) {
	names, err := m.activeNames(ctx)
	if err != nil {
		return Mailbox{}, err
	}
	for _, name := range names {
		a := address.Address{Local: address.Postmaster, Host: name}
		box, found, err := m.findReceiver(ctx, a.String())
		if err != nil {
			return Mailbox{}, err
		}
		if found && box.StatusAt(m.cfg.Now()) == Active {
			return box, nil
		}
	}
	return Mailbox{}, errUnknownRecipient()
}

// FindTagged returns the address of the mailbox that gets mail to a tagged address which has none itself, "" for any other address. What
// the caller does not see is as if it were not there.
func (m *Mailboxes) FindTagged(ctx context.Context, caller Caller, text string) (string, error) {
	if !strings.Contains(text, "+") {
		return "", nil
	}
	a, _, found, err := m.findNamed(ctx, caller, text)
	if isNotThere(err) || err == nil && (!found || a.String() == text) {
		return "", nil
	}
	return a.String(), err
}

// WouldCatch reports whether mail to an address without a mailbox would make one that the caller may see.
func (m *Mailboxes) WouldCatch(ctx context.Context, caller Caller, text string) (bool, error) {
	a, err := address.ParseRecipient(text)
	if err != nil {
		return false, nil
	}
	if _, found, err := m.findReceiver(ctx, a.String()); err != nil || found {
		return false, err
	}
	d, err := m.findCatchAll(ctx, a)
	if isNotThere(err) {
		return false, nil
	}
	return caller.Admin || d.CatchAllOwnerID == caller.UserID, err
}

// isNotThere reports whether an error says that an address gets no mail.
func isNotThere(err error) bool {
	return err != nil && fault.StatusOf(fault.As(err)) == http.StatusNotFound
}

// findCatchAll returns the domain whose catch-all takes an address.
func (m *Mailboxes) findCatchAll(ctx context.Context, a address.Address) (domain.Domain, error) {
	d, found, err := m.cfg.Domains.FindForHost(ctx, a.Host)
	if err == nil && (!found || !catches(d, a.Local)) {
		err = errUnknownRecipient()
	}
	return d, err
}

// checkReceives returns the mailbox of an address, or why it takes no mail.
func (m *Mailboxes) checkReceives(ctx context.Context, a address.Address, box Mailbox) (Mailbox, error) {
	switch box.StatusAt(m.cfg.Now()) {
	case Active:
		return box, nil
	case Expired:
		return Mailbox{}, errExpiredRecipient()
	}
	if box.DestroyedAt == 0 {
		return Mailbox{}, errUnknownRecipient()
	}
	// It was destroyed before, and has the address again for a time: then the catch-all can make another one.
	if _, err := m.findCatchAll(ctx, a); err != nil {
		return Mailbox{}, err
	}
	return Mailbox{}, errAddressHeld()
}

// catchAddress makes the mailbox of an address that nobody has, where the catch-all of its domain is on.
func (m *Mailboxes) catchAddress(ctx context.Context, a address.Address) (box Mailbox, err error) {
	d, err := m.findCatchAll(ctx, a)
	if err != nil {
		return Mailbox{}, err
	}
	subdomain, _, _ := address.SplitHost(a.Host, []string{d.Name})
	err = m.store.Tx(ctx, "make catch-all mailbox", func(ctx context.Context) error {
		// The catch-all may have been switched off, and another connection may have made the mailbox.
		if d, err = m.cfg.Domains.ShareDomain(ctx, d.ID); err != nil {
			return err
		}
		if d.Status != domain.Active || !catches(d, a.Local) {
			return errUnknownRecipient()
		}
		if err := m.checkCaught(ctx, d, 0); err != nil {
			return err
		}
		box = Mailbox{
			ID: store.NewID("mbx"), DomainID: d.ID, OwnerID: d.CatchAllOwnerID, LocalPart: a.Local, Subdomain: subdomain, MailDomain: d.Name,
			Address: a.String(), Source: CatchAll, Status: Active, CreatedAt: m.cfg.Now().UnixMilli(), CreatedVia: ViaSystem,
		}
		added, err := m.insertMailbox(ctx, &box)
		if err != nil || added {
			return err
		}
		var found bool
		if box, found, err = m.findReceiver(ctx, a.String()); err != nil || !found {
			return errOr(err, errUnknownRecipient())
		}
		box, err = m.checkReceives(ctx, a, box)
		return err
	})
	return box, err
}

func errOr(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

// checkCaught refuses one more mailbox of a catch-all that has made as many as may be, with those that are planned.
func (m *Mailboxes) checkCaught(ctx context.Context, d domain.Domain, planned int) error {
	limit := m.cfg.Limits().CatchAll
	if limit == 0 {
		return nil
	}
	n, err := m.countCaught(ctx, d.ID)
	if err == nil && n+int64(planned) >= limit {
		m.cfg.Logger.Warn("the catch-all of a domain has made as many mailboxes as it may", "domain", d.Name, "limit", limit)
		return errUnknownRecipient()
	}
	return err
}

// catches reports whether the catch-all of a domain takes a local part.
func catches(d domain.Domain, local string) bool {
	name, _, _ := strings.Cut(local, "+")
	if !d.CatchAll || address.IsReserved(name) {
		return false
	}
	if d.CatchAllPattern == "" {
		return true
	}
	pattern, err := regexp.Compile(`^(?:` + d.CatchAllPattern + `)$`)
	return err == nil && pattern.MatchString(local)
}
