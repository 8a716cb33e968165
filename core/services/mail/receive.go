package mail

import (
	"context"
	"net/netip"
	"path/filepath"
	"time"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/services/mail/address"
	"github.com/patchbay-dev/patchbay/core/services/mail/inbound"
	"github.com/patchbay-dev/patchbay/core/services/mail/mailbox"
	"github.com/patchbay-dev/patchbay/core/services/mail/message"
)

// recipients finds the mailboxes for arriving mail.
type recipients struct{ *mailbox.Recipients }

// FindRecipient implements inbound.Recipients.
func (r recipients) FindRecipient(ctx context.Context, named string, planned int) (inbound.Recipient, error) {
	box, err := r.FindForMail(ctx, named, planned)
	return newRecipient(box, named), err
}

// MakeRecipient implements inbound.Recipients.
func (r recipients) MakeRecipient(ctx context.Context, named string) (inbound.Recipient, error) {
	box, err := r.MakeForMail(ctx, named)
	return newRecipient(box, named), err
}

// newRecipient returns a mailbox as the recipient that a sender has named.
func newRecipient(box mailbox.Mailbox, named string) inbound.Recipient {
	return inbound.Recipient{MailboxID: box.ID, OwnerID: box.OwnerID, Address: box.Address, EnvelopeTo: address.Normalise(named)}
}

// newIngester returns the one way into the mailboxes.
func (s *Service) newIngester() *inbound.Ingester {
	return inbound.New(inbound.Config{
		Store: s.cfg.Store, Messages: s.messages, Recipients: s.recipients, Mailboxes: s.mailboxes, Logger: s.log, Now: s.cfg.Now,
		SpoolDir: s.spoolDir(), Parallel: s.cfg.Settings.Limits.ParseBudget, Within: s.notifyMessages, Stored: s.announceMessages,
		AddAlone: s.addAlone, Metrics: inbound.NewMetrics(s.cfg.Metrics),
	})
}

// addAlone is that of inbound.Config. What tells the channels needs the transaction.
func (s *Service) addAlone(ctx context.Context, in *message.Incoming, to message.Delivery, receipt message.Receipt, forget []string,
	at time.Time) (message.Stored, bool, error) {
	if len(s.channelsToTell()) > 0 {
		return message.Stored{}, false, nil
	}
	return s.messages.AddAlone(ctx, in, to, receipt, forget, at)
}

// spoolDir holds large messages while they arrive.
func (s *Service) spoolDir() string { return filepath.Join(s.cfg.DataDir, "mail-spool") }

// Start takes mail in and checks its senders. The addresses stay as they are until a restart.
func (s *Service) Start(context.Context) error {
	if err := s.startListeners(); err != nil {
		return err
	}
	s.checker.start()
	return nil
}

// serverConfig returns what an smtp block says.
func (s *Service) serverConfig(set SMTPSettings) inbound.ServerConfig {
	cfg := inbound.ServerConfig{
		Ingester: s.ingester, Logger: s.log, Addresses: []string{set.Listen}, Hostname: set.Hostname, MaxBytes: set.MaxSize,
		MaxRecipients:  int(set.MaxRecipients),
		MaxConnections: int(set.MaxConnections), MaxPerClient: int(set.PerAddress), MessagesPerMinute: int(set.RatePerMinute),
		LoopbackPerMinute: loopbackRate(set), Timeout: set.Timeout,
		CertFile: set.TLSCert, KeyFile: set.TLSKey,
	}
	for _, text := range set.ProxyProtocol {
		// Check has refused what is no network.
		if network, err := netip.ParsePrefix(text); err == nil {
			cfg.Proxies = append(cfg.Proxies, network)
		}
	}
	return cfg
}

// loopbackPerMinute is what programs on this machine may send in a minute: more than a test suite does.
const loopbackPerMinute = 5000

// loopbackRate returns the messages that programs on this machine may send in a minute, 0 for no limit.
func loopbackRate(set SMTPSettings) int {
	if set.RatePerMinute == 0 {
		return 0
	}
	return int(max(set.RatePerMinute, loopbackPerMinute))
}

// Close ends what the service began: no mail is taken in any more, and what has arrived is stored.
func (s *Service) Close() {
	s.closeListeners()
	s.ingester.Close()
	s.checker.close()
}

// topicMessages begins the topics of new messages: each has one of its mailbox, below one of the mailbox's owner.
const topicMessages = "mail.messages/"

func topicOwner(ownerID string) string { return topicMessages + ownerID + "/" }

// announceMessages tells those who wait, also at other nodes, of messages that were stored.
func (s *Service) announceMessages(all []message.Stored) {
	s.checker.wakeUp()
	if s.cfg.Bus == nil {
		return
	}
	for _, m := range all {
		s.relay.Publish(topicOwner(m.OwnerID)+m.MailboxID, event.Event{Seq: m.Seq, Type: "message", Data: m.ID})
	}
}

// subscribe returns a subscription to the messages that the caller may see.
func (s *Service) subscribe(caller mailbox.Caller) *event.Subscription {
	if caller.Admin {
		return s.cfg.Bus.Subscribe(topicMessages)
	}
	return s.cfg.Bus.Subscribe(topicOwner(caller.UserID))
}
