package api

import (
	"context"
	"time"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/services/mail/deploycheck"
	"github.com/patchbay-dev/patchbay/core/services/mail/domain"
	"github.com/patchbay-dev/patchbay/core/services/mail/inbound"
	"github.com/patchbay-dev/patchbay/core/services/mail/mailbox"
	"github.com/patchbay-dev/patchbay/core/services/mail/message"
	"github.com/patchbay-dev/patchbay/core/services/mail/rfc822"
)

// Config is what the API needs.
type Config struct {
	Mailboxes  mailboxes
	Recipients recipients
	Messages   messages
	Domains    domains
	Ingester   ingester
	Users      *auth.Users
	// Settings returns those in use, and Connect the DNS provider in use.
	Settings func() Settings
	Connect  func() domain.Connection
	// Follow returns a subscription that tells of new messages which a caller may see.
	Follow func(mailbox.Caller) *event.Subscription
	// AddMissing adds the domains that the settings name and that there are not.
	AddMissing func(context.Context)
	// ParseBudget is how many messages are parsed for readers at once.
	ParseBudget int64
	// SpoolDir holds large messages while they arrive.
	SpoolDir string
	// Version is the core's own.
	Version string
	Now     func() time.Time
}

// Settings are what a reload replaces.
type Settings struct {
	// Access says who is recognised, and under which address browsers see the core.
	Access auth.Access
	// InboundSecret is shared with mail workers; "" refuses them.
	InboundSecret string
	// MaxMessageBytes is the size of the largest message.
	MaxMessageBytes int64
	// Deploy is what the deploy check looks at, besides the domains.
	Deploy deploycheck.Config
}

// mailboxes makes, finds and changes mailboxes.
type mailboxes interface {
	mailboxReader
	mailboxChanger
}

// mailboxReader finds mailboxes.
type mailboxReader interface {
	Get(ctx context.Context, caller mailbox.Caller, id string) (mailbox.Mailbox, error)
	Resolve(ctx context.Context, caller mailbox.Caller, address string) (mailbox.Mailbox, error)
	List(ctx context.Context, caller mailbox.Caller, f mailbox.Filter, limit int, cursor string) ([]mailbox.Mailbox, string, error)
	HasMailbox(ctx context.Context, caller mailbox.Caller, f mailbox.Filter) (bool, error)
	ListCleanupFailures(ctx context.Context) ([]mailbox.CleanupFailure, error)
}

// mailboxChanger makes and changes mailboxes.
type mailboxChanger interface {
	Create(ctx context.Context, caller mailbox.Caller, in mailbox.NewMailbox) (mailbox.Mailbox, error)
	Ensure(ctx context.Context, caller mailbox.Caller, in mailbox.NewMailbox) (box mailbox.Mailbox, created bool, err error)
	SetTags(ctx context.Context, caller mailbox.Caller, id string, tags []string) (mailbox.Mailbox, error)
	Destroy(ctx context.Context, caller mailbox.Caller, id string) (mailbox.Mailbox, error)
}

// recipients tells which mailbox mail to an address goes to.
type recipients interface {
	inbound.Recipients
	tagFinder
	WouldCatch(ctx context.Context, caller mailbox.Caller, address string) (bool, error)
}

// tagFinder finds the mailbox that gets mail to a tagged address.
type tagFinder interface {
	FindTagged(ctx context.Context, caller mailbox.Caller, address string) (string, error)
}

// messages finds and changes messages.
type messages interface {
	messageReader
	messageChanger
}

// messageReader finds messages.
type messageReader interface {
	Find(ctx context.Context, id string) (message.Stored, error)
	List(ctx context.Context, f message.Filter) ([]message.Summary, error)
	ListStored(ctx context.Context, f message.Filter) ([]message.Stored, error)
	LastSeq(ctx context.Context) (int64, error)
	OpenRaw(ctx context.Context, m message.Stored) rfc822.Opener
}

// messageChanger changes messages.
type messageChanger interface {
	SetRead(ctx context.Context, id string, at time.Time) error
	Delete(ctx context.Context, m message.Stored) error
}

// domains finds and changes mail domains.
type domains interface {
	domainReader
	domainChanger
	catchAlls
}

// domainReader finds mail domains.
type domainReader interface {
	ListDomains(ctx context.Context) ([]domain.Domain, error)
	ListActive(ctx context.Context) ([]domain.Domain, error)
	ListCatalog(ctx context.Context) (domain.Catalog, error)
}

// domainChanger makes and changes mail domains.
type domainChanger interface {
	Bind(ctx context.Context, name string) (d domain.Domain, created bool, err error)
	Enable(ctx context.Context, name, zoneID string) (d domain.Domain, created bool, err error)
	Retry(ctx context.Context, id string) (domain.Domain, error)
	Disable(ctx context.Context, id string) (domain.Domain, error)
	Delete(ctx context.Context, id string) error
}

// catchAlls switches the catch-alls of mail domains on and off.
type catchAlls interface {
	EnableCatchAll(ctx context.Context, id, ownerID, pattern string) (domain.Domain, error)
	DisableCatchAll(ctx context.Context, id string) (domain.Domain, error)
}

// ingester stores messages.
type ingester interface {
	Ingest(ctx context.Context, env inbound.Envelope, content *message.Content) ([]inbound.Delivered, error)
}
