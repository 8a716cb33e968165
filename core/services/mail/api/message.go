package api

import (
	"context"
	"strconv"

	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/mail/authresult"
	"github.com/patchbay-dev/patchbay/core/services/mail/code"
	"github.com/patchbay-dev/patchbay/core/services/mail/message"
	"github.com/patchbay-dev/patchbay/core/services/mail/rfc822"
)

// Message is a message with all that it says.
type Message struct {
	MessageItem
	EnvelopeFrom    *string                         `json:"envelopeFrom" doc:"The address in MAIL FROM; null for a bounce." example:"bounce@example.com"`
	EnvelopeTo      string                          `json:"envelopeTo" example:"calm-otter42@example.com"`
	MessageID       *string                         `json:"messageId" doc:"The field Message-ID." example:"<1@example.com>"`
	DateHeader      *api.Time                       `json:"dateHeader" nullable:"true" doc:"The time in the field Date."`
	HTML            *string                         `json:"html" doc:"As it came: it may run scripts and load from other sites. /html has a safe one."`
	Text            *string                         `json:"text"`
	TextTruncated   bool                            `json:"textTruncated" doc:"Whether text or html is cut at 2 MiB."`
	Headers         []rfc822.Header                 `json:"headers" nullable:"false"`
	Recipients      MessageRecipients               `json:"recipients"`
	Attachments     []MessageAttachment             `json:"attachments" nullable:"false"`
	Codes           []CodeCandidate                 `json:"codes" nullable:"false" doc:"What may be a verification code, the most likely first; at most 20."`
	Links           []MessageLink                   `json:"links" nullable:"false" doc:"The links of HTML, text and List-Unsubscribe; at most 200."`
	Calendar        []rfc822.Event                  `json:"calendar" nullable:"false" doc:"The events of the calendars that the message has, at most 20."`
	RawDownloadPath string                          `json:"rawDownloadPath" doc:"Below the base URL of the service." example:"/api/messages/msg_01K9ZS5T9W1V6Q0P9A8E7C6B5D/raw"`
	Via             string                          `json:"via" enum:"smtp,http"`
	Client          *string                         `json:"client" doc:"The address of the host that sent it." example:"192.0.2.1"`
	TLS             *string                         `json:"tls" doc:"The version of TLS with which it came; null for none." example:"TLS 1.3"`
	Authentication  api.Optional[authresult.Result] `json:"authentication" doc:"SPF, DKIM and DMARC; null until they are checked, some seconds after the message came."`
}

// MessageRecipients are the addresses that the header names.
type MessageRecipients struct {
	To      []MessageAddress `json:"to" nullable:"false"`
	Cc      []MessageAddress `json:"cc" nullable:"false"`
	Bcc     []MessageAddress `json:"bcc" nullable:"false"`
	ReplyTo []MessageAddress `json:"replyTo" nullable:"false"`
}

// MessageAddress is an address in the header.
type MessageAddress struct {
	ID      string  `json:"id" example:"rcp_to_1"`
	Kind    string  `json:"kind" enum:"to,cc,bcc,replyTo"`
	Name    *string `json:"name" example:"Ada Lovelace"`
	Address string  `json:"address" doc:"Empty where the header has none." example:"ada@example.com"`
}

// MessageAttachment is an attachment of a message.
type MessageAttachment struct {
	ID          string             `json:"id" example:"att_1"`
	Filename    *string            `json:"filename" example:"invoice.pdf"`
	ContentType string             `json:"contentType" example:"application/pdf"`
	SizeBytes   int64              `json:"sizeBytes" example:"20480"`
	ContentID   *string            `json:"contentId" example:"logo@example.com"`
	Disposition rfc822.Disposition `json:"disposition" enum:"attachment,inline,unknown"`
}

// attachmentPrefix begins the ids of attachments, which are unique in a message.
const attachmentPrefix = "att_"

func (h *messageHandlers) getMessage(ctx context.Context, in *MessagePath) (*api.Out[messageOutputBody], error) {
	m, err := h.findMessage(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	parsed, err := h.parseStored(ctx, m)
	if err != nil {
		return nil, err
	}
	return api.AnswerWith(messageOutputBody{Message: formatMessage(m, parsed)}, nil)
}

// parseStored parses a stored message. Only some are parsed at once.
func (h *messageHandlers) parseStored(ctx context.Context, m message.Stored) (*rfc822.Parsed, error) {
	if err := h.parsing.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer h.parsing.Release(1)
	return rfc822.Parse(h.messages.OpenRaw(ctx, m))
}

// formatMessage returns a message with its parts.
func formatMessage(m message.Stored, p *rfc822.Parsed) Message {
	out := Message{
		MessageItem: formatMessageItem(m.Summary), EnvelopeFrom: optionalText(m.EnvelopeFrom), EnvelopeTo: m.EnvelopeTo,
		MessageID:  optionalText(m.MessageID),
		DateHeader: api.OptionalTime(m.SentAt), HTML: optionalText(p.HTML), Text: optionalText(p.Text), TextTruncated: p.TextTruncated,
		Headers: append([]rfc822.Header{}, p.Headers...), Attachments: []MessageAttachment{}, Calendar: append([]rfc822.Event{}, p.Events...),
		RawDownloadPath: "/api/messages/" + m.ID + "/raw",
		Recipients: MessageRecipients{To: formatAddresses("to", p.To), Cc: formatAddresses("cc", p.Cc), Bcc: formatAddresses("bcc", p.Bcc),
			ReplyTo: formatAddresses("replyTo", p.ReplyTo)},
		Via: m.Via, Client: optionalText(m.Client), TLS: optionalText(m.TLS),
	}
	out.Codes, out.Links = formatCandidates(code.FindIn(p)), findLinks(p)
	for _, a := range p.Attachments {
		out.Attachments = append(out.Attachments, MessageAttachment{
			attachmentPrefix + strconv.Itoa(a.Number), optionalText(a.Filename), a.ContentType, a.Size, optionalText(a.ContentID), a.Disposition,
		})
	}
	out.Authentication.Of = decodeAuthentication(m)
	return out
}

// formatAddresses returns the addresses of one kind.
func formatAddresses(kind string, all []rfc822.Address) []MessageAddress {
	out := make([]MessageAddress, len(all))
	for i, a := range all {
		out[i] = MessageAddress{"rcp_" + kind + "_" + strconv.Itoa(i+1), kind, optionalText(a.Name), a.Address}
	}
	return out
}
