package mail

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/services/mail/inbound"
)

// FindRecipient finds the mailbox for arriving mail, as the listener does.
func (s *Service) FindRecipient(ctx context.Context, address string) (inbound.Recipient, error) {
	return recipients{s.mailboxes}.FindRecipient(ctx, address)
}
