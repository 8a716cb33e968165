package telegram

import (
	"html"
	"net/url"
	"strings"
	"unicode/utf16"

	"github.com/patchbay-dev/patchbay/plugins/internal/texts"
	"github.com/patchbay-dev/patchbay/sdk/notify"
)

// Bounds of the Bot API, in UTF-16 code units after the markup is taken away, and what we keep to.
const (
	maxText    = 4096
	maxCaption = 1024
	// shortCaption is the length of a caption that has to be shortened; its title has at most maxTitle.
	shortCaption = 900
	maxTitle     = 160
	// minSummary is the least of a summary that is worth its place.
	minSummary = 24
	// reserve is the room for the mark that a text was cut.
	reserve   = 32
	truncated = "… [truncated]"
	ellipsis  = "…"
	// maxMarkup bounds the HTML itself, in bytes.
	maxMarkup = 32 << 10
)

// countUnits returns the length of plain text as the Bot API counts it.
func countUnits(s string) (n int) {
	for _, r := range s {
		n += max(utf16.RuneLen(r), 1)
	}
	return n
}

// visibleUnits returns the length of HTML of ours once it is parsed.
func visibleUnits(markup string) (n int) {
	for markup != "" {
		before, rest, found := strings.Cut(markup, "<")
		n += countUnits(html.UnescapeString(before))
		if !found {
			break
		}
		_, markup, _ = strings.Cut(rest, ">")
	}
	return n
}

// cutText shortens plain text to at most limit units, the mark included, between two characters.
func cutText(s string, limit int, mark string) string {
	if countUnits(s) <= limit {
		return s
	}
	room, end := limit-countUnits(mark), 0
	for i, r := range s {
		if room -= max(utf16.RuneLen(r), 1); room < 0 {
			break
		}
		end = i + len(string(r))
	}
	return strings.TrimRight(s[:min(end, len(s))], " \n\t\u200d\ufe0f") + mark
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

func escapeHTML(s string) string { return escaper.Replace(strings.ToValidUTF8(s, "\ufffd")) }

// toHTML returns a text in the HTML that the API understands.
func toHTML(t notify.Text) string {
	if t.HTML != "" {
		if out := sanitizeHTML(t.HTML); visibleUnits(out) > 0 {
			return out
		}
	}
	return escapeHTML(strings.TrimSpace(t.Plain))
}

// linkHTML returns a link in HTML. An address that is not absolute is shown as code, since it cannot be clicked.
func linkHTML(l notify.Link) string {
	label := escapeHTML(linkLabel(l))
	if !isAbsolute(l.URL) {
		return label + ": <code>" + escapeHTML(l.URL) + "</code>"
	}
	return `<a href="` + escapeHTML(l.URL) + `">` + label + "</a>"
}

func linkLabel(l notify.Link) string {
	if label := strings.Join(strings.Fields(l.Label), " "); label != "" {
		return label
	}
	return l.URL
}

func isAbsolute(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// body is what goes into one text.
type body struct {
	title, summary, detail notify.Text
	links                  []notify.Link
}

func (b body) toHTML() string {
	var parts []string
	if b.title.Plain != "" {
		parts = append(parts, "<b>"+escapeHTML(texts.OneLine(b.title.Plain))+"</b>")
	}
	for _, t := range []notify.Text{b.summary, b.detail} {
		if s := toHTML(t); s != "" {
			parts = append(parts, s)
		}
	}
	var lines []string
	for _, l := range b.links {
		lines = append(lines, linkHTML(l))
	}
	return joinParts(parts, lines)
}

func (b body) toPlainText() string {
	var parts []string
	for _, s := range []string{texts.OneLine(b.title.Plain), b.summary.Plain, b.detail.Plain} {
		if s = strings.TrimSpace(strings.ToValidUTF8(s, "\ufffd")); s != "" {
			parts = append(parts, s)
		}
	}
	var lines []string
	for _, l := range b.links {
		if label := linkLabel(l); label != l.URL {
			lines = append(lines, label+": "+l.URL)
			continue
		}
		lines = append(lines, l.URL)
	}
	return joinParts(parts, lines)
}

func joinParts(parts, lines []string) string {
	if len(lines) > 0 {
		parts = append(parts, strings.Join(lines, "\n"))
	}
	return strings.Join(parts, "\n\n")
}

// caption is what stands below a photo. links is how many links of the notification it holds, 0 or 1.
type caption struct {
	html  string
	parts []notify.Part
	links int
	cut   bool
}

// makeCaption writes title, summary and the first link, and shortens them if they are too long.
func makeCaption(n *notify.Notification) caption {
	first := n.Links[:min(1, len(n.Links))]
	full := body{title: n.Title, summary: n.Summary, links: first}
	if markup := full.toHTML(); visibleUnits(markup) <= maxCaption {
		return newCaption(full, len(first), false)
	}
	title, summary := cutText(texts.OneLine(n.Title.Plain), maxTitle, ellipsis), strings.TrimSpace(n.Summary.Plain)
	room := shortCaption - countUnits(title)
	if len(first) > 0 {
		if used := visibleUnits(linkHTML(first[0])) + len("\n\n"); used <= room {
			room -= used
		} else {
			first = nil
		}
	}
	if room -= len("\n\n"); room < minSummary {
		summary = ""
	}
	short := body{title: notify.Text{Plain: title}, links: first}
	if summary != "" {
		short.summary.Plain = cutText(summary, room, ellipsis)
	}
	return newCaption(short, len(first), true)
}

func newCaption(b body, links int, shortened bool) caption {
	n := &notify.Notification{Summary: b.summary, Links: b.links}
	return caption{html: b.toHTML(), parts: n.TextParts(), links: links, cut: shortened}
}
