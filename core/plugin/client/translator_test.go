package client_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testplugin"
	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/sdk/translator"
)

func TestTranslatorFacade(t *testing.T) {
	handles, retire := openUpstreams(t, 300*time.Millisecond, translator.Kind)
	var seen []string
	tr := client.NewTranslator(handles[0], func(_, operation string, _, _ time.Duration, _ error) { seen = append(seen, operation) })
	ctx := t.Context()
	models, err := tr.ListModels(ctx)
	if diff := cmp.Diff([]translator.Model{{Name: "m", MaxInputTokens: 100, CoolingUntil: time.Unix(1, 0).UTC()}}, models); err != nil ||
		diff != "" {
		t.Errorf("models: %v, %s", err, diff)
	}
	req := translator.Request{
		Task: translator.Translate, SourceLanguage: "en", TargetLanguage: "zh-CN", Correction: "!",
		Parts: []translator.Part{{Name: "a", Text: "x", Markdown: true}, {Name: "b", Text: "y"}},
	}
	got, err := tr.Translate(ctx, req)
	want := &translator.Answer{
		Parts: []translator.Part{{Name: "a", Text: "XENZH-CN!", Markdown: true}, {Name: "b", Text: "YENZH-CN!"}},
		Attempts: []translator.Attempt{
			{Model: "l", Outcome: translator.OutcomeTemporary, Message: "down"},
			{Model: "m", Outcome: translator.OK, InputTokens: 1, OutputTokens: 2, CostMicros: 3, Duration: time.Second},
		},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("answer: %v, %s", err, diff)
	}
	for end, outcome := range map[string]translator.Outcome{
		testplugin.EndLimited: translator.OutcomeRateLimited, testplugin.EndDenied: translator.OutcomeDenied,
		testplugin.EndDown: translator.OutcomeTemporary,
		testplugin.EndHang: translator.OutcomeTemporary, testplugin.EndMissing: translator.OutcomeRefused,
	} {
		req.Parts[1].Text = "text " + end
		if _, err := tr.Translate(ctx, req); translator.OutcomeOf(err) != outcome {
			t.Errorf("%q: %v, want %s", end, err, outcome)
		}
	}
	req.Parts = nil
	if _, err := tr.Translate(ctx, req); translator.OutcomeOf(err) != translator.OutcomeRefused {
		t.Errorf("a request without parts: %v", err)
	}
	if seen[0] != "listmodels" || seen[1] != "translate" {
		t.Errorf("operations %v", seen)
	}
	retire()
	if _, err := tr.ListModels(ctx); !errors.Is(err, catalog.ErrRetired) {
		t.Errorf("after a reload: %v", err)
	}
}
