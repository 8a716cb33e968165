package message

import (
	"slices"
	"strings"

	"github.com/patchbay-dev/patchbay/core/services/mail/rfc822"
	"github.com/patchbay-dev/patchbay/core/texts/words"
)

// document is what the index has of a message, by part.
type document struct {
	subject, sender, recipient, body []string
}

// newDocument returns the words of a message.
func newDocument(p *rfc822.Parsed, bodyText string) document {
	var recipients strings.Builder
	for _, list := range [][]rfc822.Address{p.To, p.Cc} {
		for _, a := range list {
			recipients.WriteString(a.Name + " " + a.Address + " ")
		}
	}
	var body strings.Builder
	body.WriteString(bodyText)
	for _, a := range p.Attachments {
		body.WriteString("\n" + a.Filename)
	}
	return document{
		subject: words.ListWords(p.Subject), sender: words.ListWords(p.From.Name + " " + p.From.Address),
		recipient: words.ListWords(recipients.String()), body: words.ListWords(body.String()),
	}
}

// The markers of documents, by which a search finds them without a look at their messages.
const (
	markerCode       = "code"
	markerAttachment = "attachment"
)

// documentFor returns what the index has of the message in the mailbox of an address.
func (in *Incoming) documentFor(address string) document {
	d := in.words
	d.recipient = append(words.ListWords(address), d.recipient...)
	d.body = slices.Clip(d.body)
	if in.Message.Code != "" {
		d.body = append(d.body, words.FormatMarker(markerCode))
	}
	if in.Message.Attachments > 0 {
		d.body = append(d.body, words.FormatMarker(markerAttachment))
	}
	return d
}

// sections returns the words by the parts of the index.
func (d document) sections() []words.Section {
	return []words.Section{{Weight: 'A', Words: d.subject}, {Weight: 'B', Words: d.sender}, {Weight: 'C', Words: d.recipient},
		{Weight: 'D', Words: d.body}}
}
