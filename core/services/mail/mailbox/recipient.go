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

// Recipients finds the mailboxes that mail is for, and makes those of catch-alls.
type Recipients struct {
	*Store
	cfg Config
}

// NewRecipients makes the finder.
func NewRecipients(cfg Config) *Recipients { return &Recipients{NewStore(cfg.Store), cfg} }

// FindForMail returns the active mailbox that mail to an address goes to. If there is none and the catch-all of the domain takes
// the address, the mailbox has an address and no id: MakeForMail makes it. planned is how many more such mailboxes the caller is
// going to make. The error is a fault with CodeUnknown or CodeExpired where the sender is to be refused for good.
func (r *Recipients) FindForMail(ctx context.Context, text string, planned int) (Mailbox, error) {
	if text == address.Postmaster {
		return r.findPostmaster(ctx)
	}
	a, box, found, err := r.findNamed(ctx, everybody, text)
	switch {
	case err != nil:
		return Mailbox{}, err
	case !found:
		d, err := r.findCatchAll(ctx, a)
		if err != nil {
			return Mailbox{}, err
		}
		return Mailbox{Address: a.String()}, r.checkCaught(ctx, d, planned)
	}
	return r.checkReceives(ctx, a, box)
}

// MakeForMail returns the active mailbox of an address that FindForMail has found, and makes it where the catch-all of the domain
// has to. Its errors are those of FindForMail. It works inside a running transaction as well.
func (r *Recipients) MakeForMail(ctx context.Context, text string) (Mailbox, error) {
	a, box, found, err := r.findNamed(ctx, everybody, text)
	switch {
	case err != nil:
		return Mailbox{}, err
	case found:
		return r.checkReceives(ctx, a, box)
	}
	return r.catchAddress(ctx, a)
}

// everybody sees all mailboxes, as arriving mail does.
var everybody = Caller{Admin: true}

// findNamed returns the mailbox of an address to which mail comes, or else that of name@ for name+tag@, with its address. It looks only
// at what the caller sees, and reports false if there is none.
func (r *Recipients) findNamed(ctx context.Context, caller Caller, text string) (a address.Address, box Mailbox, found bool, err error) {
	if a, err = address.ParseRecipient(text); err != nil {
		return a, box, false, errUnknownRecipient()
	}
	if box, found, err = r.findReceiver(ctx, a.String()); err != nil || found && caller.sees(box) {
		return a, box, found, err
	}
	if name, tagged := a.WithoutTag(); tagged {
		if box, found, err = r.findReceiver(ctx, name.String()); err != nil || found && caller.sees(box) {
			return name, box, found, err
		}
	}
	return a, Mailbox{}, false, nil
}

// findPostmaster returns the mailbox for mail to postmaster without a domain: that of the first active domain which has one.
func (r *Recipients) findPostmaster(ctx context.Context) (Mailbox, error) {
	names, err := activeNames(ctx, r.cfg.Domains)
	if err != nil {
		return Mailbox{}, err
	}
	for _, name := range names {
		a := address.Address{Local: address.Postmaster, Host: name}
		box, found, err := r.findReceiver(ctx, a.String())
		if err != nil {
			return Mailbox{}, err
		}
		if found && box.StatusAt(r.cfg.Now()) == Active {
			return box, nil
		}
	}
	return Mailbox{}, errUnknownRecipient()
}

// FindTagged returns the address of the mailbox that gets mail to a tagged address which has none itself, "" for any other address. What
// the caller does not see is as if it were not there.
func (r *Recipients) FindTagged(ctx context.Context, caller Caller, text string) (string, error) {
	if !strings.Contains(text, "+") {
		return "", nil
	}
	a, _, found, err := r.findNamed(ctx, caller, text)
	if isNotThere(err) || err == nil && (!found || a.String() == text) {
		return "", nil
	}
	return a.String(), err
}

// WouldCatch reports whether mail to an address without a mailbox would make one that the caller may see.
func (r *Recipients) WouldCatch(ctx context.Context, caller Caller, text string) (bool, error) {
	a, err := address.ParseRecipient(text)
	if err != nil {
		return false, nil
	}
	if _, found, err := r.findReceiver(ctx, a.String()); err != nil || found {
		return false, err
	}
	d, err := r.findCatchAll(ctx, a)
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
func (r *Recipients) findCatchAll(ctx context.Context, a address.Address) (domain.Domain, error) {
	d, found, err := r.cfg.Domains.FindForHost(ctx, a.Host)
	if err == nil && (!found || !catches(d, a.Local)) {
		err = errUnknownRecipient()
	}
	return d, err
}

// checkReceives returns the mailbox of an address, or why it takes no mail.
func (r *Recipients) checkReceives(ctx context.Context, a address.Address, box Mailbox) (Mailbox, error) {
	switch box.StatusAt(r.cfg.Now()) {
	case Active:
		return box, nil
	case Expired:
		return Mailbox{}, errExpiredRecipient()
	}
	if box.DestroyedAt == 0 {
		return Mailbox{}, errUnknownRecipient()
	}
	// It was destroyed before, and has the address again for a time: then the catch-all can make another one.
	if _, err := r.findCatchAll(ctx, a); err != nil {
		return Mailbox{}, err
	}
	return Mailbox{}, errAddressHeld()
}

// catchAddress makes the mailbox of an address that nobody has, where the catch-all of its domain is on.
func (r *Recipients) catchAddress(ctx context.Context, a address.Address) (box Mailbox, err error) {
	d, err := r.findCatchAll(ctx, a)
	if err != nil {
		return Mailbox{}, err
	}
	subdomain, _, _ := address.SplitHost(a.Host, []string{d.Name})
	err = r.store.Tx(ctx, "make catch-all mailbox", func(ctx context.Context) error {
		// The catch-all may have been switched off, and another connection may have made the mailbox.
		if d, err = r.cfg.Domains.ShareDomain(ctx, d.ID); err != nil {
			return err
		}
		if d.Status != domain.Active || !catches(d, a.Local) {
			return errUnknownRecipient()
		}
		if err := r.checkCaught(ctx, d, 0); err != nil {
			return err
		}
		box = Mailbox{
			ID: store.NewID("mbx"), DomainID: d.ID, OwnerID: d.CatchAllOwnerID, LocalPart: a.Local, Subdomain: subdomain, MailDomain: d.Name,
			Address: a.String(), Source: CatchAll, Status: Active, CreatedAt: r.cfg.Now().UnixMilli(), CreatedVia: ViaSystem,
		}
		added, err := r.insertMailbox(ctx, &box)
		if err != nil || added {
			return err
		}
		var found bool
		if box, found, err = r.findReceiver(ctx, a.String()); err != nil || !found {
			return errOr(err, errUnknownRecipient())
		}
		box, err = r.checkReceives(ctx, a, box)
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
func (r *Recipients) checkCaught(ctx context.Context, d domain.Domain, planned int) error {
	limit := r.cfg.Limits().CatchAll
	if limit == 0 {
		return nil
	}
	n, err := r.countCaught(ctx, d.ID)
	if err == nil && n+int64(planned) >= limit {
		r.cfg.Logger.Warn("catch-all reached its mailbox limit", "domain", d.Name, "limit", limit)
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
