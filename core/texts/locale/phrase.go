package locale

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/nicksnyder/go-i18n/v2/i18n"
	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
)

// inText finds the parameters of a text.
var inText = regexp.MustCompile(`\{\{\.([A-Za-z0-9]+)\}\}`)

// Phrase is a text cut at its parameters: a page has hundreds of texts, which are too many to run templates for.
type Phrase struct {
	// Pieces are what stands before, between and behind the parameters: one more than Names.
	Pieces []string
	// Names are those of the parameters, in the order of the text.
	Names []string
}

// cutPhrase cuts a text. It refuses one with braces that are no parameter such as {{.Name}}.
func cutPhrase(text string) (Phrase, error) {
	var p Phrase
	end := 0
	for _, at := range inText.FindAllStringSubmatchIndex(text, -1) {
		p.Pieces, p.Names = append(p.Pieces, text[end:at[0]]), append(p.Names, text[at[2]:at[3]])
		end = at[1]
	}
	p.Pieces = append(p.Pieces, text[end:])
	for _, piece := range p.Pieces {
		if strings.Contains(piece, "{{") || strings.Contains(piece, "}}") {
			return p, fmt.Errorf("a parameter is not written {{.Name}} in %q", text)
		}
	}
	return p, nil
}

// fillParameters returns the text with the values of its parameters: args are names and values in turn. A parameter without a value
// stands as it is written.
func (p Phrase) fillParameters(args []any) string {
	if len(p.Names) == 0 {
		return p.Pieces[0]
	}
	var b strings.Builder
	for i, name := range p.Names {
		b.WriteString(p.Pieces[i])
		b.WriteString(argumentText(args, name))
	}
	b.WriteString(p.Pieces[len(p.Names)])
	return b.String()
}

// argumentText returns the value of a name as a text.
func argumentText(args []any, name string) string {
	for i := 0; i+1 < len(args); i += 2 {
		if args[i] != name {
			continue
		}
		if text, ok := args[i+1].(string); ok {
			return text
		}
		return fmt.Sprint(args[i+1])
	}
	return "{{." + name + "}}"
}

// phrases are the plural forms of a text in a language.
type phrases struct {
	// one is nil where the text has one form only.
	one   *Phrase
	other Phrase
}

// cutPhrases cuts the forms of a text. It refuses a form that no language here has.
func cutPhrases(m *i18n.Message) (out phrases, err error) {
	if m.Zero != "" || m.Two != "" || m.Few != "" || m.Many != "" {
		return out, fmt.Errorf("the text %q has a form other than one and other", m.ID)
	}
	if out.other, err = cutPhrase(m.Other); err != nil {
		return out, fmt.Errorf("the text %q: %w", m.ID, err)
	}
	if m.One == "" {
		return out, nil
	}
	one, err := cutPhrase(m.One)
	if err != nil {
		return out, fmt.Errorf("the text %q: %w", m.ID, err)
	}
	out.one = &one
	return out, nil
}

// choosePlural returns the form for a count in a language.
func (p phrases) choosePlural(tag language.Tag, count int) Phrase {
	if p.one != nil && plural.Cardinal.MatchPlural(tag, max(count, -count), 0, 0, 0, 0) == plural.One {
		return *p.one
	}
	return p.other
}
