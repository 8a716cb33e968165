package news

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/patchbay-dev/patchbay/core/notify/card"
)

// shownNames is how many services a card names where it does not give each a line.
const shownNames = 3

var unfit = regexp.MustCompile(`(?i)[a-z][a-z0-9+.-]*://\S*|https?:\S*|@?sha\d+:\S*|\b[0-9a-f]{32,}\b`)

// cardLabel is a stack and its service, neither so long that the other one does not show.
func cardLabel(s Service) string {
	stack, service := cut(fit(stackOf(s)), maxName/2-2), cut(fit(serviceOf(s)), maxName/2-2)
	if stack == "" {
		return service
	}
	return stack + " / " + service
}

// fit is a text for a card: without addresses and digests, and not longer than anybody would read.
func fit(s string) string { return cut(unfit.ReplaceAllString(name(s), ellipsis), maxName) }

func (w Writer) card(c card.Card, lines ...card.Line) *card.Card {
	c.Kind, c.Status, c.Subject = fit(c.Kind), capital(fit(c.Status)), fit(c.Subject)
	for _, l := range lines {
		if l = (card.Line{Label: fit(l.Label), Value: fit(l.Value)}); l.Label != "" && l.Value != "" && len(c.Lines) < card.MaxLines {
			c.Lines = append(c.Lines, l)
		}
	}
	c.Footer = w.Now.UTC().Format("2006-01-02 15:04 UTC")
	return &c
}

// capital writes the first letter big, where there is such a thing.
func capital(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}

func (w Writer) jobCard(e JobEvent, o outcome) *card.Card {
	all := e.services()
	c := card.Card{Kind: w.word("job.card.kind"), Status: w.jobStatus(e, o), Tone: o.tone, Subject: w.jobCardSubject(e)}
	var names, change string
	if len(all) == 1 {
		change = w.cardChange(all[0])
	}
	if len(all) > 1 {
		shown := all[:min(len(all), shownNames)]
		labels := make([]string, len(shown))
		for i, s := range shown {
			labels[i] = cut(cardLabel(s.Service), maxName/shownNames-2)
		}
		names = strings.Join(labels, w.word("enum"))
		if rest := len(all) - len(shown); rest > 0 {
			c.Omitted = w.count("card.more", rest)
		}
	}
	var took string
	if !e.StartedAt.IsZero() && e.FinishedAt.After(e.StartedAt) {
		took = w.duration(e.FinishedAt.Sub(e.StartedAt))
	}
	var ended string
	if !e.FinishedAt.IsZero() {
		ended = e.FinishedAt.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	return w.card(c,
		card.Line{Label: w.word("card.version"), Value: change},
		card.Line{Label: w.word("card.type"), Value: w.jobType(e)},
		card.Line{Label: w.word("card.duration"), Value: took},
		card.Line{Label: w.word("card.finished"), Value: ended},
		card.Line{Label: w.word("card.services"), Value: names})
}

func (w Writer) jobCardSubject(e JobEvent) string {
	all := e.services()
	switch len(all) {
	case 0:
		return w.word("job.card.none")
	case 1:
		return cardLabel(all[0].Service)
	}
	return w.count("services", len(all))
}

// jobType is the type of a job and its scope.
func (w Writer) jobType(e JobEvent) string {
	kind, scope := w.known("type.", e.Type), w.known("scope.", e.Scope)
	if kind == "" || scope == "" {
		return kind + scope
	}
	return w.word("card.scoped", "type", kind, "scope", scope)
}

func (w Writer) versionsCard(e NewVersionsEvent) *card.Card {
	c := card.Card{Kind: w.word("version.card.kind"), Status: w.word("version.card.status"), Tone: card.Info}
	checked := card.Line{Label: w.word("card.checked"), Value: w.count("services", max(e.ServicesChecked, len(e.Services)))}
	if len(e.Services) == 1 {
		v := e.Services[0]
		c.Subject = cardLabel(v.Service)
		return w.card(c, card.Line{Label: w.word("card.version"), Value: w.cardChange(v)}, checked)
	}
	c.Subject = w.count("services", len(e.Services))
	var lines []card.Line
	for _, v := range e.Services[:min(len(e.Services), card.MaxLines)] {
		lines = append(lines, card.Line{Label: cardLabel(v.Service), Value: firstOf(w.cardChange(v), w.word("version.card.status"))})
	}
	if rest := len(e.Services) - len(lines); rest > 0 {
		c.Omitted = w.count("card.more", rest)
	}
	return w.card(c, lines...)
}

func (w Writer) cardChange(v VersionChange) string {
	current, candidate, ok := v.change()
	if !ok {
		return ""
	}
	return w.word("version.card.change", "current", cut(fit(current), maxName/2-2), "candidate", cut(fit(candidate), maxName/2-2))
}

func (w Writer) anomalyCard(e AnomalyEvent) *card.Card {
	c := card.Card{
		Kind: w.word("anomaly.card.kind"), Status: w.word("anomaly.card.status"), Tone: card.Warning, Subject: w.count("repos", e.total()),
	}
	lines := []card.Line{{Label: w.word("card.counts"), Value: w.word("anomaly.counts",
		"missing", strconv.Itoa(max(e.Missing, 0)), "conflict", strconv.Itoa(max(e.Conflict, 0)), "error", strconv.Itoa(max(e.Error, 0)))}}
	shown := e.Repos[:min(len(e.Repos), card.MaxLines-1)]
	for _, r := range shown {
		lines = append(lines, card.Line{Label: repoOf(r), Value: w.known("state.", r.State)})
	}
	if rest := e.total() - len(shown); rest > 0 && len(shown) > 0 {
		c.Omitted = w.count("card.moreRepos", rest)
	}
	return w.card(c, lines...)
}

func (w Writer) testCard(channel string) *card.Card {
	return w.card(
		card.Card{Kind: w.word("test.title"), Status: w.word("test.card.status"), Tone: card.Info, Subject: w.word("test.message")},
		card.Line{Label: w.word("card.channel"), Value: firstOf(channel, w.word("test.all"))},
		card.Line{Label: w.word("card.app"), Value: w.Version})
}
