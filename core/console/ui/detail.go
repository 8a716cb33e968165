package ui

import (
	"regexp"
	"slices"
	"strings"

	"github.com/patchbay-dev/patchbay/core/texts/locale"
)

// detailPrefix begins the ids of the sentences that services write in English, with parameters for what varies in them.
const detailPrefix = "detail."

// detail is such a sentence.
type detail struct {
	id      string
	pattern *regexp.Regexp
	// fixed is how many characters do not vary, and longest is the longest piece of them.
	fixed   int
	longest string
}

// newDetail returns the sentence of an English text.
func newDetail(id string, p locale.Phrase) detail {
	d := detail{id: id}
	var b strings.Builder
	add := func(piece string) {
		b.WriteString(regexp.QuoteMeta(piece))
		if d.fixed += len(piece); len(piece) > len(d.longest) {
			d.longest = piece
		}
	}
	for i, name := range p.Names {
		add(p.Pieces[i])
		b.WriteString("(?P<" + name + ">.+?)")
	}
	tail := p.Pieces[len(p.Names)]
	add(tail)
	if tail != "" && !strings.HasSuffix(tail, ".") {
		// A clause may be a sentence by itself.
		b.WriteString(`\.?`)
	}
	d.pattern = regexp.MustCompile("(?s)^" + b.String() + "$")
	return d
}

// sortDetails puts the sentences in the order in which they are tried: a text that fits two is the one with less that varies.
func sortDetails(all []detail) {
	slices.SortFunc(all, func(a, b detail) int {
		if a.fixed != b.fixed {
			return b.fixed - a.fixed
		}
		return strings.Compare(a.id, b.id)
	})
}

// maxDetailDepth is how deep sentences may stand in sentences.
const maxDetailDepth = 4

// translateDetail returns the text of a sentence in a language. It reports false if the sentence is not one of ours.
func (t *Texts) translateDetail(lang, text string, depth int) (string, bool) {
	for _, d := range t.details {
		// Most sentences are told apart by this, at a fraction of the cost: a log has hundreds of lines.
		if !strings.Contains(text, d.longest) {
			continue
		}
		found := d.pattern.FindStringSubmatch(text)
		if found == nil {
			continue
		}
		var args []any
		for i, name := range d.pattern.SubexpNames() {
			if name == "" {
				continue
			}
			value := found[i]
			if depth < maxDetailDepth {
				value, _ = t.translateDetail(lang, value, depth+1)
			}
			args = append(args, name, value)
		}
		return t.Text(lang, d.id, args...), true
	}
	return text, false
}

// Detail returns a sentence that a service wrote in English in a language. It reports false, with the text as it is, for one that is
// not ours, such as the words of an upstream.
func (t *Texts) Detail(lang, text string) (string, bool) {
	if lang == English || text == "" {
		return text, true
	}
	return t.translateDetail(lang, text, 1)
}

// DetailText returns a sentence in the language of the page, as Detail does.
func (v *View) DetailText(text string) (string, bool) { return v.kit.cfg.Texts.Detail(v.Lang, text) }
