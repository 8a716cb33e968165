package pages

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/event"
	service "github.com/patchbay-dev/patchbay/core/services/mail"
	"github.com/patchbay-dev/patchbay/core/services/mail/api"
)

// Service is what the pages show and change. *mail.Service implements it. The caller is the principal of the context.
type Service interface {
	messageReader
	messageChanger
	mailboxReader
	mailboxChanger
	domainReader
	domainChanger
	catchAlls
	deployChecker
}

// messageReader reads messages.
type messageReader interface {
	Messages(ctx context.Context, choice api.MessageChoice, search string, limit int, cursor string) (api.MessagePage, error)
	Message(ctx context.Context, id string) (api.Message, error)
	FollowMessages(ctx context.Context) *event.Subscription
}

// messageChanger changes messages.
type messageChanger interface {
	MarkMessage(ctx context.Context, id string, read bool) error
	DeleteMessage(ctx context.Context, id string) error
}

// mailboxReader reads mailboxes.
type mailboxReader interface {
	Mailboxes(ctx context.Context, statuses []string, text string, limit int, cursor string) (api.MailboxPage, error)
	Mailbox(ctx context.Context, id string) (api.Mailbox, error)
	DownListeners() []service.DownListener
}

// mailboxChanger makes and changes mailboxes.
type mailboxChanger interface {
	CreateMailbox(ctx context.Context, body api.MailboxBody) (api.Mailbox, error)
	ExtendMailbox(ctx context.Context, address string, life api.Minutes) (api.Mailbox, error)
	SetMailboxTags(ctx context.Context, id string, tags []string) (api.Mailbox, error)
	DestroyMailbox(ctx context.Context, id string) error
}

// domainReader reads mail domains.
type domainReader interface {
	Domains(ctx context.Context) ([]api.Domain, error)
	ActiveDomains(ctx context.Context) ([]string, error)
	Catalog(ctx context.Context) ([]api.CatalogItem, api.ProviderSync, error)
	CleanupFailures(ctx context.Context) (map[string]api.CleanupFailure, error)
}

// domainChanger makes and changes mail domains.
type domainChanger interface {
	BindDomain(ctx context.Context, name string) (api.Domain, error)
	EnableDomain(ctx context.Context, name, zoneID string) (api.Domain, error)
	RetryDomain(ctx context.Context, id string) (api.Domain, error)
	DisableDomain(ctx context.Context, id string) (api.Domain, error)
	DeleteDomain(ctx context.Context, id string) error
}

// catchAlls switches the catch-alls of mail domains on and off.
type catchAlls interface {
	EnableCatchAll(ctx context.Context, id, pattern string) (api.Domain, error)
	DisableCatchAll(ctx context.Context, id string) (api.Domain, error)
}

// deployChecker checks what mail from other servers needs to arrive.
type deployChecker interface {
	LastDeployReport() *api.DeployReport
	CheckDeployment(ctx context.Context) (*api.DeployReport, error)
}
