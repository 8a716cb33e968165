package message

import (
	"context"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/patchbay-dev/patchbay/core/lists"
	"github.com/patchbay-dev/patchbay/core/store"
)

// DeleteMailboxMessages deletes all messages of a mailbox, with what is kept of them.
func (s *Store) DeleteMailboxMessages(ctx context.Context, mailboxID string) error {
	for {
		n, err := s.deleteSome(ctx, func(q *gorm.DB) *gorm.DB { return q.Where("mailbox_id = ?", mailboxID).Order("seq") })
		if err != nil || n == 0 {
			return err
		}
	}
}

// deleteBatch is how many messages one transaction deletes.
const deleteBatch = 200

// deleteSome deletes up to deleteBatch of the messages that choose selects, in its order, and returns how many.
func (s *Store) deleteSome(ctx context.Context, choose func(*gorm.DB) *gorm.DB) (n int, err error) {
	err = s.store.Tx(ctx, "delete messages", func(ctx context.Context) error {
		var rows []Stored
		if err := choose(s.store.DB(ctx).Select("seq", "content_id")).Limit(deleteBatch).Find(&rows).Error; err != nil {
			return err
		}
		n = len(rows)
		return s.deleteRows(ctx, rows)
	})
	return n, err
}

// lockContents keeps others from deleting copies of messages before the end of the running transaction: of two that delete the last
// copies at once, each would leave the raw bytes to the other. Contents are locked before messages, in the order of their ids.
func (s *Store) lockContents(ctx context.Context, rows []Stored) error {
	if s.store.Dialect() != store.Postgres {
		return nil
	}
	ids := lists.ConvertAll(rows, func(r Stored) int64 { return r.ContentID })
	q := store.WhereInNumbers(s.store.Writer(ctx).Table("mail_contents").Clauses(clause.Locking{Strength: "UPDATE"}), "id", ids)
	if err := q.Order("id").Pluck("id", &ids).Error; err != nil {
		return fmt.Errorf("lock the raw bytes of messages: %w", err)
	}
	return nil
}

// deleteRows deletes messages in the running transaction, and the raw bytes that no other message needs.
func (s *Store) deleteRows(ctx context.Context, rows []Stored) error {
	if len(rows) == 0 {
		return nil
	}
	if err := s.lockContents(ctx, rows); err != nil {
		return err
	}
	w := s.store.Writer(ctx)
	key := "docid"
	if s.store.Dialect() == store.Postgres {
		key = "seq"
	}
	for _, r := range rows {
		for _, step := range []struct {
			sql string
			arg int64
		}{
			{"DELETE FROM mail_search WHERE " + key + " = ?", r.Seq},
			{"DELETE FROM mail_messages WHERE seq = ?", r.Seq},
			{"DELETE FROM mail_contents WHERE id = ? AND NOT EXISTS (SELECT 1 FROM mail_messages WHERE content_id = mail_contents.id)", r.ContentID},
		} {
			if err := w.Exec(step.sql, step.arg).Error; err != nil {
				return fmt.Errorf("delete a message: %w", err)
			}
		}
	}
	return nil
}
