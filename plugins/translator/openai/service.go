package openai

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/translator"
)

// service implements translator.Translator.
type service struct {
	cfg    Config
	api    *api
	models []*model
	// sleep waits, or returns the error of the context.
	sleep func(context.Context, time.Duration) error
	now   func() time.Time
}

func newService(cfg Config, a *api) *service {
	s := &service{cfg: cfg, api: a, sleep: httpx.Sleep, now: time.Now}
	for _, name := range cfg.Models {
		s.models = append(s.models, newModel(name, cfg.Structured))
	}
	return s
}

// Close lets idle connections go.
func (s *service) Close() error { return s.api.http.Close() }

// ListModels implements translator.Translator.
func (s *service) ListModels(context.Context) (out []translator.Model, err error) {
	for _, m := range s.models {
		out = append(out, translator.Model{Name: m.name, MaxInputTokens: s.cfg.MaxInputTokens, CoolingUntil: m.coolingUntil(s.now())})
	}
	return out, nil
}

// Translate implements translator.Translator. It tries the models in their order, those that are cooling down last.
func (s *service) Translate(ctx context.Context, req translator.Request) (*translator.Answer, error) {
	if n := estimateTokens(req); n > s.cfg.MaxInputTokens {
		return nil, translator.TooLong(n, s.cfg.MaxInputTokens)
	}
	answer := &translator.Answer{}
	var last error
	for _, m := range s.candidateModels() {
		err := s.askModel(ctx, m, req, answer)
		if err == nil {
			return answer, nil
		}
		if ctx.Err() != nil {
			return nil, errs.OfCall(ctx, ctx.Err())
		}
		switch translator.OutcomeOf(err) {
		case translator.OutcomeDenied, translator.OutcomeQuota:
			return nil, errs.From(err)
		}
		last = err
	}
	return nil, errs.From(last)
}

// candidateModels returns the models to try: those that are not cooling down, or else the one that has cooled down most.
func (s *service) candidateModels() (ready []*model) {
	now := s.now()
	next := s.models[0]
	for _, m := range s.models {
		if m.coolingUntil(now).IsZero() {
			ready = append(ready, m)
		}
		if m.coolingUntil(now).Before(next.coolingUntil(now)) {
			next = m
		}
	}
	if ready == nil {
		return []*model{next}
	}
	return ready
}

const (
	// firstPause is the pause after the first failure of a request; it doubles with each one, up to maxPause. A model that
	// limits requests for longer is left alone.
	firstPause, maxPause = 500 * time.Millisecond, 5 * time.Second
)

// askModel makes a request to a model and repeats it after passing failures. The attempts are added to answer.
func (s *service) askModel(ctx context.Context, m *model, req translator.Request, answer *translator.Answer) error {
	for failures := 0; ; {
		began := s.now()
		reply, err := s.api.requestCompletion(ctx, m.newChatRequest(s.cfg, req))
		if err == nil {
			m.noteSuccess()
			answer.Attempts = append(answer.Attempts, s.readReply(m, req, reply, answer, s.now().Sub(began)))
			return nil
		}
		var refused *refusedError
		if errors.As(err, &refused) && m.adaptToRefusal(refused) {
			continue
		}
		e := errs.From(err)
		outcome := translator.OutcomeOf(e)
		answer.Attempts = append(answer.Attempts,
			translator.Attempt{Model: m.name, Outcome: outcome, Duration: s.now().Sub(began), Message: e.Message})
		if ctx.Err() != nil {
			return e
		}
		pause := pauseAfter(failures, e)
		passing := outcome == translator.OutcomeTemporary || outcome == translator.OutcomeRateLimited
		if !passing || failures >= s.cfg.Retries || pause > maxPause || !endsWithin(ctx, pause) {
			m.noteFailure(s.now(), outcome, e.RetryAfter, s.cfg.Cooldown)
			return e
		}
		failures++
		if s.sleep(ctx, pause) != nil {
			return e
		}
	}
}

// pauseAfter returns how long to wait after the n-th failure, from 0.
func pauseAfter(n int, e *errs.Error) time.Duration {
	d := min(firstPause<<min(n, 10), maxPause)
	d = d/2 + rand.N(d/2)
	return max(d, e.RetryAfter)
}

// endsWithin reports whether a pause ends before the deadline of a context.
func endsWithin(ctx context.Context, pause time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return !ok || time.Until(deadline) > pause
}

// readReply puts what a model answered into the answer, and returns the attempt.
func (s *service) readReply(m *model, req translator.Request, reply *chatReply, answer *translator.Answer,
	took time.Duration) translator.Attempt {
	said := reply.Choices[0]
	a := translator.Attempt{Model: m.name, Outcome: translator.OK, InputTokens: reply.Usage.PromptTokens,
		OutputTokens: reply.Usage.CompletionTokens, Duration: took}
	if a.InputTokens <= 0 {
		a.InputTokens = estimateTokens(req)
	}
	if a.OutputTokens <= 0 {
		a.OutputTokens = max(1, translator.EstimateTokens(said.Message.Content))
	}
	price := s.cfg.Prices[m.name]
	a.CostMicros = int64(price.Input*float64(a.InputTokens) + price.Output*float64(a.OutputTokens) + 0.5)
	readAnswer(req, said, answer)
	if answer.Problem != "" {
		a.Outcome, a.Message = translator.OutcomeBadAnswer, answer.Problem
	}
	return a
}

// formats are the ways to ask for JSON, from the strictest on.
var formats = []string{"schema", "object", "none"}

// newChatRequest returns a request in the way that the server has accepted so far.
func (m *model) newChatRequest(cfg Config, req translator.Request) chatRequest {
	m.mu.Lock()
	defer m.mu.Unlock()
	in := chatRequest{Model: m.name, Messages: messagesFor(req)}
	if !m.noTemperature {
		in.Temperature = cfg.Temperature
	}
	if m.completionTokens {
		in.MaxCompletionTokens = cfg.MaxOutputTokens
	} else {
		in.MaxTokens = cfg.MaxOutputTokens
	}
	switch formats[m.format] {
	case "schema":
		in.ResponseFormat = &responseFormat{"json_schema", &jsonSchema{string(req.Task), true, schemas[req.Task]}}
	case "object":
		in.ResponseFormat = &responseFormat{Type: "json_object"}
	}
	return in
}

// adaptToRefusal changes how requests are made to what the server accepts, and reports whether there was something to change.
func (m *model) adaptToRefusal(refused *refusedError) bool {
	if refused.status != 400 && refused.status != 422 {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	says := func(word string) bool { return strings.Contains(refused.text, word) }
	switch {
	case !m.completionTokens && says("max_tokens"):
		m.completionTokens = true
	case !m.noTemperature && says("temperature"):
		m.noTemperature = true
	case m.adaptsFormat && m.format < len(formats)-1 &&
		(says("response_format") || says("json_schema") || says("json_object") || says("structured")):
		m.format++
	default:
		return false
	}
	return true
}

func newModel(name, structured string) *model {
	m := &model{name: name, adaptsFormat: structured == "auto"}
	if !m.adaptsFormat {
		m.format = slices.Index(formats, structured)
	}
	return m
}
