// Package code finds the verification codes of a message.
package code

import (
	"cmp"
	"slices"
	"strings"

	"github.com/patchbay-dev/patchbay/core/services/mail/rfc822"
	"github.com/patchbay-dev/patchbay/core/texts"
)

// Source says in which part of a message a code stands.
type Source string

// The sources.
const (
	Subject Source = "subject"
	Text    Source = "text"
	HTML    Source = "html"
)

// The limits of the finder.
const (
	// minLength and maxLength bound the letters and digits of a code.
	minLength, maxLength = 4, 8
	// MaxText is how much of each part is searched, in bytes.
	MaxText = 256 << 10
	// maxForms is how many numbers and words of each part are looked at.
	maxForms = 8000
	// maxCodes is how many candidates of a message are returned.
	maxCodes = 20
	// nearby is how far from a code the words that are returned with it stand, in bytes.
	nearby = 60
	// Threshold is the confidence from which on the best candidate is the code, and lead by how much it must lead the next one.
	Threshold, lead = 0.6, 0.05
	// listed is the confidence from which on a candidate is returned.
	listed = 0.2
)

// Place returns "subject" or "body".
func (s Source) Place() string {
	if s == Subject {
		return "subject"
	}
	return "body"
}

// Code is a candidate for the verification code.
type Code struct {
	// Value has no spaces.
	Value  string
	Source Source
	// Around is the text around it, as one line.
	Around string
	// Confidence is from 0 to 1.
	Confidence float64
}

// Find returns the candidates for the verification code of a message, the most likely first. htmlText is the text of its HTML.
func Find(subject, text, htmlText string) []Code {
	found := findAll(subject, text, htmlText, listed)
	return found[:min(len(found), maxCodes)]
}

// findAll returns the candidates of at least the confidence least, the most likely first.
func findAll(subject, text, htmlText string, least float64) []Code {
	p := newPart(subject, Subject, false)
	found := p.addCodes(nil, least)
	for _, body := range []*part{newPart(text, Text, p.hasCodeWord), newPart(htmlText, HTML, p.hasCodeWord)} {
		found = body.addCodes(found, least)
	}
	slices.SortStableFunc(found, func(a, b Code) int { return cmp.Compare(b.Confidence, a.Confidence) })
	return found
}

// Best returns the verification code among the candidates. It reports false where none is likely enough, or where several are equally
// likely.
func Best(found []Code) (Code, bool) {
	if len(found) == 0 || found[0].Confidence < Threshold {
		return Code{}, false
	}
	return found[0], len(found) == 1 || found[0].Confidence-found[1].Confidence >= lead
}

// FindBest returns the verification code of a message. It is Best of Find, without the candidates that make no difference.
func FindBest(subject, text, htmlText string) (Code, bool) {
	return Best(findAll(subject, text, htmlText, Threshold-lead))
}

// FindIn is Find for a parsed message.
func FindIn(p *rfc822.Parsed) []Code {
	return Find(p.Subject, p.Text, rfc822.HTMLText(p.HTML, MaxText))
}

// addCodes adds the candidates of a part that have at least the confidence least. A value that was found before keeps its place, and the
// higher confidence.
func (p *part) addCodes(found []Code, least float64) []Code {
	for _, f := range p.forms {
		confidence := p.rateForm(f, least)
		if confidence < least {
			continue
		}
		i := slices.IndexFunc(found, func(c Code) bool { return isSame(c.Value, f.value) })
		if i >= 0 && found[i].Confidence >= confidence {
			continue
		}
		if i >= 0 {
			found[i].Confidence = confidence
			continue
		}
		if len(found) >= 10*maxCodes {
			// Of very many candidates the likely ones count.
			if confidence < Threshold {
				continue
			}
			found = slices.DeleteFunc(found, func(c Code) bool { return c.Confidence < Threshold })
			if len(found) >= 10*maxCodes {
				return found
			}
		}
		found = append(found, Code{f.value, p.source, p.textAround(f.span), confidence})
	}
	return found
}

// isSame reports whether two codes differ in their hyphens alone.
func isSame(a, b string) bool {
	return a == b || strings.ReplaceAll(a, "-", "") == strings.ReplaceAll(b, "-", "")
}

// textAround returns the text around a place as one line.
func (p *part) textAround(s span) string {
	text := p.text[max(0, s.start-nearby):min(len(p.text), s.end+nearby)]
	return texts.OneLine(strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " "), 3*nearby)
}
