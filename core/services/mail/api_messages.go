package mail

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/mail/authresult"
	"github.com/patchbay-dev/patchbay/core/services/mail/mailbox"
	"github.com/patchbay-dev/patchbay/core/services/mail/message"
	"github.com/patchbay-dev/patchbay/core/services/mail/rfc822"
	"github.com/patchbay-dev/patchbay/core/store"
)

// MessageItem is a message in lists.
type MessageItem struct {
	ID              string                     `json:"id" example:"msg_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
	MailboxID       string                     `json:"mailboxId" example:"mbx_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
	MailboxAddress  string                     `json:"mailboxAddress" example:"calm-otter42@example.com"`
	Subject         string                     `json:"subject" example:"Your verification code: 482913"`
	PreviewText     string                     `json:"previewText" doc:"The beginning of the text, at most 140 characters."`
	FromName        *string                    `json:"fromName" example:"Ada Lovelace"`
	FromAddress     *string                    `json:"fromAddress" example:"ada@example.com"`
	ReceivedAt      api.Time                   `json:"receivedAt"`
	SizeBytes       int64                      `json:"sizeBytes" example:"4711"`
	AttachmentCount int                        `json:"attachmentCount" example:"1"`
	HasHTML         bool                       `json:"hasHtml"`
	Verification    api.Optional[Verification] `json:"verification" doc:"The verification code in the message; null for none."`
	Read            bool                       `json:"read"`
	ParseStatus     rfc822.ParseStatus         `json:"parseStatus" enum:"parsed,failed"`
}

// Verification is a verification code.
type Verification struct {
	Code   string `json:"code" minLength:"4" maxLength:"9" doc:"4 to 8 letters and digits, with a hyphen where the mail has one; no spaces." example:"482913"`
	Source string `json:"source" enum:"subject,body"`
	Method string `json:"method" enum:"rules"`
}

// messageItemOf returns a message for lists.
func messageItemOf(m message.Summary) MessageItem {
	out := MessageItem{
		ID: m.ID, MailboxID: m.MailboxID, MailboxAddress: m.MailboxAddress, Subject: orText(m.Subject, "(no subject)"),
		PreviewText: orText(m.Preview, "(no preview)"),
		FromName:    optionalText(m.FromName), FromAddress: optionalText(m.FromAddress), ReceivedAt: api.TimeOfMillis(m.ReceivedAt),
		SizeBytes:       m.Size,
		AttachmentCount: m.Attachments, HasHTML: m.HasHTML, Read: m.ReadAt != 0, ParseStatus: m.ParseStatus,
	}
	if m.Code != "" {
		out.Verification.Of = &Verification{m.Code, m.CodeSource, "rules"}
	}
	return out
}

func orText(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

func optionalText(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

type (
	// MessageChoice chooses messages by their mailboxes.
	MessageChoice struct {
		Mailbox       []string `query:"mailbox,explode" maxItems:"50" doc:"Addresses of mailboxes; it may be given several times."`
		MailboxID     []string `query:"mailboxId,explode" maxItems:"50" doc:"Ids of mailboxes; they count instead of mailbox."`
		MailboxStatus []string `query:"mailboxStatus,explode" maxItems:"8" doc:"States of mailboxes: active, expired, destroying or destroyed. Without it, active and expired."`
		Scope         string   `query:"scope" enum:"default,workspace" doc:"workspace: only mailboxes that are active or being destroyed."`
	}
	messageQuery struct {
		MessageChoice
		After   time.Time `query:"after" doc:"Only messages received later."`
		Since   time.Time `query:"since" doc:"The same as after; the later of both counts."`
		Query   string    `query:"q" maxLength:"500" doc:"Words to look for. from:, to:, subject: and tag: bound where; \"…\" is a phrase; has:attachment, has:code, is:unread, before:2026-01-31 and after: choose further. A minus before a word, a phrase or an operator excludes it."`
		Limit   int       `query:"limit" minimum:"1" maximum:"200" default:"50"`
		Cursor  string    `query:"cursor" maxLength:"2048" doc:"nextCursor of the page before."`
		Wait    int       `query:"wait" minimum:"0" maximum:"60" doc:"While no message fits, wait for one, for so many seconds. With it, the first 20 messages have codes and links."`
		Pattern string    `query:"pattern" maxLength:"200" doc:"With wait: only codes that this regular expression (RE2) matches as a whole are in codes."`
	}
	messageList struct {
		Body struct {
			Messages   []ListedMessage `json:"messages" nullable:"false"`
			NextCursor *string         `json:"nextCursor" doc:"Null on the last page."`
		}
	}
	// MessagePath names a message.
	MessagePath struct {
		ID string `path:"id" maxLength:"64" doc:"Id of the message."`
	}
	messageChange struct {
		MessagePath
		Body struct {
			Read bool `json:"read"`
		}
	}
	messageItemOutput struct{ Body MessageItem }
	messageOutput     struct {
		Body struct {
			Message Message `json:"message"`
		}
	}
)

// messageAPI declares the endpoints of messages that answer with JSON.
func (s *Service) messageAPI(a *api.API) {
	const notFound = http.StatusNotFound
	op := func(id, method, path, summary string, errors ...int) api.Operation {
		return newOperation(id, method, path, tagMessages, httpd.APIKey, summary, errors...)
	}
	api.Register(a, withText(op("messages", http.MethodGet, "/api/messages", "List messages, or wait for them", notFound),
		"The newest first. A wait for addresses that get no mail is 404 at once."), s.listMessages)
	api.Register(a, withText(op("message-code", http.MethodGet, "/api/messages/code",
		"The newest verification code of a mailbox, or wait for it", notFound),
		"404 if none has come in time. With pattern, messages without a code that it matches are passed over; the newest 20 are looked at, and those that come."), s.getCode)
	api.Register(a, op("message", http.MethodGet, "/api/messages/{id}", "One message", notFound), s.getMessage)
	api.Register(a, op("message-change", http.MethodPatch, "/api/messages/{id}", "Mark a message as read or unread", notFound), s.patchMessage)
	api.Register(a, op("message-delete", http.MethodDelete, "/api/messages/{id}", "Delete a message", notFound), s.deleteMessage)
	s.messageFileAPI(a)
}

// messagePageKey is the place of a message in the list.
type messagePageKey struct {
	Seq int64 `json:"s"`
}

// filterOf returns the filter that chooses by mailbox.
func (s *Service) filterOf(ctx context.Context, c MessageChoice) (message.Filter, error) {
	f := message.Filter{Caller: callerFrom(ctx),
		Mailboxes: mailbox.Filter{IDs: c.MailboxID, Statuses: []mailbox.Status{mailbox.Active, mailbox.Expired}}}
	if len(c.MailboxID) == 0 {
		if err := chooseAddresses(ctx, s.mailboxes, &f, c.Mailbox); err != nil {
			return f, err
		}
	}
	if c.Scope == "workspace" {
		f.Mailboxes.Statuses = mailbox.Workspace()
	}
	if len(c.MailboxStatus) == 0 {
		return f, nil
	}
	f.Mailboxes.Statuses = nil
	for _, text := range c.MailboxStatus {
		status := mailbox.Status(text)
		if !slices.Contains([]mailbox.Status{mailbox.Active, mailbox.Expired, mailbox.Destroying, mailbox.Destroyed}, status) {
			return f, fault.New(fault.InvalidArgument, "mailboxStatus must be active, expired, destroying or destroyed.").With("field",
				"mailboxStatus")
		}
		f.Mailboxes.Statuses = append(f.Mailboxes.Statuses, status)
	}
	return f, nil
}

func (s *Service) listMessages(ctx context.Context, in *messageQuery) (*messageList, error) {
	f, err := s.filterOf(ctx, in.MessageChoice)
	if err != nil {
		return nil, err
	}
	if f.Query, err = message.ParseQuery(in.Query); err != nil {
		return nil, err
	}
	pattern, err := compilePattern(in.Pattern)
	if err != nil {
		return nil, err
	}
	f.After, f.Limit = laterOf(in.After, in.Since), in.Limit+1
	if in.Cursor != "" {
		var key messagePageKey
		if err := store.DecodeCursor(in.Cursor, &key); err != nil {
			return nil, err
		}
		f.BeforeSeq = key.Seq
	}
	if err := s.checkWait(ctx, f, in.MessageChoice, in.Wait); err != nil {
		return nil, err
	}
	found, err := s.listWaiting(ctx, f, in.Wait)
	if err != nil {
		return nil, err
	}
	out := &messageList{}
	if len(found) > in.Limit {
		found = found[:in.Limit]
		next, err := store.EncodeCursor(messagePageKey{found[in.Limit-1].Seq})
		if err != nil {
			return nil, err
		}
		out.Body.NextCursor = &next
	}
	out.Body.Messages = make([]ListedMessage, len(found))
	for i, m := range found {
		out.Body.Messages[i].MessageItem = messageItemOf(m)
		if in.Wait > 0 && i < maxWaitedFinds {
			if err := s.addFinds(ctx, &out.Body.Messages[i], pattern); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// listWaiting lists the messages of a filter. While there are none it waits for some, for so many seconds.
func (s *Service) listWaiting(ctx context.Context, f message.Filter, seconds int) (found []message.Summary, err error) {
	err = s.waitForRequest(ctx, seconds, func() (bool, error) {
		var err error
		found, err = s.messages.List(ctx, f)
		return len(found) > 0, err
	})
	return found, err
}

// waitForRequest is waitUntil for a request, of which a user may have a bounded number.
func (s *Service) waitForRequest(ctx context.Context, seconds int, look func() (bool, error)) error {
	if seconds > 0 {
		release, err := s.waits.Acquire(auth.From(ctx).User.ID)
		if err != nil {
			return err
		}
		defer release()
	}
	return s.waitUntil(ctx, callerFrom(ctx), time.Duration(seconds)*time.Second, httpd.Draining(ctx), look)
}

// findMessage returns a message that the caller may see. That of a mailbox that is being destroyed is there no more.
func (s *Service) findMessage(ctx context.Context, id string) (message.Stored, error) {
	m, err := s.messages.Find(ctx, id)
	if err != nil {
		return m, err
	}
	box, err := s.mailboxes.Get(ctx, callerFrom(ctx), m.MailboxID)
	if err != nil && fault.CodeOf(err) != fault.NotFound {
		return m, err
	}
	if err != nil || box.Status != mailbox.Active {
		return m, fault.New(fault.NotFound, "There is no such message.")
	}
	return m, nil
}

func (s *Service) patchMessage(ctx context.Context, in *messageChange) (*messageItemOutput, error) {
	m, err := s.findMessage(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	at := time.Time{}
	if in.Body.Read {
		at = s.cfg.Now()
	}
	if err := s.messages.SetRead(ctx, m.ID, at); err != nil {
		return nil, err
	}
	m.ReadAt = store.Millis(at)
	return &messageItemOutput{messageItemOf(m.Summary)}, nil
}

func (s *Service) deleteMessage(ctx context.Context, in *MessagePath) (*struct{}, error) {
	m, err := s.findMessage(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return nil, s.messages.Delete(ctx, m)
}

// authenticationOf returns the stored result of checking the sender, nil if that is still to come.
func authenticationOf(m message.Stored) *authresult.Result {
	var r authresult.Result
	if m.AuthAt == 0 || json.Unmarshal([]byte(m.Auth), &r) != nil {
		return nil
	}
	if r.DKIM == nil {
		r.DKIM = []authresult.Check{}
	}
	return &r
}
