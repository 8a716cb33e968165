// Package link finds the links of a message, and guesses what they are for.
package link

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/patchbay-dev/patchbay/core/services/mail/rfc822"
	"github.com/patchbay-dev/patchbay/core/texts"
)

// Place says in which part of a message a link stands.
type Place string

// The places.
const (
	Text   Place = "text"
	HTML   Place = "html"
	Header Place = "header"
)

// The limits of the finder.
const (
	// maxLinks is how many links of a message are returned.
	maxLinks = 200
	// maxSeen is how many links of a message are looked at: many may have the same target.
	maxSeen = 1000
	// maxTarget is the length from which on a target is left out, in bytes.
	maxTarget = 4096
	// maxLabel is how much of a label is returned, in bytes.
	maxLabel = 200
	// maxTokens bounds the work for one HTML text.
	maxTokens = 200_000
)

// Link is a link of a message.
type Link struct {
	// Text is what names it: its label, or the words beside it.
	Text, Target string
	Place        Place
	// Guess is what it is for, "" if that is not known; Confidence is how sure that is, from 0 to 1.
	Guess      Guess
	Confidence float64
}

// Find returns the links to http, https and mailto addresses: those of the HTML, then those of the text and of List-Unsubscribe that are no
// repetition.
func Find(p *rfc822.Parsed) []Link {
	var l list
	l.addHTML(p.HTML)
	l.addText(p.Text)
	for _, h := range p.Headers {
		if strings.EqualFold(h.Key, "List-Unsubscribe") {
			l.addUnsubscribe(h.Value)
		}
	}
	return l.links
}

// list collects links.
type list struct {
	links []Link
	// numbers are the places of targets in links, and seen is how many links were looked at.
	numbers map[string]int
	seen    int
}

// isFull reports whether no more links are looked at.
func (l *list) isFull() bool { return l.seen >= maxSeen || len(l.links) >= maxLinks }

// addTarget adds a link with its label and the text before it. A target that is there already keeps its place; its guess becomes the
// surer one.
func (l *list) addTarget(place Place, target, label, before string) {
	l.seen++
	target = strings.TrimSpace(target)
	if !isTarget(target) {
		return
	}
	link := Link{Text: texts.OneLine(strings.Join(strings.Fields(label), " "), maxLabel), Target: target, Place: place}
	link.Guess, link.Confidence = guessPurpose(label, target, before)
	l.addLink(link)
}

func (l *list) addLink(link Link) {
	if n, ok := l.numbers[link.Target]; ok {
		if known := &l.links[n]; link.Confidence > known.Confidence {
			known.Guess, known.Confidence = link.Guess, link.Confidence
		}
		return
	}
	if len(l.links) >= maxLinks {
		return
	}
	if l.numbers == nil {
		l.numbers = map[string]int{}
	}
	l.numbers[link.Target] = len(l.links)
	l.links = append(l.links, link)
}

// addUnsubscribe adds the addresses of a field List-Unsubscribe.
func (l *list) addUnsubscribe(value string) {
	for part := range strings.SplitSeq(value, ",") {
		target := strings.Trim(strings.TrimSpace(part), "<>")
		if isTarget(target) {
			l.addLink(Link{Target: target, Place: Header, Guess: Unsubscribe, Confidence: 1})
		}
	}
}

// isTarget reports whether a link to an address is returned.
func isTarget(target string) bool {
	if len(target) > maxTarget || strings.ContainsAny(target, "\x00\r\n\t ") {
		return false
	}
	scheme, rest, ok := strings.Cut(target, ":")
	switch scheme = strings.ToLower(scheme); scheme {
	case "http", "https":
		return ok && len(rest) > len("//") && strings.HasPrefix(rest, "//")
	case "mailto":
		return ok && rest != ""
	}
	return false
}

// address matches an address in a text.
var address = regexp.MustCompile(`(?i)\b(?:https?://|mailto:)[^\s<>"\x{3000}-\x{303f}\x{ff00}-\x{ff20}]+`)

// addText adds the links of a text. What names one is the rest of its line, or the line before.
func (l *list) addText(text string) {
	last := ""
	for line := range strings.Lines(text) {
		for _, at := range address.FindAllStringIndex(line, maxLinks) {
			if l.isFull() {
				return
			}
			target := trimAddress(line[at[0]:at[1]])
			label := strings.TrimSpace(trimMarks(cutBefore(line[:at[0]], maxLabel)) + " " + trimMarks(cutAfter(line[at[0]+len(target):], maxLabel)))
			if label == "" || address.MatchString(label) {
				label = last
			}
			l.addTarget(Text, target, label, "")
		}
		if s := trimMarks(line); s != "" {
			last = cutBefore(s, maxLabel)
		}
	}
}

// cutBefore returns the last bytes of a text, and cutAfter the first ones.
func cutBefore(text string, n int) string { return text[max(0, len(text)-n):] }
func cutAfter(text string, n int) string  { return text[:min(len(text), n)] }

// trimMarks cuts spaces, brackets and marks off a text.
func trimMarks(text string) string {
	return strings.Trim(text, " \t\r\n<>()[]（）【】:：*-–|.,;。，、")
}

// trimAddress cuts what ends a sentence, a bracket or a mark of a style off an address.
func trimAddress(target string) string {
	// surplus are how many more brackets close than open.
	surplus := [len(closing)]int{}
	for i := range closing {
		surplus[i] = strings.Count(target, closing[i:i+1]) - strings.Count(target, opening[i:i+1])
	}
	for target != "" {
		last := target[len(target)-1]
		if i := strings.IndexByte(closing, last); i >= 0 && surplus[i] > 0 {
			surplus[i]--
		} else if strings.IndexByte(".,;:!?'*_|", last) < 0 {
			break
		}
		target = target[:len(target)-1]
	}
	return target
}

// opening and closing are the brackets, in the same order.
const opening, closing = "([{", ")]}"

// hidden are the elements of which nothing is shown.
var hidden = []atom.Atom{atom.Style, atom.Script, atom.Title, atom.Template, atom.Noscript, atom.Textarea, atom.Select}

// addHTML adds the links of an HTML text.
func (l *list) addHTML(source string) {
	z := html.NewTokenizer(strings.NewReader(source))
	z.SetMaxBuf(rfc822.MaxText)
	reader := htmlReader{list: l}
	for n := 0; n < maxTokens && !l.isFull(); n++ {
		switch z.Next() {
		case html.ErrorToken:
			reader.endLink()
			return
		case html.TextToken:
			reader.addText(string(z.Text()))
		case html.StartTagToken, html.SelfClosingTagToken:
			reader.openElement(z)
		case html.EndTagToken:
			name, _ := z.TagName()
			switch tag := atom.Lookup(name); {
			case tag == reader.hidden:
				reader.hidden = 0
			case tag == atom.A:
				reader.endLink()
			}
		}
	}
	reader.endLink()
}

// htmlReader is the state of reading an HTML text.
type htmlReader struct {
	list   *list
	hidden atom.Atom
	// target and label are those of the link that is open, and before the text in front of it.
	target, before string
	label          strings.Builder
	// shown is the end of the text so far.
	shown string
}

// maxBefore is how much of the text before a link is looked at, in bytes.
const maxBefore = 160

func (r *htmlReader) addText(text string) {
	if r.hidden != 0 {
		return
	}
	if r.target != "" && r.label.Len() < 2*maxLabel {
		r.label.WriteString(cutAfter(text, 2*maxLabel))
	}
	r.shown = cutBefore(r.shown+cutBefore(text, maxBefore), maxBefore)
}

// openElement reads a start tag.
func (r *htmlReader) openElement(z *html.Tokenizer) {
	name, hasAttributes := z.TagName()
	tag := atom.Lookup(name)
	if r.hidden == 0 && slices.Contains(hidden, tag) {
		r.hidden = tag
	}
	if r.hidden != 0 {
		return
	}
	var href, alt string
	for hasAttributes {
		var key, value []byte
		key, value, hasAttributes = z.TagAttr()
		switch string(key) {
		case "href":
			href = string(value)
		case "alt", "title", "aria-label":
			if alt == "" {
				alt = string(value)
			}
		}
	}
	switch {
	case tag == atom.A || tag == atom.Area:
		r.endLink()
		r.target, r.before = href, r.shown
		if tag == atom.Area {
			r.addText(alt)
			r.endLink()
		}
	case tag == atom.Img && r.target != "":
		r.addText(" " + alt + " ")
	}
}

// endLink adds the link that is open.
func (r *htmlReader) endLink() {
	if r.target != "" {
		r.list.addTarget(HTML, r.target, strings.ToValidUTF8(r.label.String(), ""), strings.ToValidUTF8(r.before, ""))
	}
	r.target = ""
	r.label.Reset()
}
