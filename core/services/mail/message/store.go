// Package message keeps, lists and finds messages.
package message

import (
	"strings"

	"github.com/patchbay-dev/patchbay/core/services/mail/rfc822"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Store keeps messages. Its methods may be called from several goroutines, those that change something in a transaction of
// their context or in one of their own.
type Store struct {
	store *store.Store
	codec *codec
	sql   statements
}

// NewStore returns the messages in a database.
func NewStore(s *store.Store) (*Store, error) {
	c, err := newCodec()
	if err != nil {
		return nil, err
	}
	return &Store{store: s, codec: c, sql: newStatements(s.Dialect())}, nil
}

// Stored is a message with all that is kept of it besides its raw bytes and its words. Times are Unix milliseconds, 0 for none.
type Stored struct {
	Summary
	OwnerID      string
	ContentID    int64
	Hash         []byte
	EnvelopeFrom string
	EnvelopeTo   string
	// MessageID is the Message-ID field, SentAt the time in the Date field.
	MessageID string
	SentAt    int64
	Parser    rfc822.Parser
	// Via is how the message came; Client, Helo and TLS say from whom, as far as that is known.
	Via, Client, Helo, TLS string
	// Signed says that the header may have a DKIM signature.
	Signed bool
	// AuthAt is when the sender was checked, and Auth the result as JSON.
	AuthAt int64
	Auth   string
}

// TableName implements gorm's Tabler.
func (Stored) TableName() string { return "mail_messages" }

// Incoming is a message that arrives, before it belongs to a mailbox.
type Incoming struct {
	Content *Content
	Parsed  *rfc822.Parsed
	// Message has what all recipients share.
	Message Stored
	// bodyText is what is shown in lists.
	bodyText string
	// words are what is searched, without markers and the recipient, and chunk the compressed bytes of a small message.
	words document
	chunk []byte
}

// PrepareIncoming does the part of storing a message that needs no transaction. share has the envelope and where the message
// comes from.
func (s *Store) PrepareIncoming(content *Content, parsed *rfc822.Parsed, share Stored) *Incoming {
	in := &Incoming{Content: content, Parsed: parsed, Message: share}
	in.bodyText = parsed.Text
	if strings.TrimSpace(in.bodyText) == "" {
		in.bodyText = rfc822.HTMLText(parsed.HTML, rfc822.MaxText)
	}
	m := &in.Message
	m.Hash, m.Size, m.Signed = content.sum[:], content.size, content.mayBeSigned()
	m.MessageID, m.SentAt, m.Subject = parsed.MessageID, store.Millis(parsed.Date), parsed.Subject
	m.FromName, m.FromAddress = parsed.From.Name, parsed.From.Address
	m.Preview, m.Attachments, m.HasHTML = rfc822.Preview(in.bodyText), len(parsed.Attachments), parsed.HTML != ""
	m.ParseStatus, m.Parser = parsed.Status, parsed.Parser
	in.words = newDocument(parsed, in.bodyText)
	if content.file == nil {
		in.chunk = s.codec.encoder.EncodeAll(content.memory, make([]byte, 0, len(content.memory)/2))
	}
	return in
}

// HTMLText returns the text of the HTML of the message, at most limit bytes of it.
func (in *Incoming) HTMLText(limit int) string {
	if strings.TrimSpace(in.Parsed.Text) == "" {
		return in.bodyText[:min(len(in.bodyText), limit)]
	}
	return rfc822.HTMLText(in.Parsed.HTML, limit)
}

// Delivery is one recipient of an incoming message.
type Delivery struct {
	MailboxID, OwnerID, Address string
	// EnvelopeTo is the address that the sender named, "" for that of the mailbox.
	EnvelopeTo string
}
