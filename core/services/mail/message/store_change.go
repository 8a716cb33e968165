package message

import (
	"context"
	"time"

	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/store"
)

// Delete deletes a message. One that is gone already is no error.
func (s *Store) Delete(ctx context.Context, m Stored) error {
	return s.store.Tx(ctx, "delete message", func(ctx context.Context) error { return s.deleteRows(ctx, []Stored{m}) })
}

// SetRead notes that a message was read at a time, or is unread if that is zero.
func (s *Store) SetRead(ctx context.Context, id string, at time.Time) error {
	return s.store.Tx(ctx, "mark message", func(ctx context.Context) error {
		return s.store.Writer(ctx).Exec("UPDATE mail_messages SET read_at = ? WHERE id = ?", store.Millis(at), id).Error
	})
}

// Unchecked returns messages whose sender was not checked yet, the oldest first, with what the check needs.
func (s *Store) Unchecked(ctx context.Context, limit int) (found []Stored, err error) {
	err = s.store.DB(ctx).Select("seq, content_id, size, client, helo, envelope_from, from_address, signed").Where("auth_at = 0").Order("seq").Limit(limit).Find(&found).Error
	return found, err
}

// SetAuth stores the results of checking the senders of messages, in the order of the messages. A loss of power may undo that: the messages
// are then checked again.
func (s *Store) SetAuth(ctx context.Context, checked []Stored, at time.Time, results []string) error {
	return s.store.Tx(ctx, "store mail authentication", func(ctx context.Context) error {
		if err := s.store.RelaxDurability(ctx); err != nil {
			return err
		}
		conn := s.store.Writer(ctx).Statement.ConnPool
		for i, m := range checked {
			if _, err := conn.ExecContext(ctx, s.sql.setAuth, store.Millis(at), results[i], m.Seq); err != nil {
				return err
			}
		}
		return nil
	})
}

// DeleteOld deletes up to one batch of messages that came before a time, the oldest first, and returns how many. In the order of the time
// there is an end to the look for them; in that of Seq all messages would be read to find that none is old.
func (s *Store) DeleteOld(ctx context.Context, before time.Time) (int, error) {
	return s.deleteSome(ctx, func(q *gorm.DB) *gorm.DB {
		return q.Where("received_at < ?", store.Millis(before)).Order("received_at, seq")
	})
}

// FullMailboxes returns the mailboxes with more than keep messages, and for each the Seq of the oldest one that it may keep.
func (s *Store) FullMailboxes(ctx context.Context, keep int) (limits map[string]int64, err error) {
	var full []string
	if err := s.store.DB(ctx).Raw("SELECT mailbox_id FROM mail_messages GROUP BY mailbox_id HAVING COUNT(*) > ?",
		keep).Scan(&full).Error; err != nil {
		return nil, err
	}
	limits = map[string]int64{}
	for _, id := range full {
		var seqs []int64
		err := s.store.DB(ctx).Raw("SELECT seq FROM mail_messages WHERE mailbox_id = ? ORDER BY seq DESC LIMIT 1 OFFSET ?", id,
			keep-1).Scan(&seqs).Error
		if err != nil {
			return nil, err
		}
		if len(seqs) > 0 {
			limits[id] = seqs[0]
		}
	}
	return limits, nil
}

// DeleteBefore deletes up to one batch of messages of a mailbox with a lower Seq, and returns how many.
func (s *Store) DeleteBefore(ctx context.Context, mailboxID string, seq int64) (int, error) {
	return s.deleteSome(ctx, func(q *gorm.DB) *gorm.DB { return q.Where("mailbox_id = ? AND seq < ?", mailboxID, seq).Order("seq") })
}
