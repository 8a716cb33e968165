package mail

import (
	"context"
	"embed"

	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/services/mail/message"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/core/texts/locale"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

//go:embed locales/*.json
var localeFiles embed.FS

var allTexts = locale.ReadLazily(localeFiles)

// Alerter sends notifications.
type Alerter interface {
	// Send tells the channels once, in the transaction of ctx.
	Send(ctx context.Context, a notify.Alert, channels []string) error
	// Locale returns the language of those who are told, "zh" or "en".
	Locale() string
}

// alertMessage is the kind of a notification of new mail.
const alertMessage = "message_received"

// notifyMessages tells the channels of the settings of new messages, in the transaction that stores these. A channel that
// cannot be told costs no message.
func (s *Service) notifyMessages(ctx context.Context, all []message.Stored) {
	channels := s.channelsToTell()
	if len(channels) == 0 {
		return
	}
	for _, m := range all {
		if err := s.cfg.Alerts.Send(ctx, s.newMailAlert(m), channels); err != nil {
			s.log.Error("nobody is told of a message", "message", m.ID, "error", err)
		}
	}
}

// channelsToTell returns the channels that are told of new messages.
func (s *Service) channelsToTell() []string {
	if s.cfg.Alerts == nil {
		return nil
	}
	return s.state.Load().settings.Notify
}

// newMailAlert describes a message by its header.
func (s *Service) newMailAlert(m message.Stored) notify.Alert {
	sender := m.FromAddress
	if sender == "" {
		sender = m.EnvelopeFrom
	}
	lang := s.cfg.Alerts.Locale()
	title := allTexts().Text(lang, "message.title", "Mailbox", m.MailboxAddress)
	text := allTexts().Text(lang, "message.text", "Sender", sender, "Subject", m.Subject)
	return notify.Alert{
		Kind: alertMessage, Severity: sdk.Info, Service: ServiceName, Title: title, Text: text, DedupKey: alertMessage + "/" + m.ID,
		Time: store.FromMillis(m.ReceivedAt),
		Fields: map[string]any{
			"messageId": m.ID, "mailboxId": m.MailboxID, "mailboxAddress": m.MailboxAddress, "fromName": m.FromName, "fromAddress": m.FromAddress,
			"subject":    m.Subject,
			"receivedAt": store.FormatTime(store.FromMillis(m.ReceivedAt)), "sizeBytes": m.Size, "attachmentCount": m.Attachments,
		},
	}
}
