// Package inbound takes mail in: by SMTP, and from mail workers by signed HTTP requests. Both lead to one Ingester.
package inbound

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/sync/semaphore"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/mail/code"
	"github.com/patchbay-dev/patchbay/core/services/mail/message"
	"github.com/patchbay-dev/patchbay/core/services/mail/rfc822"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/core/texts"
)

// Recipient is a mailbox that takes mail for an address. Without an id it is one that a message for it makes.
type Recipient struct {
	MailboxID, OwnerID, Address string
	// EnvelopeTo is the address that the sender named, "" for that of the mailbox.
	EnvelopeTo string
}

// AddRecipient adds a recipient to those of a message, unless the sender has named its address already. A mailbox gets a message for each
// address that leads to it.
func AddRecipient(all []Recipient, r Recipient) []Recipient {
	if slices.Contains(all, r) {
		return all
	}
	return append(all, r)
}

// Recipients finds mailboxes.
type Recipients interface {
	// FindRecipient returns the mailbox for an address, and makes none. planned is how many mailboxes of the same message have to
	// be made. An error that is a fault with the status 404 refuses the address for good; any other one is temporary.
	FindRecipient(ctx context.Context, address string, planned int) (Recipient, error)
	// MakeRecipient returns the mailbox for an address, and makes it in the running transaction if need be. Its errors are those
	// of FindRecipient.
	MakeRecipient(ctx context.Context, address string) (Recipient, error)
}

// Mailboxes is told about mail.
type Mailboxes interface {
	// SetReceived notes in the running transaction that mailboxes have got messages, and returns those that there still are.
	SetReceived(ctx context.Context, mailboxIDs []string, at time.Time) (active []string, err error)
}

// Config is what an Ingester works with. What says nothing of a default is needed.
type Config struct {
	Store      *store.Store
	Messages   *message.Store
	Recipients Recipients
	Mailboxes  Mailboxes
	Logger     hclog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// SpoolDir holds large messages while they arrive.
	SpoolDir string
	// Parallel is how many messages are parsed at once; 0 means as many as there are processors.
	Parallel int64
	// Within is called with messages in the transaction that stores them, Stored when they are durable, in the order of their
	// Seq; both may be nil. Within may be called again for the same messages after a transaction that failed.
	Within func(context.Context, []message.Stored)
	Stored func([]message.Stored)
	// AddAlone may store a message for one recipient in a transaction of its own, and note that the mailbox has got it, where Within has
	// nothing to do. It reports false if it has done nothing; nil stands for one that never does anything.
	AddAlone func(ctx context.Context, in *message.Incoming, to message.Delivery, receipt message.Receipt, forget []string,
		at time.Time) (message.Stored, bool, error)
	// Metrics may be nil.
	Metrics *Metrics
}

// Ingester stores messages. Close it when nothing arrives any more.
type Ingester struct {
	cfg Config
	// parsing bounds the messages that are parsed at once.
	parsing *semaphore.Weighted
	commits *committer
	answers *answers
}

// New returns an Ingester.
func New(cfg Config) *Ingester {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Stored == nil {
		cfg.Stored = func([]message.Stored) {}
	}
	if cfg.Within == nil {
		cfg.Within = func(context.Context, []message.Stored) {}
	}
	if cfg.Parallel <= 0 {
		cfg.Parallel = int64(runtime.GOMAXPROCS(0))
	}
	if cfg.Metrics == nil {
		cfg.Metrics = NewMetrics(nil)
	}
	g := &Ingester{cfg: cfg, parsing: semaphore.NewWeighted(cfg.Parallel), answers: newAnswers()}
	g.commits = newCommitter(&g.cfg, g.answers)
	return g
}

// Close ends the Ingester. Messages under way are stored before.
func (g *Ingester) Close() { g.commits.close() }

// The ways in which mail comes.
const (
	ViaSMTP = "smtp"
	ViaHTTP = "http"
)

// Envelope is what is known of a message besides its bytes.
type Envelope struct {
	Via string
	// From is the address in MAIL FROM, empty for a bounce.
	From       string
	Recipients []Recipient
	// Client is the address of the sending host, Helo the name that it gave, and TLS the version of TLS; "" if unknown.
	Client, Helo, TLS string
	// Answer is the answer by SMTP, and DeliveryID what an HTTP client calls the delivery. With neither, a delivery repeats no other one.
	Answer     *Answer
	DeliveryID string
}

// Delivered is what became of a message for one recipient.
type Delivered struct {
	Recipient
	// MessageID is the id of the message. A repeated delivery has that of the first one.
	MessageID string
}

// Ingest stores a message for its recipients. When it returns nil, the message is durable. content stays the caller's.
func (g *Ingester) Ingest(ctx context.Context, env Envelope, content *message.Content) ([]Delivered, error) {
	started := time.Now()
	in, err := g.prepareMessage(ctx, env, content)
	if err != nil {
		return nil, err
	}
	p := &pending{in: in, to: env.Recipients, answer: env.Answer}
	if env.Answer != nil || env.DeliveryID != "" {
		p.key = deliveryKey(&env, in.Message.Hash)
	}
	out, err := g.commits.storeMessage(ctx, p)
	if err != nil {
		env.Answer.failDelivery()
		return nil, err
	}
	if p.repeated {
		return out, nil
	}
	g.cfg.Metrics.observeStored(env.Via, len(out), content.Size(), time.Since(started))
	return out, nil
}

// maxEnvelope is how much of a text of the envelope is kept, in bytes.
const maxEnvelope = 512

// prepareMessage parses a message and finds its verification code.
func (g *Ingester) prepareMessage(ctx context.Context, env Envelope, content *message.Content) (*message.Incoming, error) {
	if err := g.parsing.Acquire(ctx, 1); err != nil {
		return nil, fmt.Errorf("wait for the parser: %w", err)
	}
	defer g.parsing.Release(1)
	parsed, err := rfc822.Parse(content.Open)
	if err != nil {
		return nil, fmt.Errorf("read a message: %w", err)
	}
	in := g.cfg.Messages.PrepareIncoming(content, parsed, message.Stored{
		Via: env.Via, EnvelopeFrom: texts.OneLine(env.From, maxEnvelope), Client: env.Client, Helo: texts.OneLine(env.Helo, maxEnvelope),
		TLS: env.TLS,
	})
	if found, ok := g.findCode(in); ok {
		in.Message.Code, in.Message.CodeSource = found.Value, found.Source.Place()
	}
	return in, nil
}

// findCode returns the verification code of a message. A panic is logged: it costs the code, not the message.
func (g *Ingester) findCode(in *message.Incoming) (found code.Code, ok bool) {
	defer func() {
		if p := recover(); p != nil {
			g.cfg.Logger.Error("panic while reading a verification code", "panic", p)
			found, ok = code.Code{}, false
		}
	}()
	return code.FindBest(in.Parsed.Subject, in.Parsed.Text, in.HTMLText(code.MaxText))
}

// isUnknownRecipient reports whether an error refuses an address for good.
func isUnknownRecipient(err error) bool {
	return fault.StatusOf(fault.As(err)) == http.StatusNotFound
}

// CountPlanned returns how many recipients have no mailbox yet.
func CountPlanned(all []Recipient) (n int) {
	for _, r := range all {
		if r.MailboxID == "" {
			n++
		}
	}
	return n
}
