package webpush

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/patchbay-dev/patchbay/plugins/internal/texts"
	"github.com/patchbay-dev/patchbay/sdk/notify"
)

// member is one of those that the service worker shows.
type member struct {
	name, value string
	part        notify.Part
}

// shownMembers returns what is shown of a notification. There is always a click target: the site itself, if nothing else.
func shownMembers(n *notify.Notification) []member {
	body, part := n.Summary.Plain, notify.PartSummary
	if body == "" {
		body, part = n.Detail.Plain, notify.PartDetail
	}
	out := []member{{"id", n.ID, 0}, {"title", n.Title.Plain, notify.PartTitle}, {"url", "/", 0}, {"body", body, part}}
	if len(n.Links) > 0 {
		out[2].value, out[2].part = n.Links[0].URL, notify.PartLinks
	}
	if body == "" {
		out = out[:3]
	}
	return out
}

// encodeContent returns the text of the message, and a receipt with the parts of the notification that are in it.
func encodeContent(n *notify.Notification) ([]byte, *notify.Receipt, error) {
	receipt := &notify.Receipt{}
	payload := bytes.TrimSpace(n.Payload)
	if len(payload) > 0 {
		if text, ok := addMissingMembers(payload, n, receipt); ok {
			return text, receipt, nil
		}
		receipt.Warnings = append(receipt.Warnings, fmt.Sprintf("the payload is left out: it is no object of at most %d bytes", maxText))
	}
	text, err := composeMessage(n, receipt)
	return text, receipt, err
}

// addMissingMembers adds the members that a payload lacks, as far as there is room. It leaves every byte of the payload as it is.
func addMissingMembers(payload []byte, n *notify.Notification, receipt *notify.Receipt) ([]byte, bool) {
	var has map[string]json.RawMessage
	if len(payload) > maxText || json.Unmarshal(payload, &has) != nil || has == nil {
		return nil, false
	}
	receipt.Delivered = []notify.Part{notify.PartPayload}
	var added []byte
	for _, m := range shownMembers(n) {
		if _, ok := has[m.name]; ok {
			continue
		}
		field, err := encodeMember(m)
		if err != nil || len(payload)+len(added)+len(field)+1 > maxText {
			receipt.Warnings = append(receipt.Warnings, fmt.Sprintf("there is no room for the member %s", m.name))
			continue
		}
		added = append(append(added, field...), ',')
		if m.part != 0 {
			receipt.Delivered = append(receipt.Delivered, m.part)
		}
	}
	if len(has) == 0 {
		added = bytes.TrimSuffix(added, []byte(","))
	}
	out := append([]byte("{"), added...)
	return append(out, payload[1:]...), true
}

func encodeMember(m member) ([]byte, error) {
	value, err := json.Marshal(m.value)
	return fmt.Appendf(nil, "%q:%s", m.name, value), err
}

// composeMessage makes a message of the texts, and shortens the longest where that is needed.
func composeMessage(n *notify.Notification, receipt *notify.Receipt) ([]byte, error) {
	all := shownMembers(n)
	for {
		fields := map[string]string{}
		for _, m := range all {
			fields[m.name] = m.value
		}
		text, err := json.Marshal(fields)
		if err != nil {
			return nil, fmt.Errorf("write the message: %w", err)
		}
		if len(text) <= maxText {
			receipt.Delivered = nil
			for _, m := range all {
				if m.part != 0 {
					receipt.Delivered = append(receipt.Delivered, m.part)
				}
			}
			return text, nil
		}
		shortenMembers(all, len(text)-maxText, receipt)
	}
}

// shortenMembers takes off at least some of what is too much. An address is not cut but dropped.
func shortenMembers(all []member, over int, receipt *notify.Receipt) {
	longest := 1
	for i := range all {
		if len(all[i].value) > len(all[longest].value) {
			longest = i
		}
	}
	m := &all[longest]
	if m.name == "url" {
		m.value, m.part = "/", 0
		receipt.Warnings = append(receipt.Warnings, "the link is left out: it is too long")
		return
	}
	// An escape may take six times its bytes: a little at a time never cuts too much.
	cut := texts.Head(m.value, max(len(m.value)-over, len(m.value)*3/4)-len(texts.Ellipsis)) + texts.Ellipsis
	if cut != m.value {
		receipt.Warnings = appendOnce(receipt.Warnings, fmt.Sprintf("the member %s is shortened", m.name))
	}
	m.value = cut
}

func appendOnce(all []string, text string) []string {
	for _, t := range all {
		if t == text {
			return all
		}
	}
	return append(all, text)
}
