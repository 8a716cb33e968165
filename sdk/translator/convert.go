package translator

import (
	"time"

	translatorv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/translator/v1"
)

var tasks = map[Task]translatorv1.Task{
	Translate: translatorv1.Task_TASK_TRANSLATE,
	Summarize: translatorv1.Task_TASK_SUMMARIZE,
}

var outcomes = map[Outcome]translatorv1.Outcome{
	OK:                 translatorv1.Outcome_OUTCOME_OK,
	OutcomeRateLimited: translatorv1.Outcome_OUTCOME_RATE_LIMITED,
	OutcomeDenied:      translatorv1.Outcome_OUTCOME_DENIED,
	OutcomeQuota:       translatorv1.Outcome_OUTCOME_QUOTA,
	OutcomeTemporary:   translatorv1.Outcome_OUTCOME_TEMPORARY,
	OutcomeRefused:     translatorv1.Outcome_OUTCOME_REFUSED,
	OutcomeBadAnswer:   translatorv1.Outcome_OUTCOME_BAD_ANSWER,
}

// keyOf returns the key of a value, or the zero value.
func keyOf[K, V comparable](m map[K]V, value V) (key K) {
	for k, v := range m {
		if v == value {
			return k
		}
	}
	return key
}

func partsProto(parts []Part) (out []*translatorv1.Part) {
	for _, p := range parts {
		out = append(out, &translatorv1.Part{Name: p.Name, Text: p.Text, Markdown: p.Markdown})
	}
	return out
}

func partsFrom(parts []*translatorv1.Part) (out []Part) {
	for _, p := range parts {
		out = append(out, Part{Name: p.GetName(), Text: p.GetText(), Markdown: p.GetMarkdown()})
	}
	return out
}

func (r Request) toProto() *translatorv1.TranslateRequest {
	return &translatorv1.TranslateRequest{
		Task: tasks[r.Task], SourceLanguage: r.SourceLanguage, TargetLanguage: r.TargetLanguage, Parts: partsProto(r.Parts),
		Correction: r.Correction,
	}
}

func requestFrom(p *translatorv1.TranslateRequest) Request {
	return Request{
		Task: keyOf(tasks, p.GetTask()), SourceLanguage: p.GetSourceLanguage(), TargetLanguage: p.GetTargetLanguage(),
		Parts: partsFrom(p.GetParts()), Correction: p.GetCorrection(),
	}
}

func (a *Answer) toProto() *translatorv1.TranslateResponse {
	out := &translatorv1.TranslateResponse{Parts: partsProto(a.Parts), Insufficient: a.Insufficient, Problem: a.Problem}
	for _, t := range a.Attempts {
		out.Attempts = append(out.Attempts, &translatorv1.Attempt{
			Model: t.Model, Outcome: outcomes[t.Outcome], InputTokens: t.InputTokens, OutputTokens: t.OutputTokens,
			CostMicros: t.CostMicros, DurationMs: t.Duration.Milliseconds(), Message: t.Message,
		})
	}
	return out
}

func answerFrom(p *translatorv1.TranslateResponse) *Answer {
	out := &Answer{Parts: partsFrom(p.GetParts()), Insufficient: p.GetInsufficient(), Problem: p.GetProblem()}
	for _, t := range p.GetAttempts() {
		out.Attempts = append(out.Attempts, Attempt{
			Model: t.GetModel(), Outcome: keyOf(outcomes, t.GetOutcome()), InputTokens: t.GetInputTokens(), OutputTokens: t.GetOutputTokens(),
			CostMicros: t.GetCostMicros(), Duration: time.Duration(t.GetDurationMs()) * time.Millisecond, Message: t.GetMessage(),
		})
	}
	return out
}

func (m Model) toProto() *translatorv1.Model {
	out := &translatorv1.Model{Name: m.Name, MaxInputTokens: m.MaxInputTokens}
	if !m.CoolingUntil.IsZero() {
		out.CoolingUntilUnixMs = m.CoolingUntil.UnixMilli()
	}
	return out
}

func modelFrom(p *translatorv1.Model) Model {
	out := Model{Name: p.GetName(), MaxInputTokens: p.GetMaxInputTokens()}
	if ms := p.GetCoolingUntilUnixMs(); ms != 0 {
		out.CoolingUntil = time.UnixMilli(ms).UTC()
	}
	return out
}
