package echo

import (
	"testing"

	"github.com/patchbay-dev/patchbay/sdk/conformance"
	"github.com/patchbay-dev/patchbay/sdk/translator"
)

func TestConformance(t *testing.T) {
	conformance.TestTranslator(t, Plugin(), conformance.TranslatorConfig{
		JSON: `{"delay":"1ms"}`, Invalid: []string{`{"delay":"2m"}`, `{"delay":"-1s"}`}, TargetLanguage: "zh-CN",
	})
}

// TestSlow checks the checks of calls that end early, which a short delay leaves out.
func TestSlow(t *testing.T) {
	conformance.TestTranslator(t, Plugin(), conformance.TranslatorConfig{
		JSON: `{"delay":"10s"}`, Fault: func(f conformance.TranslatorFault) func() {
			if f == conformance.TranslatorSlow {
				return func() {}
			}
			return nil
		},
	})
}

func TestMarkdownKeepsItsStructure(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"## Changes", "## 〔de〕 Changes"},
		{"- one\n    - two\n1. three", "- 〔de〕 one\n    - 〔de〕 two\n1. 〔de〕 three"},
		{"> a *b*", "> 〔de〕 a *b*"},
		{"- [x] done", "- [x] 〔de〕 done"},
		{"| a | b |\n|---|---|\n| 1 | 2 |", "| 〔de〕 a | b |\n|---|---|\n| 1 | 2 |"},
		{"```go\nfunc x()\n```\nafter", "```go\nfunc x()\n```\n〔de〕 after"},
		{"text\n\n    code here", "〔de〕 text\n\n    code here"},
		{"<details>\n[x]: https://example.com\n---", "<details>\n[x]: https://example.com\n---"},
		{"⟦1⟧ ⟦2⟧", "⟦1⟧ ⟦2⟧"},
		{"", ""},
	} {
		if got := markText(tt.text, "de", true); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestSummaries(t *testing.T) {
	req := translator.Request{Task: translator.Summarize, TargetLanguage: "de", Parts: []translator.Part{
		{Name: "title", Text: "v1"}, {Name: "body", Text: "## What changed\n\n- first thing\n- second thing\n\nx\n"},
	}}
	answer, err := echo{}.Translate(t.Context(), req)
	if err != nil || len(answer.Parts) != 2 || answer.Parts[0].Text != "〔de〕 v1" ||
		answer.Parts[1].Text != "- 〔de〕 first thing\n- 〔de〕 second thing" {
		t.Errorf("%+v, %v", answer, err)
	}
	req.Parts[1].Text = "Bugfixes"
	if answer, err = (echo{}).Translate(t.Context(), req); err != nil || !answer.Insufficient || len(answer.Parts) > 0 {
		t.Errorf("%+v, %v", answer, err)
	}
}
