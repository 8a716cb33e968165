package news

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/patchbay-dev/patchbay/core/lists"
	"github.com/patchbay-dev/patchbay/core/notify/card"
)

// shownNames is how many services a card names where it does not give each a line.
const shownNames = 3

var unfit = regexp.MustCompile(`(?i)[a-z][a-z0-9+.-]*://\S*|https?:\S*|@?sha\d+:\S*|\b[0-9a-f]{32,}\b`)

// cardLabel returns a stack and its service, neither so long that the other one does not show.
func cardLabel(s Service) string {
	stack, service := truncate(fitForCard(cleanStack(s)), maxName/2-2), truncate(fitForCard(cleanService(s)), maxName/2-2)
	if stack == "" {
		return service
	}
	return stack + " / " + service
}

// fitForCard returns a text for a card: without addresses and digests, and not longer than anybody would read.
func fitForCard(s string) string {
	return truncate(unfit.ReplaceAllString(cleanName(s), ellipsis), maxName)
}

func (w Writer) finishCard(c card.Card, lines ...card.Line) *card.Card {
	c.Kind, c.Status, c.Subject = fitForCard(c.Kind), capitalize(fitForCard(c.Status)), fitForCard(c.Subject)
	for _, l := range lines {
		if l = (card.Line{Label: fitForCard(l.Label), Value: fitForCard(l.Value)}); l.Label != "" && l.Value != "" &&
			len(c.Lines) < card.MaxLines {
			c.Lines = append(c.Lines, l)
		}
	}
	c.Footer = w.Now.UTC().Format("2006-01-02 15:04 UTC")
	return &c
}

// capitalize returns s with its first letter in upper case.
func capitalize(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}

func (w Writer) jobCard(e JobEvent, o outcome) *card.Card {
	all := e.subjectServices()
	c := card.Card{Kind: w.fillText("job.card.kind"), Status: w.jobStatus(e, o), Tone: o.tone, Subject: w.jobCardSubject(e)}
	var names, change string
	if len(all) == 1 {
		change = w.cardChange(all[0])
	}
	if len(all) > 1 {
		shown := all[:min(len(all), shownNames)]
		labels := lists.ConvertAll(shown, func(s VersionChange) string { return truncate(cardLabel(s.Service), maxName/shownNames-2) })
		names = strings.Join(labels, w.fillText("enum"))
		if rest := len(all) - len(shown); rest > 0 {
			c.Omitted = w.countText("card.more", rest)
		}
	}
	var took string
	if !e.StartedAt.IsZero() && e.FinishedAt.After(e.StartedAt) {
		took = w.formatDuration(e.FinishedAt.Sub(e.StartedAt))
	}
	var ended string
	if !e.FinishedAt.IsZero() {
		ended = e.FinishedAt.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	return w.finishCard(c,
		card.Line{Label: w.fillText("card.version"), Value: change},
		card.Line{Label: w.fillText("card.type"), Value: w.jobType(e)},
		card.Line{Label: w.fillText("card.duration"), Value: took},
		card.Line{Label: w.fillText("card.finished"), Value: ended},
		card.Line{Label: w.fillText("card.services"), Value: names})
}

func (w Writer) jobCardSubject(e JobEvent) string {
	all := e.subjectServices()
	switch len(all) {
	case 0:
		return w.fillText("job.card.none")
	case 1:
		return cardLabel(all[0].Service)
	}
	return w.countText("services", len(all))
}

// jobType returns the type of a job and its scope.
func (w Writer) jobType(e JobEvent) string {
	kind, scope := w.textOrWord("type.", e.Type), w.textOrWord("scope.", e.Scope)
	if kind == "" || scope == "" {
		return kind + scope
	}
	return w.fillText("card.scoped", "type", kind, "scope", scope)
}

func (w Writer) versionsCard(e NewVersionsEvent) *card.Card {
	c := card.Card{Kind: w.fillText("version.card.kind"), Status: w.fillText("version.card.status"), Tone: card.Info}
	checked := card.Line{Label: w.fillText("card.checked"), Value: w.countText("services", max(e.ServicesChecked, len(e.Services)))}
	if len(e.Services) == 1 {
		v := e.Services[0]
		c.Subject = cardLabel(v.Service)
		return w.finishCard(c, card.Line{Label: w.fillText("card.version"), Value: w.cardChange(v)}, checked)
	}
	c.Subject = w.countText("services", len(e.Services))
	var lines []card.Line
	for _, v := range e.Services[:min(len(e.Services), card.MaxLines)] {
		lines = append(lines, card.Line{Label: cardLabel(v.Service), Value: firstText(w.cardChange(v), w.fillText("version.card.status"))})
	}
	if rest := len(e.Services) - len(lines); rest > 0 {
		c.Omitted = w.countText("card.more", rest)
	}
	return w.finishCard(c, lines...)
}

func (w Writer) cardChange(v VersionChange) string {
	current, candidate, ok := v.readableChange()
	if !ok {
		return ""
	}
	return w.fillText("version.card.change", "current", truncate(fitForCard(current), maxName/2-2), "candidate",
		truncate(fitForCard(candidate), maxName/2-2))
}

func (w Writer) anomalyCard(e AnomalyEvent) *card.Card {
	c := card.Card{
		Kind: w.fillText("anomaly.card.kind"), Status: w.fillText("anomaly.card.status"), Tone: card.Warning,
		Subject: w.countText("repos", e.anomalyCount()),
	}
	lines := []card.Line{{Label: w.fillText("card.counts"), Value: w.fillText("anomaly.counts",
		"missing", strconv.Itoa(max(e.Missing, 0)), "conflict", strconv.Itoa(max(e.Conflict, 0)), "error", strconv.Itoa(max(e.Error, 0)))}}
	shown := e.Repos[:min(len(e.Repos), card.MaxLines-1)]
	for _, r := range shown {
		lines = append(lines, card.Line{Label: cleanRepo(r), Value: w.textOrWord("state.", r.State)})
	}
	if rest := e.anomalyCount() - len(shown); rest > 0 && len(shown) > 0 {
		c.Omitted = w.countText("card.moreRepos", rest)
	}
	return w.finishCard(c, lines...)
}

func (w Writer) testCard(channel string) *card.Card {
	return w.finishCard(
		card.Card{Kind: w.fillText("test.title"), Status: w.fillText("test.card.status"), Tone: card.Info, Subject: w.fillText("test.message")},
		card.Line{Label: w.fillText("card.channel"), Value: firstText(channel, w.fillText("test.all"))},
		card.Line{Label: w.fillText("card.app"), Value: w.Version})
}
