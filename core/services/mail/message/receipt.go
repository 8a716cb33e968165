package message

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/store"
)

// RepeatTime is how long a delivery may be repeated.
const RepeatTime = 24 * time.Hour

// Receipt is a delivery that may come once more, because its answer may not reach the sender.
type Receipt struct {
	ID string
	// Key is equal for a delivery and its repetition.
	Key        []byte
	ReceivedAt int64
	// Messages are the ids of the mailboxes and of the messages that they got, all with spaces between them.
	Messages string
}

// TableName implements gorm's Tabler.
func (Receipt) TableName() string { return "mail_deliveries" }

// AddMessage notes what a mailbox got.
func (r *Receipt) AddMessage(mailboxID, messageID string) {
	r.Messages = strings.TrimSpace(r.Messages + " " + mailboxID + " " + messageID)
}

// MessageIDs returns the ids of the messages that each mailbox got: one for each address that led to it.
func (r *Receipt) MessageIDs() map[string][]string {
	ids, words := map[string][]string{}, strings.Fields(r.Messages)
	for i := 0; i+1 < len(words); i += 2 {
		ids[words[i]] = append(ids[words[i]], words[i+1])
	}
	return ids
}

// FindReceipts returns the deliveries with a key that were received since a time, the oldest first. It reads in the running transaction.
func (s *Store) FindReceipts(ctx context.Context, key []byte, since time.Time) (found []Receipt, err error) {
	rows, err := s.store.Writer(ctx).Statement.ConnPool.QueryContext(ctx, s.sql.findReceipts, key, store.Millis(since))
	if err != nil {
		return nil, fmt.Errorf("find a delivery: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		r := Receipt{Key: key}
		if err := rows.Scan(&r.ID, &r.ReceivedAt, &r.Messages); err != nil {
			return nil, fmt.Errorf("find a delivery: %w", err)
		}
		found = append(found, r)
	}
	return found, rows.Err()
}

// AddReceipt stores a delivery in the running transaction.
func (s *Store) AddReceipt(ctx context.Context, r Receipt) error {
	if _, err := s.store.Writer(ctx).Statement.ConnPool.ExecContext(ctx, s.sql.addReceipt, r.ID, r.Key, r.ReceivedAt, r.Messages); err != nil {
		return fmt.Errorf("store a delivery: %w", err)
	}
	return nil
}

// DeleteReceipts deletes deliveries in the running transaction.
func (s *Store) DeleteReceipts(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	conn := s.store.Writer(ctx).Statement.ConnPool
	if s.store.Dialect() == store.Postgres {
		ids = []string{strings.Join(ids, " ")}
	}
	for _, id := range ids {
		if _, err := conn.ExecContext(ctx, s.sql.deleteReceipts, id); err != nil {
			return fmt.Errorf("delete deliveries: %w", err)
		}
	}
	return nil
}

// DeleteOldReceipts deletes some of the deliveries before a time, and returns how many.
func (s *Store) DeleteOldReceipts(ctx context.Context, before time.Time) (n int, err error) {
	err = s.store.Tx(ctx, "delete deliveries", func(ctx context.Context) error {
		w := s.store.Writer(ctx)
		old := s.store.DB(ctx).Model(&Receipt{}).Select("id").Where("received_at < ?",
			store.Millis(before)).Order("received_at").Limit(deleteBatch)
		done := w.Where("id IN (?)", old).Delete(&Receipt{})
		n = int(done.RowsAffected)
		return done.Error
	})
	return n, err
}
