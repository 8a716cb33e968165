package searchapi

import (
	"fmt"
	"strings"
)

// Document returns the tables of parameters in Markdown.
func Document() string {
	var b strings.Builder
	for _, op := range Operations() {
		fmt.Fprintf(&b, "\n### Parameters of `%s`\n\n| parameter | values | `tavily` | `local` | `searxng` |\n|---|---|---|---|---|\n", op)
		for _, p := range Parameters(op) {
			fmt.Fprintf(&b, "| %s | %s | passed on | %s | %s |\n", documentName(&p), p.Value, documentEffect(&p, Local), documentEffect(&p, SearXNG))
		}
	}
	return b.String()
}

func documentName(p *Parameter) string {
	name := "`" + p.Name + "`"
	if p.Required {
		name += " (required)"
	}
	return name
}

// documentEffect says what a backend does with a parameter, and with which values it does otherwise.
func documentEffect(p *Parameter, b Backend) string {
	effect := p.Effect(b)
	switch {
	case b == SearXNG && len(p.Unserved) > 0 && p.Value.kind == kindInteger:
		return fmt.Sprintf("%s; ignored from %s on", effect, p.Unserved[0])
	case b == SearXNG && len(p.Unserved) > 0:
		return fmt.Sprintf("%s; ignored: %s", effect, quoteWords(p.Unserved))
	case effect == Refused && len(p.Value.words) > 0:
		return fmt.Sprintf("%s, except %s", effect, quoteWords(p.Neutral))
	}
	return effect.String()
}
