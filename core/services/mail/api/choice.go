package api

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/mail/address"
	"github.com/patchbay-dev/patchbay/core/services/mail/message"
)

// ChooseAddresses has a filter choose the mailboxes of some addresses. name+tag@ without a mailbox of its own stands for the mail to it
// in the mailbox of name@, if the caller sees that.
func ChooseAddresses(ctx context.Context, boxes tagFinder, f *message.Filter, addresses []string) error {
	for _, text := range addresses {
		named := address.Normalise(text)
		holder, err := boxes.FindTagged(ctx, f.Caller, named)
		if err != nil {
			return err
		}
		if holder == "" {
			f.Mailboxes.Addresses, f.Whole = append(f.Mailboxes.Addresses, named), append(f.Whole, named)
			continue
		}
		f.Mailboxes.Addresses, f.SentTo = append(f.Mailboxes.Addresses, holder), append(f.SentTo, named)
	}
	return nil
}

// checkWait refuses a wait for mailboxes that there are not, where no catch-all would make one that the caller may see.
func (h *messageHandlers) checkWait(ctx context.Context, f message.Filter, c MessageChoice, seconds int) error {
	if seconds <= 0 || !f.Mailboxes.NamesMailboxes() {
		return nil
	}
	there, err := h.boxes.HasMailbox(ctx, f.Caller, f.Mailboxes)
	if err != nil || there {
		return err
	}
	if len(c.MailboxID) > 0 {
		return fault.New(fault.NotFound, "There is no such mailbox, so no message can arrive.").With("field", "mailboxId")
	}
	for _, text := range f.Mailboxes.Addresses {
		if caught, err := h.recipients.WouldCatch(ctx, f.Caller, text); err != nil || caught {
			return err
		}
	}
	return fault.New(fault.NotFound, "There is no mailbox %s, and no catch-all would create it for you, so no message can arrive.",
		c.Mailbox[0]).With("field", "mailbox")
}
