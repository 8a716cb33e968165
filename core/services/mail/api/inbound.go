package api

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/mail/address"
	"github.com/patchbay-dev/patchbay/core/services/mail/inbound"
	"github.com/patchbay-dev/patchbay/core/services/mail/mailbox"
	"github.com/patchbay-dev/patchbay/core/store"
)

// InboundResult says what became of a message for each of its recipients.
type InboundResult struct {
	Accepted []InboundDelivery `json:"accepted" nullable:"false"`
	// Rejected are the addresses without a mailbox.
	Rejected []string `json:"rejected" nullable:"false" doc:"Addresses without a mailbox: the sender is to be told."`
}

// InboundDelivery is a message in a mailbox.
type InboundDelivery struct {
	Address   string  `json:"address" example:"calm-otter42@example.com"`
	MailboxID string  `json:"mailboxId" example:"mbx_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
	MessageID *string `json:"messageId" doc:"A repeated delivery has the id of the first one; null if that did not reach this mailbox." example:"msg_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
}

// maxInboundRecipients is how many recipients one request may name.
const maxInboundRecipients = 100

// inboundHandlers takes mail in from mail workers.
type inboundHandlers struct {
	ingester   ingester
	recipients recipients
	settings   func() Settings
	spoolDir   string
	now        func() time.Time
}

// inboundAPI declares the endpoint for mail workers. limit is the size of the largest message.
func (h *inboundHandlers) inboundAPI(a *api.API, limit int64) {
	header := func(name, about string, required bool) *huma.Param {
		return &huma.Param{Name: name, In: "header", Description: about, Required: required, Schema: &huma.Schema{Type: huma.TypeString}}
	}
	text := func(about string) *huma.Response { return a.ErrorResponse(about) }
	a.Document(httpd.Route{Method: http.MethodPost, Path: "/api/inbound", Policy: httpd.Signature, BodyLimit: limit,
		Handler: h.takeInbound}, huma.Operation{
		OperationID: "inbound", Tags: []string{tagPublic}, Summary: "Take a message in from a mail worker",
		Description: "The body is the message as RFC 5322 has it. A delivery with the X-Patchbay-Delivery, the envelope and the bytes of one in the last 24 hours repeats it and stores nothing; without that header its signature is its name. Answers with 5xx ask for another try.",
		Parameters: []*huma.Param{
			header(inbound.HeaderTimestamp, "The time in Unix seconds, at most five minutes away.", true),
			header(inbound.HeaderContentSHA256, "The SHA-256 of the body, in hexadecimal digits.", true),
			header(inbound.HeaderSignature, "HMAC-SHA256 with inbound_secret, in hexadecimal digits, of four lines with \\n between them: the values of X-Patchbay-Timestamp, X-Patchbay-Envelope-From, X-Patchbay-Envelope-To and X-Patchbay-Content-SHA256.", true),
			header(inbound.HeaderEnvelopeTo, "The addresses of the recipients, with commas between them. One outside of ASCII, or with a space or comma in quotes, is an encoded word of RFC 2047: =?UTF-8?B?…?=.", true),
			header(inbound.HeaderEnvelopeFrom, "The address of the sender; none for a bounce. One outside of ASCII is an encoded word of RFC 2047.",
				false),
			header(inbound.HeaderDelivery, "A name of the delivery that stays the same when it is tried again: up to 200 visible ASCII characters.",
				false),
		},
		RequestBody: &huma.RequestBody{Required: true,
			Content: map[string]*huma.MediaType{"message/rfc822": {Schema: &huma.Schema{Type: huma.TypeString}}}},
		Responses: map[string]*huma.Response{
			"200": {Description: "It is stored.", Content: api.JSON(api.Schema[InboundResult](a))},
			"400": text("A header is missing or wrong"), "401": text("The signature is wrong"), "404": text("None of the recipients has a mailbox"),
			"413": text("The message is too large"), "503": text("The endpoint is switched off, or the message cannot be stored now"),
		},
	})
}

func (h *inboundHandlers) takeInbound(c *gin.Context) {
	out, err := h.storeInbound(c)
	if err != nil {
		httpd.WriteError(c, err)
		return
	}
	c.JSON(http.StatusOK, out)
}

// storeInbound checks a signed message and stores it.
func (h *inboundHandlers) storeInbound(c *gin.Context) (*InboundResult, error) {
	ctx, header := c.Request.Context(), c.Request.Header
	secret := h.settings().InboundSecret
	if secret == "" {
		return nil, fault.New(fault.NotReady, "Receiving mail over HTTP is off: set inbound_secret in service \"mail\".")
	}
	if err := inbound.CheckSignature(secret, header, h.now()); err != nil {
		return nil, err
	}
	httpd.SetAuthenticated(c)
	content, err := inbound.ReadSigned(header, c.Request.Body, h.spoolDir)
	if err != nil {
		return nil, explainInbound(err)
	}
	defer content.Close()
	env := inbound.Envelope{Via: inbound.ViaHTTP}
	if env.From, err = inbound.DecodeAddress(header.Get(inbound.HeaderEnvelopeFrom)); err != nil || len(env.From) > 320 ||
		strings.ContainsAny(env.From, "\r\n\x00") {
		return nil, fault.New(fault.InvalidArgument, "%s must hold one address.", inbound.HeaderEnvelopeFrom).With("field",
			inbound.HeaderEnvelopeFrom)
	}
	out := &InboundResult{Accepted: []InboundDelivery{}, Rejected: []string{}}
	if env.Recipients, out.Rejected, err = h.findRecipients(c, header.Get(inbound.HeaderEnvelopeTo)); err != nil {
		return nil, err
	}
	if env.DeliveryID, err = inbound.DeliveryID(header); err != nil {
		return nil, err
	}
	delivered, err := h.ingester.Ingest(ctx, env, content)
	if err != nil {
		return nil, explainInbound(err)
	}
	for _, d := range delivered {
		out.Accepted = append(out.Accepted, InboundDelivery{d.Address, d.MailboxID, optionalText(d.MessageID)})
	}
	return out, nil
}

// findRecipients finds the mailboxes for a list of addresses. It fails if there is none for any of them.
func (h *inboundHandlers) findRecipients(c *gin.Context, list string) (found []inbound.Recipient, unknown []string, err error) {
	unknown = []string{}
	addresses := strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
	if len(addresses) == 0 || len(addresses) > maxInboundRecipients {
		return nil, nil, fault.New(fault.InvalidArgument, "%s must hold from 1 to %d addresses.", inbound.HeaderEnvelopeTo,
			maxInboundRecipients).With("field", inbound.HeaderEnvelopeTo)
	}
	var refusal error
	for _, word := range addresses {
		named, err := inbound.DecodeAddress(word)
		if err != nil {
			return nil, nil, fault.New(fault.InvalidArgument, "%s has an encoded word that is not UTF-8 in base64.",
				inbound.HeaderEnvelopeTo).With("field", inbound.HeaderEnvelopeTo)
		}
		r, err := h.recipients.FindRecipient(c.Request.Context(), address.Normalise(named), inbound.CountPlanned(found))
		switch {
		case err == nil:
			found = inbound.AddRecipient(found, r)
		case fault.CodeOf(err) == mailbox.CodeUnknown || fault.CodeOf(err) == mailbox.CodeExpired:
			unknown, refusal = append(unknown, named), err
		default:
			return nil, nil, err
		}
	}
	if len(found) == 0 {
		return nil, nil, refusal
	}
	return found, unknown, nil
}

// explainInbound returns an error with the answer that tells a mail worker what to do.
func explainInbound(err error) error {
	var large *http.MaxBytesError
	var known *fault.Error
	switch {
	case errors.As(err, &large):
		return fault.New(fault.PayloadTooLarge, "The message is larger than %d bytes.", large.Limit).With("limit", large.Limit)
	case errors.As(err, &known):
		return err
	case store.IsDiskFull(err):
		return fault.Wrap(err, fault.InsufficientStorage, "There is no space left for the message: try again later.")
	}
	return fault.Wrap(err, fault.NotReady, "The message could not be stored: try again later.")
}
