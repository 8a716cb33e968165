package telegram

import (
	"context"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/notify"
)

type channel struct {
	cfg  Config
	host string
	http *httpx.Client
	now  func() time.Time
	log  hclog.Logger
}

// Send implements notify.Channel.
func (c *channel) Send(ctx context.Context, n *notify.Notification, target notify.Target) (*notify.Receipt, error) {
	to, diags := c.readRecipient(target)
	if diags.HasErrors() {
		return nil, errs.BadInput("INVALID_TARGET", "%v", diags.Err())
	}
	s := &sending{channel: c, n: n, to: to, receipt: &notify.Receipt{}}
	if len(n.Image) == 0 {
		return s.sendText(ctx)
	}
	return s.sendPhotoAndDetail(ctx)
}

// Close lets idle connections go.
func (c *channel) Close() error { return c.http.Close() }

// sending is one notification on its way.
type sending struct {
	*channel
	n       *notify.Notification
	to      recipient
	receipt *notify.Receipt
}

func (s *sending) addFailure(what string, err error) {
	s.receipt.Warnings = append(s.receipt.Warnings, what+": "+shortReason(err))
	s.log.Warn("cannot send part of a notification", "id", s.n.ID, "part", what, "error", shortReason(err))
}

func (s *sending) addWarning(warning string) {
	s.receipt.Warnings = append(s.receipt.Warnings, warning)
}

// sendPhotoAndDetail sends the photo and then the detail. If the photo cannot be sent, a text stands for both.
func (s *sending) sendPhotoAndDetail(ctx context.Context) (*notify.Receipt, error) {
	caption := makeCaption(s.n)
	id, fail := s.sendPhoto(ctx, s.to, s.n.Image, caption.html)
	switch {
	case fail != nil && fail.final:
		return nil, fail.err
	case fail != nil:
		s.addFailure("photo", fail)
		receipt, err := s.sendText(ctx)
		if err != nil && notify.OutcomeOf(fail.err) == notify.Uncertain && notify.OutcomeOf(err) == notify.Retryable {
			return nil, notify.Unknown("%s; whether the photo arrived before is not known", shortReason(err))
		}
		return receipt, err
	}
	s.receipt.MessageIDs = []string{id}
	s.receipt.Delivered = append(caption.parts, notify.PartImage)
	if caption.cut {
		s.addWarning("the caption was shortened")
	}
	s.sendDetail(ctx, s.n.Links[caption.links:])
	return s.receipt, nil
}

// sendDetail sends what stands below a photo. The photo has arrived: a failure is a warning, for a repetition would send the
// photo again.
func (s *sending) sendDetail(ctx context.Context, links []notify.Link) {
	if s.n.Detail.Plain == "" && s.n.Detail.HTML == "" {
		if len(links) > 0 {
			s.addWarning("there is no detail, and only the first link was sent")
		}
		return
	}
	id, fail := s.sendHTMLOrPlain(ctx, body{detail: s.n.Detail, links: links})
	if fail != nil {
		s.addFailure("detail", fail)
		return
	}
	s.receipt.MessageIDs = append(s.receipt.MessageIDs, id)
	s.receipt.Delivered = append(s.receipt.Delivered, notify.PartDetail)
	if len(s.n.Links) > 0 && len(links) == len(s.n.Links) {
		s.receipt.Delivered = append(s.receipt.Delivered, notify.PartLinks)
	}
}

// sendText sends everything as one text.
func (s *sending) sendText(ctx context.Context) (*notify.Receipt, error) {
	id, fail := s.sendHTMLOrPlain(ctx, body{title: s.n.Title, summary: s.n.Summary, detail: s.n.Detail, links: s.n.Links})
	if fail != nil {
		return nil, fail.err
	}
	s.receipt.MessageIDs = []string{id}
	s.receipt.Delivered = s.n.TextParts()
	return s.receipt, nil
}

// sendHTMLOrPlain sends HTML, or plain text where HTML is too long or not understood.
func (s *sending) sendHTMLOrPlain(ctx context.Context, b body) (string, *failure) {
	if markup := b.toHTML(); visibleUnits(markup) <= maxText && len(markup) <= maxMarkup {
		id, fail := s.sendMessage(ctx, s.to, markup, "HTML")
		if fail == nil || !fail.markup {
			return id, fail
		}
		s.addWarning("the text was sent without formatting: " + shortReason(fail))
	} else {
		s.addWarning("the text is too long for formatting")
	}
	plain := b.toPlainText()
	if countUnits(plain) > maxText-reserve {
		plain = cutText(plain, maxText-reserve, truncated)
		s.addWarning("the text was shortened")
	}
	return s.sendMessage(ctx, s.to, plain, "")
}
