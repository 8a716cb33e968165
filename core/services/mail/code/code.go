// Package code finds the verification codes of a message.
package code

import (
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
	// maxText is how much of each part is searched, in bytes.
	maxText = 256 << 10
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
func Find(subject, text, htmlText string) (found []Code) {
	subjectPart := newPart(subject, Subject, false)
	says := subjectPart.hasCodeWord
	for _, p := range []*part{subjectPart, newPart(text, Text, says), newPart(htmlText, HTML, says)} {
		found = p.addCodes(found)
	}
	slices.SortStableFunc(found, func(a, b Code) int {
		switch {
		case a.Confidence > b.Confidence:
			return -1
		case a.Confidence < b.Confidence:
			return 1
		}
		return 0
	})
	return found[:min(len(found), maxCodes)]
}

// Best returns the verification code among the candidates. It reports false where none is likely enough, or where several are equally likely.
func Best(found []Code) (Code, bool) {
	if len(found) == 0 || found[0].Confidence < Threshold {
		return Code{}, false
	}
	return found[0], len(found) == 1 || found[0].Confidence-found[1].Confidence >= lead
}

// FindBest returns the verification code of a message, that of its HTML if subject and text have none.
func FindBest(p *rfc822.Parsed) (Code, bool) {
	if best, ok := Best(Find(p.Subject, p.Text, "")); ok || p.HTML == "" {
		return best, ok
	}
	return Best(FindIn(p))
}

// FindIn is Find for a parsed message.
func FindIn(p *rfc822.Parsed) []Code {
	return Find(p.Subject, p.Text, rfc822.HTMLText(p.HTML, maxText))
}

// addCodes adds the candidates of a part. A value that was found before keeps its place, and the higher confidence.
func (p *part) addCodes(found []Code) []Code {
	for _, f := range p.forms {
		confidence := p.rate(f)
		if confidence < listed {
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
		found = append(found, Code{f.value, p.source, p.around(f.span), confidence})
	}
	return found
}

// isSame reports whether two codes differ in their hyphens alone.
func isSame(a, b string) bool {
	return a == b || strings.ReplaceAll(a, "-", "") == strings.ReplaceAll(b, "-", "")
}

// around returns the text around a place as one line.
func (p *part) around(s span) string {
	text := p.text[max(0, s.start-nearby):min(len(p.text), s.end+nearby)]
	return texts.OneLine(strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " "), 3*nearby)
}
