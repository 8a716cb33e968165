// Package echo is a translator without a language model: it marks each line with the target language. It is deterministic and
// needs no network, for trying out and for tests.
package echo

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/plugins/internal/texts"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	"github.com/patchbay-dev/patchbay/sdk/translator"
)

// Config is the config block of an instance.
type Config struct {
	Delay time.Duration `patchbay:"delay,default=0s" doc:"How long each call takes, to watch progress; at most 1m."`
}

// modelName is what the one model is called.
const modelName = "echo"

const maxDelay = time.Minute

// Plugin declares the plugin.
func Plugin() framework.Plugin {
	return framework.Plugin{
		Name:          "echo",
		Version:       "1.0.0",
		Summary:       "Marks texts with the target language instead of translating them.",
		Documentation: "For trying out and for tests: it needs no account, costs nothing, and gives the same answer to the same text.",
		Kinds:         []framework.Kind{translator.New(translator.Definition[Config]{Build: buildTranslator})},
	}
}

func buildTranslator(_ translator.Instance, cfg Config) (translator.Open, schema.Diagnostics) {
	if cfg.Delay < 0 || cfg.Delay > maxDelay {
		return nil, schema.Errorf(schema.At("delay"), "must be 0s to %s", maxDelay)
	}
	return func(context.Context) (translator.Translator, error) { return echo{delay: cfg.Delay}, nil }, nil
}

// echo implements translator.Translator.
type echo struct{ delay time.Duration }

// ListModels implements translator.Translator.
func (echo) ListModels(context.Context) ([]translator.Model, error) {
	return []translator.Model{{Name: modelName}}, nil
}

// Translate implements translator.Translator.
func (e echo) Translate(ctx context.Context, req translator.Request) (*translator.Answer, error) {
	began := time.Now()
	if err := errs.OfCall(ctx, httpx.Sleep(ctx, e.delay)); err != nil {
		return nil, err
	}
	answer := &translator.Answer{}
	if req.Task == translator.Summarize {
		summarizeParts(req, answer)
	} else {
		for _, p := range req.Parts {
			p.Text = markText(p.Text, req.TargetLanguage, p.Markdown)
			answer.Parts = append(answer.Parts, p)
		}
	}
	answer.Attempts = []translator.Attempt{{
		Model: modelName, Outcome: translator.OK, InputTokens: countTokens(req.Parts), OutputTokens: max(1, countTokens(answer.Parts)),
		Duration: time.Since(began),
	}}
	return answer, nil
}

func countTokens(parts []translator.Part) (n int64) {
	for _, p := range parts {
		n += translator.EstimateTokens(p.Text)
	}
	return n
}

var (
	// blockMarks are what begins a line before its text: indentation, quotes, headings, list items, task boxes and table cells.
	blockMarks = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:\s*(?:>|#{1,6}\s|[-*+]\s+(?:\[[ xX]\]\s+)?|\d{1,9}[.)]\s|\|))*\s*`)
	})
	// masks stand for what must not change.
	masks = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`⟦\d+⟧`) })
	// definition is a link reference definition.
	definition = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*\[[^\]]+\]:`) })
	listItem   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*[-*+]\s`) })
)

// markText marks every line of a text that has words. The structure of Markdown stays: code, HTML and definitions are left alone.
func markText(text, language string, markdown bool) string {
	if !markdown {
		return languageMark(language) + text
	}
	lines := strings.Split(text, "\n")
	fence := ""
	for i, line := range lines {
		switch trimmed := strings.TrimSpace(line); {
		case fence != "":
			if strings.HasPrefix(trimmed, fence) {
				fence = ""
			}
		case strings.HasPrefix(trimmed, "```"), strings.HasPrefix(trimmed, "~~~"):
			fence = trimmed[:3]
		case isIndentedCode(line), strings.HasPrefix(trimmed, "<"), definition().MatchString(line), !hasWords(line):
		default:
			at := len(blockMarks().FindString(line))
			lines[i] = line[:at] + languageMark(language) + line[at:]
		}
	}
	return strings.Join(lines, "\n")
}

// languageMark returns what a line of a language begins with.
func languageMark(language string) string { return "〔" + language + "〕 " }

func isIndentedCode(line string) bool {
	return (strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")) && !listItem().MatchString(line)
}

// hasWords reports whether there is a letter besides masks.
func hasWords(line string) bool {
	return strings.ContainsFunc(masks().ReplaceAllString(line, ""), unicode.IsLetter)
}

const (
	// maxItems is how many items a summary has, maxItem how many bytes each.
	maxItems, maxItem = 4, 160
	// fewWords is how many words a line needs to be worth telling.
	fewWords = 2
)

// summarizeParts answers with the first lines that say something.
func summarizeParts(req translator.Request, answer *translator.Answer) {
	var items []string
	for _, p := range req.Parts {
		if p.Name == translator.PartTitle {
			continue
		}
		for line := range strings.SplitSeq(p.Text, "\n") {
			text := strings.TrimSpace(line[len(blockMarks().FindString(line)):])
			if len(items) < maxItems && !strings.HasPrefix(line, "#") && hasWords(text) && len(strings.Fields(text)) >= fewWords {
				items = append(items, fmt.Sprintf("- %s%s", languageMark(req.TargetLanguage), texts.Truncate(text, maxItem)))
			}
		}
	}
	if len(items) == 0 {
		answer.Insufficient = true
		return
	}
	answer.Parts = []translator.Part{
		{Name: translator.PartTitle, Text: languageMark(req.TargetLanguage) + req.Parts[0].Text},
		{Name: translator.PartBody, Text: strings.Join(items, "\n"), Markdown: true},
	}
}
