package message

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/services/mail/mailbox"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/core/texts/words"
)

// statements are the texts of the statements that run for each message. They go past gorm, whose building of statements would
// cost more than the rest.
type statements struct {
	addContent, addChunk, addMessage, addWords, setAuth string
	// Those of deliveries. On PostgreSQL, deleteReceipts takes the ids with spaces between them, elsewhere one.
	findReceipts, addReceipt, deleteReceipts string
	// addWhole, on PostgreSQL, does for a small message what all of them do, in one round trip. addAlone notes the receipt as well.
	addWhole, addAlone string
}

// The columns that addMessage fills, around content_id, and their values.
const (
	columnsBefore, valuesBefore = "id, mailbox_id, owner_id, mailbox_address", "?, ?, ?, ?"
	columnsAfter                = "hash, size, received_at, envelope_from, envelope_to, message_id, sent_at, subject, preview, from_name, from_address, " +
		"attachments, has_html, parse_status, parser, code, code_source, read_at, via, client, helo, tls, signed, auth_at, auth"
	valuesAfter = "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, 0, ''"
)

func newStatements(d store.Dialect) statements {
	s := statements{
		setAuth:    d.Bind("UPDATE mail_messages SET auth_at = ?, auth = ? WHERE seq = ?"),
		addContent: d.Bind("INSERT INTO mail_contents (hash, size) VALUES (?, ?)"),
		addChunk:   d.Bind("INSERT INTO mail_chunks (content_id, number, data) VALUES (?, ?, ?)"),
		addMessage: d.Bind("INSERT INTO mail_messages (" + columnsBefore + ", content_id, " + columnsAfter + ") VALUES (" + valuesBefore +
			", ?, " + valuesAfter + ")"),
		addWords: "INSERT INTO mail_search (docid, subject, sender, recipient, body) VALUES (?, ?, ?, ?, ?)",

		findReceipts:   d.Bind("SELECT id, received_at, messages FROM mail_deliveries WHERE key = ? AND received_at >= ? ORDER BY received_at"),
		addReceipt:     d.Bind("INSERT INTO mail_deliveries (id, key, received_at, messages) VALUES (?, ?, ?, ?)"),
		deleteReceipts: "DELETE FROM mail_deliveries WHERE id = ?",
	}
	if d == store.Postgres {
		s.addContent += " RETURNING id"
		s.addMessage += " RETURNING seq"
		s.addWords = "INSERT INTO mail_search (seq, doc) VALUES ($1, CAST($2 AS tsvector))"
		s.deleteReceipts = "DELETE FROM mail_deliveries WHERE id = ANY(string_to_array($1, ' '))"
		// Foreign keys are looked at in the end.
		whole := "message AS (INSERT INTO mail_messages (" + columnsBefore + ", content_id, " + columnsAfter + ") SELECT " + valuesBefore +
			", nextval(pg_get_serial_sequence('mail_contents', 'id')), " + valuesAfter +
			"%s RETURNING seq, content_id, hash, size), " +
			"content AS (INSERT INTO mail_contents (id, hash, size) OVERRIDING SYSTEM VALUE SELECT content_id, hash, size FROM message), " +
			"chunk AS (INSERT INTO mail_chunks (content_id, number, data) SELECT content_id, 0, ? FROM message), " +
			"document AS (INSERT INTO mail_search (seq, doc) SELECT seq, CAST(? AS tsvector) FROM message) SELECT %s"
		s.addWhole = d.Bind("WITH " + fmt.Sprintf(whole, "", "seq, content_id FROM message"))
		// A delivery that may be a repetition is left to those who can tell.
		s.addAlone = d.Bind("WITH forgotten AS (DELETE FROM mail_deliveries WHERE id = ANY(string_to_array(?, ' '))), " +
			"mailbox AS (" + mailbox.UpdateReceived + "= ? AND NOT EXISTS (SELECT 1 FROM mail_deliveries WHERE key = ?) RETURNING id), " +
			"delivery AS (INSERT INTO mail_deliveries (id, key, received_at, messages) SELECT ?, ?, ?, ? FROM mailbox), " +
			fmt.Sprintf(whole, " FROM mailbox", "seq, content_id FROM message"))
	}
	return s
}

// valuesBefore are the parameters of addMessage before the id of the content.
func (m *Stored) valuesBefore() []any {
	return []any{m.ID, m.MailboxID, m.OwnerID, m.MailboxAddress}
}

// valuesAfter are the parameters of addMessage after the id of the content.
func (m *Stored) valuesAfter() []any {
	return []any{
		m.Hash, m.Size, m.ReceivedAt, m.EnvelopeFrom, m.EnvelopeTo, m.MessageID,
		m.SentAt, m.Subject, m.Preview, m.FromName, m.FromAddress, m.Attachments, m.HasHTML, string(m.ParseStatus), string(m.Parser), m.Code,
		m.CodeSource, m.Via, m.Client, m.Helo, m.TLS, m.Signed,
	}
}

// valuesWhole are the parameters of addWhole.
func (m *Stored) valuesWhole(in *Incoming) []any {
	return slices.Concat(m.valuesBefore(), m.valuesAfter(), []any{in.chunk, words.FormatVector(in.documentFor(m.recipientText()).sections())})
}

// AddAlone stores an incoming message for one recipient with its delivery in a transaction of its own, notes that the mailbox has got it,
// and forgets deliveries, if one statement can do that: for a small message, on PostgreSQL that no other core uses. It reports false if it
// has stored nothing, which is so for a mailbox that is not active and for a delivery with a key that is known, too. The message is that of
// Add.
func (s *Store) AddAlone(ctx context.Context, in *Incoming, to Delivery, receipt Receipt, forget []string,
	at time.Time) (m Stored, done bool, err error) {
	if in.chunk == nil || receipt.ID == "" || s.store.Dialect() != store.Postgres || s.store.Shared() {
		return Stored{}, false, nil
	}
	m = in.deliveredTo(to, at)
	m.ID = store.NewID("msg")
	receipt.AddMessage(m.MailboxID, m.ID)
	err = s.store.RunStatement(ctx, "store mail", func(conn gorm.ConnPool) error {
		before := []any{strings.Join(forget, " "), m.ReceivedAt, m.ReceivedAt, m.MailboxID, receipt.Key, receipt.ID, receipt.Key, m.ReceivedAt,
			receipt.Messages}
		return conn.QueryRowContext(ctx, s.sql.addAlone, slices.Concat(before, m.valuesWhole(in))...).Scan(&m.Seq, &m.ContentID)
	})
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return Stored{}, false, nil
	case err != nil:
		return Stored{}, false, fmt.Errorf("store a message: %w", err)
	}
	return m, true, nil
}

// recipientText returns the addresses by which a message is found: that of the mailbox, and the one that the sender named.
func (m *Stored) recipientText() string {
	if m.EnvelopeTo == m.MailboxAddress {
		return m.MailboxAddress
	}
	return m.MailboxAddress + " " + m.EnvelopeTo
}

// deliveredTo returns the message for one of its recipients.
func (in *Incoming) deliveredTo(d Delivery, at time.Time) Stored {
	m := in.Message
	m.MailboxID, m.OwnerID, m.MailboxAddress, m.EnvelopeTo, m.ReceivedAt = d.MailboxID, d.OwnerID, d.Address, cmp.Or(d.EnvelopeTo, d.Address),
		store.Millis(at)
	return m
}

// orderLock is the number of the lock in whose order the messages of several cores are stored.
const orderLock = 0x6d61696c_6f726472

// HoldOrder keeps other cores from storing messages until the running transaction ends, so that no message appears with a lower Seq than
// one that was seen before. It is called before Add. A core that stops meanwhile loses the transaction.
func (s *Store) HoldOrder(ctx context.Context) error {
	if !s.store.Shared() {
		return nil
	}
	err := s.store.Writer(ctx).Exec("SELECT set_config('idle_in_transaction_session_timeout', '3s', true), pg_advisory_xact_lock(?)",
		int64(orderLock)).Error
	if err != nil {
		return fmt.Errorf("wait for other cores to store messages: %w", err)
	}
	return nil
}

// Add stores an incoming message for its recipients in the running transaction. It returns the messages, in the order of the
// recipients.
func (s *Store) Add(ctx context.Context, in *Incoming, to []Delivery, at time.Time) ([]Stored, error) {
	w := s.store.Writer(ctx)
	if w.Error != nil {
		return nil, w.Error
	}
	added := make([]Stored, len(to))
	content := int64(0)
	for i, d := range to {
		added[i] = in.deliveredTo(d, at)
		if err := s.addMessage(ctx, w.Statement.ConnPool, in, &added[i], &content); err != nil {
			return nil, fmt.Errorf("store a message: %w", err)
		}
	}
	return added, nil
}

// addMessage stores a message for one recipient. content is the id of the raw bytes, 0 before they are stored.
func (s *Store) addMessage(ctx context.Context, conn gorm.ConnPool, in *Incoming, m *Stored, content *int64) error {
	if *content == 0 && in.chunk != nil && s.store.Dialect() == store.Postgres {
		return s.addWhole(ctx, conn, in, m, content)
	}
	if *content == 0 {
		if err := s.addContent(ctx, conn, in, content); err != nil {
			return err
		}
	}
	m.ID, m.ContentID = store.NewID("msg"), *content
	if err := insertRow(ctx, s.store.Dialect(), conn, &m.Seq, s.sql.addMessage,
		slices.Concat(m.valuesBefore(), []any{m.ContentID}, m.valuesAfter())...); err != nil {
		return err
	}
	return s.addDocument(ctx, conn, m.Seq, in.documentFor(m.recipientText()))
}

// insertRow adds a row and sets id to its key. SQLite is not asked to return it: for a statement that returns something it keeps a copy of
// each page that it changes, and looks for rows that refer to the new one.
func insertRow(ctx context.Context, d store.Dialect, conn gorm.ConnPool, id *int64, statement string, args ...any) error {
	if d == store.Postgres {
		return conn.QueryRowContext(ctx, statement, args...).Scan(id)
	}
	added, err := conn.ExecContext(ctx, statement, args...)
	if err != nil {
		return err
	}
	*id, err = added.LastInsertId()
	return err
}

// addWhole is addMessage for a small message whose raw bytes are not stored yet, on PostgreSQL.
func (s *Store) addWhole(ctx context.Context, conn gorm.ConnPool, in *Incoming, m *Stored, content *int64) error {
	m.ID = store.NewID("msg")
	err := conn.QueryRowContext(ctx, s.sql.addWhole, m.valuesWhole(in)...).Scan(&m.Seq, &m.ContentID)
	*content = m.ContentID
	return err
}

// addContent stores the raw bytes.
func (s *Store) addContent(ctx context.Context, conn gorm.ConnPool, in *Incoming, id *int64) error {
	if err := insertRow(ctx, s.store.Dialect(), conn, id, s.sql.addContent, in.Message.Hash, in.Message.Size); err != nil {
		return err
	}
	addChunk := func(number int, data []byte) error {
		_, err := conn.ExecContext(ctx, s.sql.addChunk, *id, number, data)
		return err
	}
	if in.chunk != nil {
		return addChunk(0, in.chunk)
	}
	r, err := in.Content.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	return s.codec.compressChunks(r, addChunk)
}

// addDocument adds the words of a message to the index.
func (s *Store) addDocument(ctx context.Context, conn gorm.ConnPool, seq int64, d document) (err error) {
	if s.store.Dialect() == store.Postgres {
		_, err = conn.ExecContext(ctx, s.sql.addWords, seq, words.FormatVector(d.sections()))
	} else {
		columns := words.FormatColumns(d.sections())
		_, err = conn.ExecContext(ctx, s.sql.addWords, seq, columns[0], columns[1], columns[2], columns[3])
	}
	return err
}
