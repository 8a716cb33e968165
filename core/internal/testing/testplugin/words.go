package testplugin

import (
	"context"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/sdk/translator"
)

// words implements translator.Translator. The text of the last part says how a call ends, as of endAs.
type words struct{ wellbeing }

// ListModels implements translator.Translator.
func (words) ListModels(context.Context) ([]translator.Model, error) {
	return []translator.Model{{Name: "m", MaxInputTokens: 100, CoolingUntil: time.UnixMilli(1000).UTC()}}, nil
}

// Translate implements translator.Translator.
func (words) Translate(ctx context.Context, req translator.Request) (*translator.Answer, error) {
	if err := endAs(ctx, req.Parts[len(req.Parts)-1].Text); err != nil {
		return nil, err
	}
	out := &translator.Answer{Attempts: []translator.Attempt{
		{Model: "l", Outcome: translator.OutcomeTemporary, Message: "down"},
		{Model: "m", Outcome: translator.OK, InputTokens: 1, OutputTokens: 2, CostMicros: 3, Duration: time.Second},
	}}
	for _, p := range req.Parts {
		p.Text = strings.ToUpper(p.Text + req.SourceLanguage + req.TargetLanguage + req.Correction)
		out.Parts = append(out.Parts, p)
	}
	return out, nil
}
