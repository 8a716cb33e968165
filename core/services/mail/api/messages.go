package api

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/mail/authresult"
	"github.com/patchbay-dev/patchbay/core/services/mail/mailbox"
	"github.com/patchbay-dev/patchbay/core/services/mail/message"
	"github.com/patchbay-dev/patchbay/core/services/mail/rfc822"
	"github.com/patchbay-dev/patchbay/core/store"
)

const (
	// maxWaits and maxWaitsEach bound the requests that wait for messages, all of them and those of one user.
	maxWaits, maxWaitsEach = 2000, 500
)

// messageHandlers answers what is asked about messages.
type messageHandlers struct {
	messages   messages
	boxes      mailboxReader
	recipients recipients
	follow     func(mailbox.Caller) *event.Subscription
	// parsing bounds the messages that are parsed for readers at once, and waits the requests that wait for messages.
	parsing *semaphore.Weighted
	waits   *httpd.StreamLimits
	now     func() time.Time
}

func newMessageHandlers(cfg Config) *messageHandlers {
	return &messageHandlers{
		messages: cfg.Messages, boxes: cfg.Mailboxes, recipients: cfg.Recipients, follow: cfg.Follow,
		parsing: semaphore.NewWeighted(max(1, cfg.ParseBudget)),
		waits:   httpd.NewStreamLimits(maxWaits, maxWaitsEach).Naming("requests that wait for messages"), now: cfg.Now,
	}
}

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

// formatMessageItem returns a message for lists.
func formatMessageItem(m message.Summary) MessageItem {
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
	messageListBody struct {
		Messages   []ListedMessage `json:"messages" nullable:"false"`
		NextCursor *string         `json:"nextCursor" doc:"Null on the last page."`
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
	messageOutputBody struct {
		Message Message `json:"message"`
	}
)

// messageAPI declares the endpoints of messages that answer with JSON.
func (h *messageHandlers) messageAPI(a *api.API) {
	const notFound = http.StatusNotFound
	op := messageOperation
	api.Register(a, withText(op("messages", http.MethodGet, "/api/messages", "List messages, or wait for them", notFound),
		"The newest first. A wait for addresses that get no mail is 404 at once."), h.listMessages)
	api.Register(a, op("message", http.MethodGet, "/api/messages/{id}", "One message", notFound), h.getMessage)
	api.Register(a, op("message-change", http.MethodPatch, "/api/messages/{id}", "Mark a message as read or unread", notFound), h.patchMessage)
	api.Register(a, op("message-delete", http.MethodDelete, "/api/messages/{id}", "Delete a message", notFound), h.deleteMessage)
}

// messagePageKey is the place of a message in the list.
type messagePageKey struct {
	Seq int64 `json:"s"`
}

// newFilter returns the filter that chooses by mailbox.
func (h *messageHandlers) newFilter(ctx context.Context, c MessageChoice) (message.Filter, error) {
	f := message.Filter{Caller: callerFrom(ctx),
		Mailboxes: mailbox.Filter{IDs: c.MailboxID, Statuses: []mailbox.Status{mailbox.Active, mailbox.Expired}}}
	if len(c.MailboxID) == 0 {
		if err := ChooseAddresses(ctx, h.recipients, &f, c.Mailbox); err != nil {
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

func (h *messageHandlers) listMessages(ctx context.Context, in *messageQuery) (*api.Out[messageListBody], error) {
	f, err := h.newFilter(ctx, in.MessageChoice)
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
	f.After, f.Limit = laterTime(in.After, in.Since), in.Limit+1
	if in.Cursor != "" {
		var key messagePageKey
		if err := store.DecodeCursor(in.Cursor, &key); err != nil {
			return nil, err
		}
		f.BeforeSeq = key.Seq
	}
	if err := h.checkWait(ctx, f, in.MessageChoice, in.Wait); err != nil {
		return nil, err
	}
	found, err := h.listWaiting(ctx, f, in.Wait)
	if err != nil {
		return nil, err
	}
	out := &api.Out[messageListBody]{}
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
		out.Body.Messages[i].MessageItem = formatMessageItem(m)
		if in.Wait > 0 && i < maxWaitedFinds {
			if err := h.addFinds(ctx, &out.Body.Messages[i], pattern); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// listWaiting lists the messages of a filter. While there are none it waits for some, for so many seconds.
func (h *messageHandlers) listWaiting(ctx context.Context, f message.Filter, seconds int) (found []message.Summary, err error) {
	err = h.waitForRequest(ctx, seconds, func() (bool, error) {
		var err error
		found, err = h.messages.List(ctx, f)
		return len(found) > 0, err
	})
	return found, err
}

// waitForRequest is waitUntil for a request, of which a user may have a bounded number.
func (h *messageHandlers) waitForRequest(ctx context.Context, seconds int, look func() (bool, error)) error {
	if seconds > 0 {
		release, err := h.waits.Acquire(auth.From(ctx).User.ID)
		if err != nil {
			return err
		}
		defer release()
	}
	return h.waitUntil(ctx, callerFrom(ctx), time.Duration(seconds)*time.Second, httpd.Draining(ctx), look)
}

// waitUntil calls look until it reports that it has found something: at once, and whenever messages arrive, no longer than wait.
func (h *messageHandlers) waitUntil(ctx context.Context, caller mailbox.Caller, wait time.Duration, stop <-chan struct{},
	look func() (bool, error)) error {
	if wait <= 0 {
		_, err := look()
		return err
	}
	sub := h.follow(caller)
	defer sub.Close()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		if found, err := look(); err != nil || found {
			return err
		}
		select {
		case _, open := <-sub.Events():
			if !open {
				return nil
			}
		case <-timer.C:
			return nil
		case <-stop:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// findMessage returns a message that the caller may see. That of a mailbox that is being destroyed is there no more.
func (h *messageHandlers) findMessage(ctx context.Context, id string) (message.Stored, error) {
	m, err := h.messages.Find(ctx, id)
	if err != nil {
		return m, err
	}
	box, err := h.boxes.Get(ctx, callerFrom(ctx), m.MailboxID)
	if err != nil && fault.CodeOf(err) != fault.NotFound {
		return m, err
	}
	if err != nil || box.Status != mailbox.Active {
		return m, fault.New(fault.NotFound, "There is no such message.")
	}
	return m, nil
}

func (h *messageHandlers) patchMessage(ctx context.Context, in *messageChange) (*api.Out[MessageItem], error) {
	m, err := h.findMessage(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	at := time.Time{}
	if in.Body.Read {
		at = h.now()
	}
	if err := h.messages.SetRead(ctx, m.ID, at); err != nil {
		return nil, err
	}
	m.ReadAt = store.Millis(at)
	return api.AnswerWith(formatMessageItem(m.Summary), nil)
}

func (h *messageHandlers) deleteMessage(ctx context.Context, in *MessagePath) (*struct{}, error) {
	m, err := h.findMessage(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return nil, h.messages.Delete(ctx, m)
}

// decodeAuthentication returns the stored result of checking the sender, nil if that is still to come.
func decodeAuthentication(m message.Stored) *authresult.Result {
	var r authresult.Result
	if m.AuthAt == 0 || json.Unmarshal([]byte(m.Auth), &r) != nil {
		return nil
	}
	if r.DKIM == nil {
		r.DKIM = []authresult.Check{}
	}
	return &r
}
