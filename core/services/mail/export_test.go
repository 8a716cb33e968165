package mail

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/services/mail/inbound"
)

// FindRecipient finds the mailbox for arriving mail, and makes it if need be, as the listener does for a whole message.
func (s *Service) FindRecipient(ctx context.Context, address string) (inbound.Recipient, error) {
	all := s.recipients
	found, err := all.FindRecipient(ctx, address, 0)
	if err != nil || found.MailboxID != "" {
		return found, err
	}
	return all.MakeRecipient(ctx, found.Address)
}
