package openai

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/translator/openai/openaitest"
	"github.com/patchbay-dev/patchbay/sdk/conformance"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	"github.com/patchbay-dev/patchbay/sdk/translator"
)

const key = "sk-key-of-the-test"

// page is what a proxy answers.
const page = "<html>Bad gateway</html>"

func TestConformance(t *testing.T) {
	s := openaitest.New(t, key, "small", "large")
	faults := map[conformance.TranslatorFault]openaitest.Fault{
		conformance.TranslatorGarbage:   {Status: 200, Body: page},
		conformance.TranslatorBadAnswer: {Status: 200, Body: `{"choices":[{"message":{"content":"Sure! Here it is."},"finish_reason":"stop"}]}`},
		conformance.TranslatorLimited:   {Status: 429, RetryAfter: time.Minute, Message: "slow down"},
		conformance.TranslatorQuota:     {Status: 429, Code: "insufficient_quota", Message: "You exceeded your current quota"},
		conformance.TranslatorDenied:    {Status: 401, Code: "invalid_api_key", Message: "Incorrect API key provided: " + key},
		conformance.TranslatorSlow:      {Slow: true},
		conformance.TranslatorDown:      {Status: 503, Body: page},
	}
	conformance.TestTranslator(t, Plugin(), conformance.TranslatorConfig{
		JSON: `{"base_url":"` + s.URL() + `","api_key":"` + key +
			`","models":["small","large"],"retries":1,"price":{"small":{"input":1.5,"output":6}}}`,
		Invalid: []string{
			`{"models":[]}`, `{"models":["a","a"]}`, `{"models":["a"],"base_url":"x"}`, `{"models":["a"],"temperature":3}`,
			`{"models":["a"],"price":{"b":{"input":1}}}`,
			`{"models":["a"],"timeout":"1ms"}`, `{"models":["a"],"retries":-1}`, `{"models":["a"],"max_input_tokens":1}`,
		},
		TargetLanguage: "zh-CN", Secrets: []string{key}, Fault: func(f conformance.TranslatorFault) func() { return s.FailUntil(faults[f]) },
	})
}

// start returns a translator of a server, whose pauses take no time and are noted.
func start(t *testing.T, s *openaitest.Server, change ...func(*Config)) (tr *service, slept *[]time.Duration) {
	t.Helper()
	cfg := Config{
		BaseURL: s.URL(), APIKey: key, Models: []string{"small", "large"}, MaxInputTokens: 12000, MaxOutputTokens: 8000, Structured: "auto",
		Timeout: time.Minute, Retries: 2, Cooldown: 10 * time.Minute, Prices: map[string]Price{"small": {1.5, 6}},
	}
	for _, f := range change {
		f(&cfg)
	}
	open, diags := buildTranslator(translator.Instance{}, cfg)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	opened, err := open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	tr = opened.(*service)
	slept = &[]time.Duration{}
	tr.sleep = func(_ context.Context, d time.Duration) error { *slept = append(*slept, d); return nil }
	return tr, slept
}

func request() translator.Request {
	return translator.Request{Task: translator.Translate, TargetLanguage: "zh-CN",
		Parts: []translator.Part{{Name: "title", Text: "Faster"}, {Name: "body", Text: "- one\n- two", Markdown: true}}}
}

// outcomes returns models and outcomes of the attempts.
func outcomes(a *translator.Answer) string {
	var out []string
	for _, t := range a.Attempts {
		out = append(out, t.Model+" "+string(t.Outcome))
	}
	return strings.Join(out, ", ")
}

func TestAnswers(t *testing.T) {
	s := openaitest.New(t, key)
	tr, _ := start(t, s)
	a, err := tr.Translate(t.Context(), request())
	if err != nil || a.Parts[0].Text != "译Faster" || a.Parts[1].Text != "- 译one\n- 译two" {
		t.Fatalf("%+v, %v", a, err)
	}
	if got := a.Attempts[0]; got.InputTokens != 100 || got.OutputTokens != 50 || got.CostMicros != 100*15/10+50*6 {
		t.Errorf("%+v", got)
	}
	s.AnswerAs(true, true)
	if a, err = tr.Translate(t.Context(), request()); err != nil || a.Parts[0].Text != "译Faster" || a.Attempts[0].InputTokens < overhead ||
		a.Attempts[0].OutputTokens < 10 {
		t.Errorf("a stream without usage: %+v, %v", a, err)
	}
	for said, want := range map[string]string{
		"```json\n{\"parts\":[{\"name\":\"title\",\"text\":\"t\"},{\"name\":\"body\",\"text\":\"b\"}]}\n```": "",
		`{"parts":[{"name":"title","text":"t"}]}`:                                                            `the part "body" is missing or empty`,
		`{"parts":[{"name":"title","text":"t"},{"name":"body","text":" "}]}`:                                 `the part "body" is missing or empty`,
		`[1]`:               notJSON,
		`{"parts":"no"}`:    notJSON,
		"I cannot do that.": notJSON,
	} {
		s.Reply(func(openaitest.Chat) string { return said })
		if a, err = tr.Translate(t.Context(), request()); err != nil || a.Problem != want || (want == "") != (len(a.Parts) == 2) {
			t.Errorf("%q: %+v, %v", said, a, err)
		}
	}
}

func TestSummaries(t *testing.T) {
	s := openaitest.New(t, key)
	tr, _ := start(t, s)
	req := request()
	req.Task = translator.Summarize
	for said, want := range map[string]translator.Answer{
		`{"valuable":true,"title":"T","items":["- one","* two"," three\nlines","four","five"]}`: {Parts: []translator.Part{{Name: "title",
			Text: "T"}, {Name: "body", Text: "- one\n- two\n- three lines\n- four", Markdown: true}}},
		`{"valuable":false,"title":"","items":[]}`:   {Insufficient: true},
		`{"valuable":true,"title":"T","items":[]}`:   {Insufficient: true},
		`{"valuable":true,"title":"","items":["x"]}`: {Problem: "the title is empty"},
	} {
		s.Reply(func(openaitest.Chat) string { return said })
		a, err := tr.Translate(t.Context(), req)
		if err != nil || a.Problem != want.Problem || a.Insufficient != want.Insufficient || len(a.Parts) != len(want.Parts) ||
			len(a.Parts) > 0 && a.Parts[1] != want.Parts[1] {
			t.Errorf("%s: %+v, %v", said, a, err)
		}
	}
}

func TestFailuresByTheirClass(t *testing.T) {
	for _, tt := range []struct {
		name   string
		faults []openaitest.Fault
		want   string
		slept  int
	}{
		{"a passing failure is repeated", []openaitest.Fault{{Status: 503}, {Status: 500}}, "small temporary, small temporary, small ok", 2},
		{"a short limit is waited for", []openaitest.Fault{{Status: 429, RetryAfter: 2 * time.Second}}, "small rate_limited, small ok", 1},
		{"a long limit has the next model tried", []openaitest.Fault{{Status: 429, RetryAfter: time.Hour}}, "small rate_limited, large ok", 0},
		{"failures to the end have the next model tried", []openaitest.Fault{{Status: 503}, {Status: 503}, {Status: 503}},
			"small temporary, small temporary, small temporary, large ok", 2},
		{"a model that is not there is not repeated", []openaitest.Fault{{Status: 404, Code: "model_not_found"}}, "small refused, large ok", 0},
		{"a page is repeated", []openaitest.Fault{{Status: 200, Body: page}}, "small temporary, small ok", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := openaitest.New(t, key)
			tr, slept := start(t, s)
			s.Fail(tt.faults...)
			a, err := tr.Translate(t.Context(), request())
			if err != nil || outcomes(a) != tt.want || len(*slept) != tt.slept {
				t.Errorf("%v, %v, slept %v; want %s", a, err, *slept, tt.want)
			}
		})
	}
}

func TestDeadlineHoldsPauses(t *testing.T) {
	s := openaitest.New(t, key)
	tr, slept := start(t, s, func(c *Config) { c.Models = c.Models[:1] })
	s.Fail(openaitest.Fault{Status: 429, RetryAfter: 4 * time.Second})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if _, err := tr.Translate(ctx, request()); translator.OutcomeOf(err) != translator.OutcomeRateLimited ||
		errs.From(err).RetryAfter != 4*time.Second || len(*slept) > 0 {
		t.Errorf("%v, slept %v", err, *slept)
	}
}

func TestModelsCoolDown(t *testing.T) {
	s := openaitest.New(t, key)
	tr, _ := start(t, s, func(c *Config) { c.Retries = 0 })
	now := time.Now()
	tr.now = func() time.Time { return now }
	undo := s.FailUntil(openaitest.Fault{Status: http.StatusBadGateway, Model: "small"})
	for range maxFailures {
		if a, err := tr.Translate(t.Context(), request()); err != nil || outcomes(a) != "small temporary, large ok" {
			t.Fatalf("%v, %v", a, err)
		}
	}
	if a, err := tr.Translate(t.Context(), request()); err != nil || outcomes(a) != "large ok" {
		t.Errorf("a model that cools down is asked: %v, %v", a, err)
	}
	if models, _ := tr.ListModels(t.Context()); !models[0].CoolingUntil.Equal(now.Add(10*time.Minute)) || !models[1].CoolingUntil.IsZero() {
		t.Errorf("%+v", models)
	}
	undo()
	now = now.Add(11 * time.Minute)
	if a, err := tr.Translate(t.Context(), request()); err != nil || outcomes(a) != "small ok" {
		t.Errorf("after the cool-down: %v, %v", a, err)
	}
	undo = s.FailUntil(openaitest.Fault{Status: 429, RetryAfter: time.Hour})
	defer undo()
	if _, err := tr.Translate(t.Context(), request()); translator.OutcomeOf(err) != translator.OutcomeRateLimited {
		t.Errorf("%v", err)
	}
	now = now.Add(30 * time.Minute)
	if got := tr.candidateModels(); len(got) != 1 {
		t.Errorf("%d models are tried while all cool down", len(got))
	}
}

func TestRequestsAdaptToTheServer(t *testing.T) {
	s := openaitest.New(t, key)
	warm := 0.2
	tr, _ := start(t, s, func(c *Config) { c.Temperature = &warm })
	s.Reject("json_schema", "max_tokens", "temperature")
	for range 2 {
		if a, err := tr.Translate(t.Context(), request()); err != nil || outcomes(a) != "small ok" {
			t.Fatalf("%v, %v", a, err)
		}
	}
	s.Reject("response_format", "max_tokens", "temperature")
	if a, err := tr.Translate(t.Context(), request()); err != nil || outcomes(a) != "small ok" {
		t.Fatalf("%v, %v", a, err)
	}
	got := s.Chats()
	if got[0].Format != "json_object" || got[2].Format != "" {
		t.Errorf("formats %q and %q", got[0].Format, got[2].Format)
	}
}

func TestTooLongIsNotSent(t *testing.T) {
	s := openaitest.New(t, key)
	tr, _ := start(t, s)
	req := request()
	req.Parts[1].Text = strings.Repeat("word ", 20000)
	if _, err := tr.Translate(t.Context(), req); errs.From(err).Reason != translator.ReasonTooLong || len(s.Chats()) > 0 {
		t.Errorf("%v", err)
	}
}

func TestCorrectionIsTold(t *testing.T) {
	s := openaitest.New(t, key)
	tr, _ := start(t, s)
	req := request()
	req.Correction = "the list has lost an item"
	if _, err := tr.Translate(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if last := s.Chats()[0].Messages[2]; last.Role != "user" || !strings.Contains(last.Content, req.Correction) {
		t.Errorf("%+v", last)
	}
}

func TestNoKeyIsNeededWhereTheServerWantsNone(t *testing.T) {
	s := openaitest.New(t, "")
	tr, _ := start(t, s, func(c *Config) { c.APIKey = schema.Secret("") })
	if _, err := tr.Translate(t.Context(), request()); err != nil {
		t.Error(err)
	}
}
