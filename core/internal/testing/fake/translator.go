package fake

import (
	"context"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/sdk/translator"
)

// Translator is a double of client.Translator: it answers with a function, or fails as it is told. It is safe for concurrent use.
type Translator struct {
	mu     sync.Mutex
	models []translator.Model
	answer func(translator.Request) *translator.Answer
	queued []error
	before func(context.Context, translator.Request)
	calls  []translator.Request
}

var _ client.Translator = (*Translator)(nil)

// NewTranslator makes a double with one model. Each line of a text gets prefix before its words, which TranslateLines does; each
// call takes 10 tokens in and 5 out and costs 1000 millionths.
func NewTranslator(prefix string) *Translator {
	t := &Translator{models: []translator.Model{{Name: "fake"}}}
	t.answer = func(req translator.Request) *translator.Answer {
		answer := &translator.Answer{Attempts: []translator.Attempt{TranslatorAttempt(translator.OK)}}
		if req.Task == translator.Summarize {
			answer.Parts = []translator.Part{{Name: translator.PartTitle, Text: prefix + req.Parts[0].Text},
				{Name: translator.PartBody, Text: "- " + prefix + "summary"}}
			return answer
		}
		for _, p := range req.Parts {
			p.Text = TranslateLines(p.Text, prefix)
			answer.Parts = append(answer.Parts, p)
		}
		return answer
	}
	return t
}

// TranslatorAttempt returns a call of the double's model.
func TranslatorAttempt(outcome translator.Outcome) translator.Attempt {
	a := translator.Attempt{Model: "fake", Outcome: outcome, InputTokens: 10, OutputTokens: 5, CostMicros: 1000}
	if outcome != translator.OK {
		a.Message = string(outcome)
	}
	return a
}

// TranslateLines puts prefix before the words of each line. Fences and lines without a word stay.
func TranslateLines(text, prefix string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(strings.TrimLeft(line, " >-"), "```") || !strings.ContainsFunc(line, unicode.IsLetter) {
			continue
		}
		if at := strings.IndexFunc(line, func(r rune) bool { return !strings.ContainsRune(" \t#->*|+", r) }); at >= 0 {
			lines[i] = line[:at] + prefix + line[at:]
		}
	}
	return strings.Join(lines, "\n")
}

// Answer sets what makes the answers.
func (t *Translator) Answer(answer func(translator.Request) *translator.Answer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.answer = answer
}

// SetModels sets the models that ListModels returns.
func (t *Translator) SetModels(models ...translator.Model) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.models = models
}

// Fail appends what the next calls of Translate end with, one each; nil lets one pass.
func (t *Translator) Fail(errs ...error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.queued = append(t.queued, errs...)
}

// Before sets what is called before each call of Translate, without a lock held; it may wait.
func (t *Translator) Before(f func(context.Context, translator.Request)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.before = f
}

// Calls returns the requests so far, in order, also those that failed.
func (t *Translator) Calls() []translator.Request {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.calls)
}

// ListModels implements client.Translator.
func (t *Translator) ListModels(context.Context) ([]translator.Model, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.models), nil
}

// Translate implements client.Translator.
func (t *Translator) Translate(ctx context.Context, req translator.Request) (*translator.Answer, error) {
	t.mu.Lock()
	before := t.before
	t.mu.Unlock()
	if before != nil {
		before(ctx, req)
	}
	if ctx.Err() != nil {
		return nil, fault.FromPlugin("translator.fake", ctx.Err())
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls = append(t.calls, req)
	if len(t.queued) > 0 {
		err := t.queued[0]
		t.queued = t.queued[1:]
		if err != nil {
			return nil, fault.FromPlugin("translator.fake", err)
		}
	}
	return t.answer(req), nil
}
