package message

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/core/texts/words"
)

// statements are the texts of the statements that run for each message. They go past gorm, whose building of statements would
// cost more than the rest.
type statements struct {
	findCopy, addContent, addChunk, addMessage, addWords string
}

func newStatements(d store.Dialect) statements {
	s := statements{
		findCopy:   d.Bind("SELECT COUNT(*) FROM mail_messages WHERE mailbox_id = ? AND hash = ?"),
		addContent: d.Bind("INSERT INTO mail_contents (hash, size) VALUES (?, ?) RETURNING id"),
		addChunk:   d.Bind("INSERT INTO mail_chunks (content_id, number, data) VALUES (?, ?, ?)"),
		addMessage: d.Bind("INSERT INTO mail_messages (id, mailbox_id, owner_id, mailbox_address, content_id, hash, size, received_at, envelope_from, envelope_to, message_id, " +
			"sent_at, subject, preview, from_name, from_address, attachments, has_html, parse_status, parser, code, code_source, read_at, via, client, helo, tls, auth_at, auth) " +
			"VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, 0, '') RETURNING seq"),
		addWords: "INSERT INTO mail_search (docid, subject, sender, recipient, body) VALUES (?, ?, ?, ?, ?)",
	}
	if d == store.Postgres {
		s.addWords = "INSERT INTO mail_search (seq, doc) VALUES ($1, CAST($2 AS tsvector))"
	}
	return s
}

// values are the parameters of addMessage.
func (m *Stored) values() []any {
	return []any{
		m.ID, m.MailboxID, m.OwnerID, m.MailboxAddress, m.ContentID, m.Hash, m.Size, m.ReceivedAt, m.EnvelopeFrom, m.EnvelopeTo, m.MessageID,
		m.SentAt, m.Subject, m.Preview, m.FromName, m.FromAddress, m.Attachments, m.HasHTML, string(m.ParseStatus), string(m.Parser), m.Code, m.CodeSource, m.Via, m.Client, m.Helo, m.TLS,
	}
}

// Add stores an incoming message for its recipients in the running transaction. It returns the messages, in the order of the
// recipients. One that a mailbox has already is returned with the Seq 0.
func (s *Store) Add(ctx context.Context, in *Incoming, to []Delivery, at time.Time) ([]Stored, error) {
	w := s.store.Writer(ctx)
	if w.Error != nil {
		return nil, w.Error
	}
	added := make([]Stored, len(to))
	content := int64(0)
	for i, d := range to {
		m := &added[i]
		*m = in.Message
		m.MailboxID, m.OwnerID, m.MailboxAddress, m.EnvelopeTo, m.ReceivedAt = d.MailboxID, d.OwnerID, d.Address, d.Address, store.Millis(at)
		if err := s.addMessage(ctx, w.Statement.ConnPool, in, m, &content); err != nil {
			return nil, fmt.Errorf("store a message: %w", err)
		}
	}
	return added, nil
}

// addMessage stores a message for one recipient, unless the mailbox has it. content is the id of the raw bytes, 0 before they
// are stored.
func (s *Store) addMessage(ctx context.Context, conn gorm.ConnPool, in *Incoming, m *Stored, content *int64) error {
	copies := 0
	if err := conn.QueryRowContext(ctx, s.sql.findCopy, m.MailboxID, m.Hash).Scan(&copies); err != nil || copies > 0 {
		return err
	}
	if *content == 0 {
		if err := s.addContent(ctx, conn, in, content); err != nil {
			return err
		}
	}
	m.ID, m.ContentID = store.NewID("msg"), *content
	if err := conn.QueryRowContext(ctx, s.sql.addMessage, m.values()...).Scan(&m.Seq); err != nil {
		return err
	}
	return s.addDocument(ctx, conn, m.Seq, in.words.sentTo(m.MailboxAddress))
}

// addContent stores the raw bytes.
func (s *Store) addContent(ctx context.Context, conn gorm.ConnPool, in *Incoming, id *int64) error {
	if err := conn.QueryRowContext(ctx, s.sql.addContent, in.Message.Hash, in.Message.Size).Scan(id); err != nil {
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
