package mail

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/mail/message"
)

// deleteOldMessages deletes the messages that the limits of the settings do not let stay, and tells how many.
func (s *Service) deleteOldMessages(ctx context.Context, _ *queue.Job, _ queue.Progress) (any, error) {
	limits := s.state.Load().settings.Limits
	result := struct {
		Deleted int `json:"deleted"`
	}{}
	// repeat runs a batch until there is nothing left to delete.
	repeat := func(deleteBatch func() (int, error)) error {
		for {
			n, err := deleteBatch()
			result.Deleted += n
			if err != nil || n == 0 {
				return err
			}
		}
	}
	for before := s.cfg.Now().Add(-message.RepeatTime); ; {
		if n, err := s.messages.DeleteOldReceipts(ctx, before); err != nil || n == 0 {
			if err != nil {
				return result, err
			}
			break
		}
	}
	if limits.Retention > 0 {
		before := s.cfg.Now().Add(-limits.Retention)
		if err := repeat(func() (int, error) { return s.messages.DeleteOld(ctx, before) }); err != nil {
			return result, err
		}
	}
	if limits.Messages <= 0 {
		return result, nil
	}
	full, err := s.messages.FullMailboxes(ctx, int(limits.Messages))
	if err != nil {
		return result, err
	}
	for id, oldest := range full {
		if err := repeat(func() (int, error) { return s.messages.DeleteBefore(ctx, id, oldest) }); err != nil {
			return result, err
		}
	}
	return result, nil
}
