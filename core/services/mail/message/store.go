package message

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/store"
)

// Store keeps messages. Its methods may be called from several goroutines, those that change something in a transaction of
// their context or in one of their own.
type Store struct {
	store *store.Store
	codec *codec
}

// NewStore returns the messages in a database.
func NewStore(s *store.Store) (*Store, error) {
	c, err := newCodec()
	if err != nil {
		return nil, err
	}
	return &Store{store: s, codec: c}, nil
}

// Stored is a message as the list shows it. Times are Unix milliseconds, 0 for none.
type Stored struct {
	// Seq ascends in the order in which messages were stored.
	Seq            int64 `gorm:"primaryKey"`
	ID             string
	MailboxID      string
	OwnerID        string
	MailboxAddress string
	ContentID      int64
	Hash           []byte
	Size           int64
	ReceivedAt     int64
	EnvelopeFrom   string
	EnvelopeTo     string
	// MessageID is the Message-ID field, SentAt the time in the Date field.
	MessageID   string
	SentAt      int64
	Subject     string
	Preview     string
	FromName    string
	FromAddress string
	// Attachments is how many there are.
	Attachments int
	HasHTML     bool
	ParseStatus ParseStatus
	Parser      Parser
	// Code is the verification code, "" for none; CodeSource is where it stands.
	Code       string
	CodeSource string
	ReadAt     int64
	// Via is how the message came; Client, Helo and TLS say from whom, as far as that is known.
	Via, Client, Helo, TLS string
	// AuthAt is when the sender was checked, and Auth the result as JSON.
	AuthAt int64
	Auth   string
}

// TableName implements gorm's Tabler.
func (Stored) TableName() string { return "mail_messages" }

// Incoming is a message that arrives, before it belongs to a mailbox.
type Incoming struct {
	Content *Content
	Parsed  *Parsed
	// Message has what all recipients share.
	Message Stored
	// bodyText is what is searched and shown in lists.
	bodyText string
	chunk    []byte
}

// PrepareIncoming does the part of storing a message that needs no transaction. share has the envelope and where the message
// comes from.
func (s *Store) PrepareIncoming(content *Content, parsed *Parsed, share Stored) *Incoming {
	in := &Incoming{Content: content, Parsed: parsed, Message: share}
	in.bodyText = parsed.Text
	if strings.TrimSpace(in.bodyText) == "" {
		in.bodyText = HTMLText(parsed.HTML, maxText)
	}
	m := &in.Message
	m.Hash, m.Size = content.sum[:], content.size
	m.MessageID, m.SentAt, m.Subject = parsed.MessageID, store.Millis(parsed.Date), parsed.Subject
	m.FromName, m.FromAddress = parsed.From.Name, parsed.From.Address
	m.Preview, m.Attachments, m.HasHTML = previewOf(in.bodyText), len(parsed.Attachments), parsed.HTML != ""
	m.ParseStatus, m.Parser = parsed.Status, parsed.Parser
	if content.file == nil {
		in.chunk = s.codec.encoder.EncodeAll(content.memory, nil)
	}
	return in
}

// BodyText returns the text of the message, that of its HTML if it has no other.
func (in *Incoming) BodyText() string { return in.bodyText }

// Delivery is one recipient of an incoming message.
type Delivery struct {
	MailboxID, OwnerID, Address string
}

// Add stores an incoming message for its recipients in the running transaction. It returns the messages, in the order of the
// recipients. One that a mailbox has already is returned with the Seq 0.
func (s *Store) Add(ctx context.Context, in *Incoming, to []Delivery, at time.Time) ([]Stored, error) {
	added := make([]Stored, len(to))
	content := int64(0)
	for i, d := range to {
		m := &added[i]
		*m = in.Message
		m.MailboxID, m.OwnerID, m.MailboxAddress, m.EnvelopeTo, m.ReceivedAt = d.MailboxID, d.OwnerID, d.Address, d.Address, store.Millis(at)
		known, err := s.hasCopy(ctx, m)
		if err != nil {
			return nil, err
		}
		if known {
			continue
		}
		if content == 0 {
			if content, err = s.addContent(ctx, in); err != nil {
				return nil, err
			}
		}
		m.ID, m.ContentID = store.NewID("msg"), content
		if err := s.store.Writer(ctx).Create(m).Error; err != nil {
			return nil, fmt.Errorf("store a message: %w", err)
		}
		if err := s.addDocument(ctx, m.Seq, newDocument(in.Parsed, in.bodyText, d.Address)); err != nil {
			return nil, err
		}
	}
	return added, nil
}

// hasCopy reports whether the mailbox has the same bytes.
func (s *Store) hasCopy(ctx context.Context, m *Stored) (bool, error) {
	var found []int64
	err := s.store.DB(ctx).Raw("SELECT seq FROM mail_messages WHERE mailbox_id = ? AND hash = ?", m.MailboxID, m.Hash).Scan(&found).Error
	return len(found) > 0, err
}

// addContent stores the raw bytes and returns their id.
func (s *Store) addContent(ctx context.Context, in *Incoming) (id int64, err error) {
	w := s.store.Writer(ctx)
	// The bytes come last: gorm takes a slice behind a parenthesis for a list of values.
	if err := w.Raw("INSERT INTO mail_contents (size, hash) VALUES (?, ?) RETURNING id", in.Message.Size, in.Message.Hash).Scan(&id).Error; err != nil {
		return 0, fmt.Errorf("store the raw bytes of a message: %w", err)
	}
	addChunk := func(number int, data []byte) error {
		return w.Exec("INSERT INTO mail_chunks (content_id, number, data) VALUES (?, ?, ?)", id, number, data).Error
	}
	if in.chunk != nil {
		err = addChunk(0, in.chunk)
	} else {
		err = withReader(in.Content.Open, func(r io.Reader) error { return s.codec.compressChunks(r, addChunk) })
	}
	if err != nil {
		return 0, fmt.Errorf("store the raw bytes of a message: %w", err)
	}
	return id, nil
}

// addDocument adds the words of a message to the index.
func (s *Store) addDocument(ctx context.Context, seq int64, d document) error {
	w := s.store.Writer(ctx)
	var err error
	if s.store.Dialect() == store.Postgres {
		err = w.Exec("INSERT INTO mail_search (seq, doc) VALUES (?, CAST(? AS tsvector))", seq, d.vector()).Error
	} else {
		err = w.Exec("INSERT INTO mail_search (docid, subject, sender, recipient, body) VALUES (?, ?, ?, ?, ?)",
			seq, strings.Join(d.subject, " "), strings.Join(d.sender, " "), strings.Join(d.recipient, " "), strings.Join(d.body, " ")).Error
	}
	if err != nil {
		return fmt.Errorf("index a message: %w", err)
	}
	return nil
}

// The limits of PostgreSQL's tsvector: the highest position, and how many positions of a word are kept.
const (
	maxPosition  = 16_383
	maxPositions = 255
)

// vector returns the document as the text of a tsvector. Between two parts is a gap, so that no phrase spans them.
func (d document) vector() string {
	places := map[string][]byte{}
	counts := map[string]int{}
	position := 0
	for _, part := range []struct {
		words  []string
		weight byte
	}{{d.subject, 'A'}, {d.sender, 'B'}, {d.recipient, 'C'}, {d.body, 'D'}} {
		for _, word := range part.words {
			if position++; position > maxPosition {
				position = maxPosition
			}
			if counts[word]++; counts[word] > maxPositions {
				continue
			}
			list := places[word]
			if len(list) > 0 {
				list = append(list, ',')
			}
			places[word] = append(strconv.AppendInt(list, int64(position), 10), part.weight)
		}
		position += 2
	}
	var b strings.Builder
	for word, list := range places {
		b.WriteString("'" + word + "':")
		b.Write(list)
		b.WriteByte(' ')
	}
	return b.String()
}

// DeleteMailboxMessages deletes all messages of a mailbox, with what is kept of them.
func (s *Store) DeleteMailboxMessages(ctx context.Context, mailboxID string) error {
	for {
		n, err := s.deleteSome(ctx, func(q *gorm.DB) *gorm.DB { return q.Where("mailbox_id = ?", mailboxID) })
		if err != nil || n == 0 {
			return err
		}
	}
}

// deleteBatch is how many messages one transaction deletes.
const deleteBatch = 200

// deleteSome deletes up to deleteBatch of the messages that choose selects, the oldest first, and returns how many.
func (s *Store) deleteSome(ctx context.Context, choose func(*gorm.DB) *gorm.DB) (n int, err error) {
	err = s.store.Tx(ctx, "delete messages", func(ctx context.Context) error {
		var rows []Stored
		if err := choose(s.store.DB(ctx).Select("seq", "content_id")).Order("seq").Limit(deleteBatch).Find(&rows).Error; err != nil {
			return err
		}
		n = len(rows)
		return s.deleteRows(ctx, rows)
	})
	return n, err
}

// deleteRows deletes messages in the running transaction, and the raw bytes that no other message needs.
func (s *Store) deleteRows(ctx context.Context, rows []Stored) error {
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
