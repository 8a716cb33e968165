package api

import (
	"context"
	"slices"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/lists"
	"github.com/patchbay-dev/patchbay/core/services/mail/domain"
	"github.com/patchbay-dev/patchbay/core/services/mail/mailbox"
)

// The pages use the same verbs as the API. The caller is the principal of the context.

// MessagePage is a page of the list of messages.
type MessagePage struct {
	Items []MessageItem
	// Next is the cursor of the next page; "" on the last one.
	Next string
}

// Messages returns messages, the newest first, that are in the chosen mailboxes and fit a search.
func (h *messageHandlers) Messages(ctx context.Context, choice MessageChoice, search string, limit int,
	cursor string) (MessagePage, error) {
	out, err := h.listMessages(ctx, &messageQuery{MessageChoice: choice, Query: search, Limit: limit, Cursor: cursor})
	if err != nil {
		return MessagePage{}, err
	}
	items := lists.ConvertAll(out.Body.Messages, func(m ListedMessage) MessageItem { return m.MessageItem })
	return MessagePage{Items: items, Next: cursorText(out.Body.NextCursor)}, nil
}

// Message returns a message with all that it says.
func (h *messageHandlers) Message(ctx context.Context, id string) (Message, error) {
	out, err := h.getMessage(ctx, &MessagePath{ID: id})
	if err != nil {
		return Message{}, err
	}
	return out.Body.Message, nil
}

// MarkMessage marks a message as read or unread.
func (h *messageHandlers) MarkMessage(ctx context.Context, id string, read bool) error {
	in := &messageChange{MessagePath: MessagePath{ID: id}}
	in.Body.Read = read
	_, err := h.patchMessage(ctx, in)
	return err
}

// DeleteMessage deletes a message.
func (h *messageHandlers) DeleteMessage(ctx context.Context, id string) error {
	_, err := h.deleteMessage(ctx, &MessagePath{ID: id})
	return err
}

// FollowMessages returns a subscription that tells of new messages which the caller may see.
func (h *messageHandlers) FollowMessages(ctx context.Context) *event.Subscription {
	return h.follow(callerFrom(ctx))
}

// MailboxPage is a page of the list of mailboxes.
type MailboxPage struct {
	Items []Mailbox
	// Next is the cursor of the next page; "" on the last one.
	Next string
}

// Mailboxes returns mailboxes in some states, the newest first, whose address has a text.
func (h *mailboxHandlers) Mailboxes(ctx context.Context, statuses []string, text string, limit int, cursor string) (MailboxPage, error) {
	out, err := h.listMailboxes(ctx, &mailboxQuery{Status: statuses, Query: text, Limit: limit, Cursor: cursor})
	if err != nil {
		return MailboxPage{}, err
	}
	return MailboxPage{out.Body.Mailboxes, cursorText(out.Body.NextCursor)}, nil
}

// Mailbox returns a mailbox.
func (h *mailboxHandlers) Mailbox(ctx context.Context, id string) (Mailbox, error) {
	out, err := h.getMailbox(ctx, &MailboxPath{ID: id})
	if err != nil {
		return Mailbox{}, err
	}
	return out.Body, nil
}

// CreateMailbox makes a mailbox.
func (h *mailboxHandlers) CreateMailbox(ctx context.Context, body MailboxBody) (Mailbox, error) {
	out, err := h.createMailbox(ctx, &mailboxInput{Body: &body})
	if err != nil {
		return Mailbox{}, err
	}
	return out.Body, nil
}

// ActiveDomains returns the names of the domains in which mailboxes can be made, sorted.
func (h *domainHandlers) ActiveDomains(ctx context.Context) ([]string, error) {
	list, err := h.domains.ListActive(ctx)
	names := lists.ConvertAll(list, func(d domain.Domain) string { return d.Name })
	slices.Sort(names)
	return names, err
}

// cursorText returns the cursor of the next page, "" for none.
func cursorText(next *string) string {
	if next == nil {
		return ""
	}
	return *next
}

// NewMinutes returns a lifetime; 0 is one without an end.
func NewMinutes(n int) Minutes { return Minutes{isNull: n == 0, value: n} }

// ExtendMailbox lets the mailbox with an address live longer; it never shortens it.
func (h *mailboxHandlers) ExtendMailbox(ctx context.Context, address string, life Minutes) (Mailbox, error) {
	box, _, err := h.boxes.Ensure(ctx, callerFrom(ctx), mailbox.NewMailbox{Address: address, Lifetime: life.lifetime()})
	return h.noteMailbox(ctx, box, err)
}

// SetMailboxTags replaces the tags of a mailbox.
func (h *mailboxHandlers) SetMailboxTags(ctx context.Context, id string, tags []string) (Mailbox, error) {
	box, err := h.boxes.SetTags(ctx, callerFrom(ctx), id, tags)
	return h.noteMailbox(ctx, box, err)
}

// DestroyMailbox destroys a mailbox with its messages.
func (h *mailboxHandlers) DestroyMailbox(ctx context.Context, id string) error {
	box, err := h.boxes.Destroy(ctx, callerFrom(ctx), id)
	_, err = h.noteMailbox(ctx, box, err)
	return err
}

// noteMailbox returns a mailbox as answers have it.
func (h *mailboxHandlers) noteMailbox(ctx context.Context, box mailbox.Mailbox, err error) (Mailbox, error) {
	out, err := h.writeMailbox(ctx, box, err)
	if err != nil {
		return Mailbox{}, err
	}
	return out.Body, nil
}

// Domains returns the mail domains.
func (h *domainHandlers) Domains(ctx context.Context) ([]Domain, error) {
	rows, err := h.domains.ListDomains(ctx)
	return lists.ConvertAll(rows, formatDomain), err
}

// CleanupFailures returns, by the id of a domain, its mailboxes that could not be destroyed, or may have left a rule at the DNS provider.
func (h *domainHandlers) CleanupFailures(ctx context.Context) (map[string]CleanupFailure, error) {
	list, err := h.failures.ListCleanupFailures(ctx)
	all := make(map[string]CleanupFailure, len(list))
	for _, f := range list {
		all[f.DomainID] = CleanupFailure(f)
	}
	return all, err
}

// Catalog returns the mail domains with the zones of the DNS provider, and how current these are.
func (h *domainHandlers) Catalog(ctx context.Context) ([]CatalogItem, ProviderSync, error) {
	out, err := h.listCatalog(ctx, nil)
	if err != nil {
		return nil, ProviderSync{}, err
	}
	return out.Body.Domains, out.Body.ProviderSync, nil
}

// BindDomain makes a zone and uses it for mail.
func (h *domainHandlers) BindDomain(ctx context.Context, name string) (Domain, error) {
	in := &bindInput{}
	in.Body.MailDomain = name
	return unwrapDomain(h.bindDomain(ctx, in))
}

// EnableDomain uses a zone of the catalog for mail.
func (h *domainHandlers) EnableDomain(ctx context.Context, name, zoneID string) (Domain, error) {
	in := &enableInput{}
	in.Body.MailDomain, in.Body.ZoneID = name, zoneID
	return unwrapDomain(h.enableDomain(ctx, in))
}

// EnableCatchAll makes a mailbox for each address that gets mail and whose local part matches a pattern, which may be empty.
func (h *domainHandlers) EnableCatchAll(ctx context.Context, id, pattern string) (Domain, error) {
	d, err := h.domains.EnableCatchAll(ctx, id, auth.From(ctx).User.ID, pattern)
	return unwrapDomain(writeDomain(ctx, d, false, err))
}

// DisableCatchAll ends that, and restores what the provider did before.
func (h *domainHandlers) DisableCatchAll(ctx context.Context, id string) (Domain, error) {
	return unwrapDomain(h.disableCatchAll(ctx, &DomainPath{ID: id}))
}

// RetryDomain provisions a domain again and looks up its records.
func (h *domainHandlers) RetryDomain(ctx context.Context, id string) (Domain, error) {
	return unwrapDomain(h.retryDomain(ctx, &DomainPath{ID: id}))
}

// DisableDomain makes no more mailboxes on a domain.
func (h *domainHandlers) DisableDomain(ctx context.Context, id string) (Domain, error) {
	return unwrapDomain(h.disableDomain(ctx, &DomainPath{ID: id}))
}

// DeleteDomain deletes a domain, with its zone if that was made for it.
func (h *domainHandlers) DeleteDomain(ctx context.Context, id string) error {
	_, err := h.deleteDomain(ctx, &DomainPath{ID: id})
	return err
}

// unwrapDomain returns the domain in an answer.
func unwrapDomain(out *domainOutput, err error) (Domain, error) {
	if err != nil {
		return Domain{}, err
	}
	return out.Body, nil
}
