package notify

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/patchbay-dev/patchbay/core/notify/card"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

// shortener returns a payload of at most max bytes that is still valid.
type shortener func(payload json.RawMessage, max int64) (json.RawMessage, error)

// shortenerFor returns what shortens the payload of a message. That of an alert cannot be shortened.
func (s *Sender) shortenerFor(m *message) shortener {
	if o := s.owners[m.Service]; o != nil && m.Schema != "" {
		return o.ShortenPayload
	}
	return keepWhole
}

// keepWhole is the shortener of payloads that cannot be shortened.
func keepWhole(json.RawMessage, int64) (json.RawMessage, error) {
	return nil, errors.New("the payload cannot be shortened")
}

// fitToChannel removes what the channel cannot carry from a notification, and draws the card if the channel shows
// images. The warnings say what was shortened or left out.
func fitToChannel(n *sdk.Notification, c *card.Card, about *sdk.Descriptor, shorten shortener) (warnings []string) {
	if about.Has(sdk.CapImage) && c != nil {
		png, err := card.Draw(*c)
		if err != nil {
			warnings = append(warnings, fmt.Sprintf("the card could not be drawn: %v", err))
		}
		n.Image = png
	}
	for _, t := range []*sdk.Text{&n.Title, &n.Summary, &n.Detail} {
		if !about.Has(sdk.CapMarkdown) {
			t.Markdown = ""
		}
		if !about.Has(sdk.CapHTML) {
			t.HTML = ""
		}
	}
	if most := about.MaxTextBytes; most > 0 && textBytes(n) > int(most) {
		shortenTexts(n, int(most))
		warnings = append(warnings, fmt.Sprintf("the text was shortened to the channel's %d bytes", most))
	}
	if most := about.MaxPayloadBytes; most > 0 && len(n.Payload) > int(most) {
		short, err := shorten(n.Payload, most)
		if err != nil {
			short, warnings = nil, append(warnings, "the payload was left out: it is too long for the channel")
		}
		n.Payload = short
	}
	return warnings
}

// textBytes returns the length of the longest rendering, in bytes.
func textBytes(n *sdk.Notification) int {
	sum := func(of func(sdk.Text) string) (total int) {
		for _, t := range []sdk.Text{n.Title, n.Summary, n.Detail} {
			if text := of(t); text != "" {
				total += len(text)
			} else {
				total += len(t.Plain)
			}
		}
		return total
	}
	return max(sum(func(t sdk.Text) string { return t.Plain }), sum(func(t sdk.Text) string { return t.Markdown }),
		sum(func(t sdk.Text) string { return t.HTML }))
}

// shortenTexts removes the other renderings, since markup cannot be cut anywhere, and cuts the plain texts to most
// bytes together: the detail first, the title last.
func shortenTexts(n *sdk.Notification, most int) {
	for _, t := range []*sdk.Text{&n.Title, &n.Summary, &n.Detail} {
		*t = sdk.Text{Plain: t.Plain}
	}
	for _, t := range []*sdk.Text{&n.Detail, &n.Summary, &n.Title} {
		if over := textBytes(n) - most; over > 0 {
			t.Plain = truncateText(t.Plain, len(t.Plain)-over)
		}
	}
	if n.Title.Plain == "" { // never empty, however little a channel takes
		n.Title.Plain = ellipsis
	}
}

const ellipsis = "…"

// truncateText returns the beginning of s, at most n bytes with the ellipsis.
func truncateText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	if n -= len(ellipsis); n <= 0 {
		return ""
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + ellipsis
}
