package shoutrrr

import (
	"strings"

	"github.com/patchbay-dev/patchbay/plugins/internal/texts"
	"github.com/patchbay-dev/patchbay/sdk/notify"
)

// maxTitle is the longest title of its own, in bytes: Pushover takes 250 characters, Discord 256.
const maxTitle = 250

// message is what one service gets.
type message struct {
	title, text string
	parts       []notify.Part
	cut         bool
}

// composeMessage writes the text for a service: links are left out before the detail is shortened.
func composeMessage(n *notify.Notification, r *receiver) message {
	m := message{title: n.Title.Plain, parts: []notify.Part{notify.PartTitle}}
	if r.titled && len(m.title) > maxTitle {
		m.title, m.cut = shortenText(m.title, maxTitle), true
	}
	var blocks []string
	add := func(part notify.Part, text string) {
		if text == "" {
			return
		}
		blocks = append(blocks, text)
		if part != notify.PartTitle {
			m.parts = append(m.parts, part)
		}
	}
	if !r.titled {
		add(notify.PartTitle, n.Title.Plain)
	}
	add(notify.PartSummary, n.Summary.Plain)
	add(notify.PartDetail, n.Detail.Plain)
	room := r.limit
	if r.titled {
		room -= len(m.title)
	}
	m.text = strings.Join(blocks, "\n\n")
	if links := linkText(n.Links); links != "" {
		if len(m.text)+2+len(links) > room {
			m.cut = true
		} else {
			add(notify.PartLinks, links)
			m.text = strings.Join(blocks, "\n\n")
		}
	}
	if m.text == "" {
		// No service takes a message without a text.
		m.text = m.title
	}
	if len(m.text) > room {
		m.text, m.cut = shortenText(m.text, room), true
	}
	return m
}

func linkText(links []notify.Link) string {
	var lines []string
	for _, l := range links {
		lines = append(lines, strings.TrimPrefix(l.Label+": "+l.URL, ": "))
	}
	return strings.Join(lines, "\n")
}

// shortenText cuts between characters, and marks that.
func shortenText(full string, room int) string {
	return texts.Head(full, room-len(texts.Ellipsis)) + texts.Ellipsis
}
