package conformance

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/sdk/conformance/report"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	"github.com/patchbay-dev/patchbay/sdk/translator"
)

const translatorSecret = "secret-of-the-service"

// goodTranslator keeps the contract; tests change single parts of it.
type goodTranslator struct {
	mu    sync.Mutex
	fault TranslatorFault

	// These change single parts.
	models     []translator.Model
	word       func(string) string
	summary    string
	attempt    translator.Attempt
	failure    func(*errs.Error) error
	ignoresEnd bool
	takesBad   bool
}

func newGoodTranslator() *goodTranslator {
	return &goodTranslator{
		models: []translator.Model{{Name: "m"}}, word: func(s string) string { return "[zh-CN] " + s }, summary: "- one\n- two",
		attempt: translator.Attempt{Model: "m", Outcome: translator.OK, InputTokens: 3, OutputTokens: 4},
		failure: func(e *errs.Error) error { return e },
	}
}

func (g *goodTranslator) setFault(f TranslatorFault) func() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.fault = f
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.fault = ""
	}
}

func (g *goodTranslator) current() TranslatorFault {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.fault
}

func (g *goodTranslator) ListModels(context.Context) ([]translator.Model, error) {
	return g.models, nil
}

func (g *goodTranslator) Translate(ctx context.Context, req translator.Request) (*translator.Answer, error) {
	answer := &translator.Answer{Attempts: []translator.Attempt{g.attempt}}
	switch g.current() {
	case TranslatorSlow:
		if g.ignoresEnd {
			time.Sleep(3 * time.Second)
		} else {
			<-ctx.Done()
		}
		return nil, ctx.Err()
	case TranslatorDown:
		return nil, g.failure(translator.Temporary(errs.ReasonConnect, "no"))
	case TranslatorGarbage:
		return nil, g.failure(translator.Temporary(errs.ReasonProtocol, "no"))
	case TranslatorLimited:
		return nil, g.failure(translator.RateLimited(time.Minute, "no"))
	case TranslatorQuota:
		return nil, g.failure(translator.QuotaExhausted("no"))
	case TranslatorDenied:
		return nil, g.failure(translator.Denied("no"))
	case TranslatorBadAnswer:
		if !g.takesBad {
			answer.Problem = "it is not JSON"
			answer.Attempts[0].Outcome, answer.Attempts[0].Message = translator.OutcomeBadAnswer, "it is not JSON"
			return answer, nil
		}
	}
	if req.Task == translator.Summarize {
		answer.Parts = []translator.Part{{Name: translator.PartTitle, Text: "t"}, {Name: translator.PartBody, Text: g.summary}}
		return answer, nil
	}
	for _, p := range req.Parts {
		answer.Parts = append(answer.Parts, translator.Part{Name: p.Name, Text: g.word(p.Text)})
	}
	return answer, nil
}

func (g *goodTranslator) run(t *testing.T) report.Report {
	t.Helper()
	def := translator.Definition[struct{}]{Build: func(translator.Instance, struct{}) (translator.Open, schema.Diagnostics) {
		return func(context.Context) (translator.Translator, error) { return g, nil }, nil
	}}
	return runSuite(t, framework.Plugin{Name: "good", Version: "1.0.0", Kinds: []framework.Kind{translator.New(def)}}, TranslatorConfig{
		TargetLanguage: "zh-CN", Fault: g.setFault, Secrets: []string{translatorSecret}, Prompt: time.Second,
	}, Translator)
}

func TestGoodTranslatorPasses(t *testing.T) {
	wantWhole(t, newGoodTranslator().run(t))
}

func TestWrongTranslator(t *testing.T) {
	for _, tt := range []struct {
		name   string
		want   []string
		change func(*goodTranslator)
	}{
		{"has no model", []string{"models"}, func(g *goodTranslator) { g.models = nil }},
		{"gives the text back", []string{"translate"}, func(g *goodTranslator) { g.word = func(s string) string { return s } }},
		{"loses masks", []string{"masks"}, func(g *goodTranslator) {
			g.word = func(s string) string { return "x" + strings.ReplaceAll(s, translator.Mask(13), "") }
		}},
		{"answers nothing", []string{"translate", "masks", "concurrency"},
			func(g *goodTranslator) { g.word = func(string) string { return "" } }},
		{"a long summary", []string{"summarize"}, func(g *goodTranslator) { g.summary = strings.Repeat("- x\n", 5) }},
		{"counts no tokens", []string{"translate", "masks", "summarize", "concurrency", "bad-answer"},
			func(g *goodTranslator) { g.attempt.OutputTokens = 0 }},
		{"believes everything", []string{"bad-answer"}, func(g *goodTranslator) { g.takesBad = true }},
		{"a limit without a time", []string{"limited"}, func(g *goodTranslator) {
			g.failure = func(e *errs.Error) error { e.RetryAfter = 0; return e }
		}},
		{"its own fault", []string{"down", "garbage", "limited", "quota", "denied"}, func(g *goodTranslator) {
			g.failure = func(e *errs.Error) error { e.Source = errs.Plugin; return e }
		}},
		{"one reason for all", []string{"garbage", "limited", "quota"}, func(g *goodTranslator) {
			g.failure = func(e *errs.Error) error { e.Reason = "FAILED"; return e }
		}},
		{"the secret in an error", []string{"credential"}, func(g *goodTranslator) {
			g.failure = func(e *errs.Error) error { e.Message += translatorSecret; return e }
		}},
		{"goes on after the end", []string{"cancel", "deadline"}, func(g *goodTranslator) { g.ignoresEnd = true }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := newGoodTranslator()
			tt.change(g)
			rep := g.run(t)
			if got := names(rep); fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("failed are %v, want %v: %v", got, tt.want, rep.Err())
			}
		})
	}
}
