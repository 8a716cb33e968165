package message

import (
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

// sentTo returns the document with the address of a recipient.
func (d document) sentTo(address string) document {
	d.recipient = append(words.ListWords(address), d.recipient...)
	return d
}

// sections returns the words by the parts of the index.
func (d document) sections() []words.Section {
	return []words.Section{{Weight: 'A', Words: d.subject}, {Weight: 'B', Words: d.sender}, {Weight: 'C', Words: d.recipient}, {Weight: 'D', Words: d.body}}
}
