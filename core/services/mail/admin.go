package mail

import (
	"context"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/mail/api"
	"github.com/patchbay-dev/patchbay/core/services/mail/domain"
	"github.com/patchbay-dev/patchbay/core/services/mail/mailbox"
	"github.com/patchbay-dev/patchbay/core/services/mail/message"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Admin has the verbs that need no running service: the command line calls them beside one.
type Admin struct {
	mailboxes  *mailbox.Mailboxes
	recipients *mailbox.Recipients
	messages   *message.Store
}

// NewAdmin makes the verbs. The migrations have run.
func NewAdmin(st *store.Store) (*Admin, error) {
	messages, err := message.NewStore(st)
	if err != nil {
		return nil, err
	}
	cfg := mailbox.Config{
		Store: st, Domains: domain.NewStore(st), Router: noProvider{}, Messages: messages, Logger: hclog.NewNullLogger(), Now: time.Now,
		Limits: func() mailbox.Limits { return mailbox.Limits{} },
	}
	return &Admin{mailboxes: mailbox.New(cfg), recipients: mailbox.NewRecipients(cfg), messages: messages}, nil
}

// systemCaller acts for whoever may use the command line.
func systemCaller(ownerID string) mailbox.Caller {
	return mailbox.Caller{UserID: ownerID, Admin: true, Via: mailbox.ViaSystem}
}

// CreateMailbox makes a mailbox that belongs to a user, "" for nobody.
func (a *Admin) CreateMailbox(ctx context.Context, ownerID string, in mailbox.NewMailbox) (mailbox.Mailbox, error) {
	return a.mailboxes.Create(ctx, systemCaller(ownerID), in)
}

// ListMailboxes returns a page of all mailboxes, the newest first, and the cursor of the next page.
func (a *Admin) ListMailboxes(ctx context.Context, cursor string) (page []mailbox.Mailbox, next string, err error) {
	return a.mailboxes.List(ctx, systemCaller(""), mailbox.Filter{}, 200, cursor)
}

// NewestMessage returns the newest message to an address, or the newest one with a verification code. It reports false if there is none
// that came after a time.
func (a *Admin) NewestMessage(ctx context.Context, address string, after time.Time, withCode bool) (message.Summary, bool, error) {
	f := message.Filter{Caller: systemCaller(""), After: after, WithCode: withCode, Limit: 1}
	if err := api.ChooseAddresses(ctx, a.recipients, &f, []string{address}); err != nil {
		return message.Summary{}, false, err
	}
	box, err := a.mailboxes.Resolve(ctx, f.Caller, f.Mailboxes.Addresses[0])
	if err != nil {
		return message.Summary{}, false, err
	}
	f.Mailboxes = mailbox.Filter{IDs: []string{box.ID}}
	found, err := a.messages.List(ctx, f)
	if err != nil || len(found) == 0 {
		return message.Summary{}, false, err
	}
	return found[0], true, nil
}

// noProvider stands for the DNS provider, which only a running core can ask.
type noProvider struct{}

// NeedsRoute fails for a domain whose provider must be told of each mailbox.
func (noProvider) NeedsRoute(d domain.Domain, _ string) (bool, error) {
	if d.Routed {
		return false, fault.New(fault.Conflict,
			"The DNS provider of %s needs a rule for each mailbox, which only the running core can create: use its API.", d.Name)
	}
	return false, nil
}

// AddRoute is never needed.
func (noProvider) AddRoute(context.Context, domain.Domain, string) (string, error) { return "", nil }

// RemoveRoute is never needed.
func (noProvider) RemoveRoute(context.Context, domain.Domain, string, string, bool) error { return nil }
