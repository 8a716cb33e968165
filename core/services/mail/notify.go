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

var messageReceived = notify.RegisterKind(notify.Kind{Service: ServiceName, Name: "message_received", Severity: sdk.Info, Texts: allTexts})

// notifyMessages tells the channels of the settings of new messages, in the transaction that stores these. A channel that
// cannot be told costs no message.
func (s *Service) notifyMessages(ctx context.Context, all []message.Stored) {
	channels := s.channelsToTell()
	if len(channels) == 0 {
		return
	}
	for _, m := range all {
		if err := s.cfg.Alerts.Send(ctx, s.newMailAlert(m), channels); err != nil {
			s.log.Error("cannot notify about a message", "message", m.ID, "error", err)
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
	a := messageReceived.NewAlert(s.cfg.Alerts.Locale(), messageReceived.Name,
		"Mailbox", m.MailboxAddress, "Sender", sender, "Subject", m.Subject)
	a.DedupKey, a.Time = a.Kind+"/"+m.ID, store.FromMillis(m.ReceivedAt)
	a.Fields = map[string]any{
		"messageId": m.ID, "mailboxId": m.MailboxID, "mailboxAddress": m.MailboxAddress, "fromName": m.FromName, "fromAddress": m.FromAddress,
		"subject": m.Subject, "receivedAt": store.FormatTime(a.Time), "sizeBytes": m.Size, "attachmentCount": m.Attachments,
	}
	return a
}
