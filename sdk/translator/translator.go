// Package translator is what the author of a translator plugin implements, and what a caller of one uses.
//
// A translator has a language model translate or summarise texts. It may try several models, and one of them again after a
// passing failure, within the deadline of the call. What is translated, when, and what it may cost is the host's decision.
package translator

import (
	"context"
	"strconv"
	"time"

	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Instance is what the host tells about a configured instance.
type Instance = framework.Instance

// Kind is the word for this kind in plugin.hcl; Service is its gRPC service.
const (
	Kind    = "translator"
	Service = "patchbay.translator.v1.Translator"
)

// Limits of a request.
const (
	// MaxParts is how many parts a request has at most, and MaxName how many characters the name of one.
	MaxParts, MaxName = 64, 64
	// MaxText is how long the texts of a request may be together, in bytes.
	MaxText = 512 << 10
	// MaxCorrection is how many characters Request.Correction has at most.
	MaxCorrection = 2000
)

// The parts of the answer to a request for a summary.
const (
	PartTitle = "title"
	PartBody  = "body"
)

// Translator calls language models. Calls come concurrently. Errors are made with the functions of this package: RateLimited,
// QuotaExhausted, Denied, Refused, TooLong and Temporary.
type Translator interface {
	// ListModels returns the models that the instance uses, in the order in which it tries them. It asks no service.
	ListModels(ctx context.Context) ([]Model, error)
	// Translate performs one task. A model that answers something unusable is no error: Answer.Problem says so, and
	// Answer.Attempts what it cost.
	Translate(ctx context.Context, req Request) (*Answer, error)
}

// Task is what is done with the parts of a request.
type Task string

// The tasks.
const (
	// Translate: the answer has the same parts in the same order, in the target language.
	Translate Task = "translate"
	// Summarize: the answer has the parts PartTitle and PartBody, which is a Markdown list of one to four items; or it is
	// Insufficient.
	Summarize Task = "summarize"
)

// Part is a text with a name.
type Part struct {
	// Name is 1 to MaxName characters, unique within the request.
	Name string
	// Text is not empty. A translation has each mask of it (see Mask) as often as the text.
	Text string
	// Markdown says that the text is Markdown, whose structure a translation keeps.
	Markdown bool
}

// Request asks for one task.
type Request struct {
	Task Task
	// SourceLanguage and TargetLanguage are BCP 47 tags, such as "zh-CN". The source may be empty, which means unknown.
	SourceLanguage, TargetLanguage string
	// Parts are 1 to MaxParts.
	Parts []Part
	// Correction says what was wrong with the answer before to the same request; "" for the first one.
	Correction string
}

// Answer is what came of a request.
type Answer struct {
	Parts []Part
	// Insufficient says that there is nothing worth summarising; there are no parts then.
	Insufficient bool
	// Problem says what is unusable about the model's answer, "" if it is usable. There are no parts with a problem.
	Problem string
	// Attempts are the calls of models that were made, in order; the last one gave the answer.
	Attempts []Attempt
}

// Model returns the model that gave the answer.
func (a *Answer) Model() string {
	if len(a.Attempts) == 0 {
		return ""
	}
	return a.Attempts[len(a.Attempts)-1].Model
}

// Outcome is how a call of a model ended.
type Outcome string

// The outcomes.
const (
	OK                 Outcome = "ok"
	OutcomeRateLimited Outcome = "rate_limited"
	OutcomeDenied      Outcome = "denied"
	OutcomeQuota       Outcome = "quota"
	OutcomeTemporary   Outcome = "temporary"
	OutcomeRefused     Outcome = "refused"
	OutcomeBadAnswer   Outcome = "bad_answer"
)

// Attempt is one call of a model.
type Attempt struct {
	Model   string
	Outcome Outcome
	// InputTokens and OutputTokens are as the service counted them, or else estimated.
	InputTokens, OutputTokens int64
	// CostMicros is the cost in millionths of the currency of the configured prices; 0 without prices.
	CostMicros int64
	Duration   time.Duration
	// Message says why the outcome is not OK, without secrets.
	Message string
}

// Model is a model that an instance uses.
type Model struct {
	Name string
	// MaxInputTokens is how many tokens a request may have with this model; 0 means that it is not known.
	MaxInputTokens int64
	// CoolingUntil is until when the model is tried only if no other one can be; zero if it is not cooling down.
	CoolingUntil time.Time
}

// Definition declares a translator plugin whose config block is a C.
type Definition[C any] struct {
	// Build checks a configuration and returns what makes the translator. It is pure: no network, no files written. Both
	// Validate and Configure call it.
	Build func(inst Instance, cfg C) (Open, schema.Diagnostics)
}

// Open makes a translator ready for calls. One that is an io.Closer is closed when its instance is removed.
type Open func(ctx context.Context) (Translator, error)

// Mask returns the text that stands for the n-th thing that must not change, such as ⟦1⟧.
func Mask(n int) string { return "⟦" + strconv.Itoa(n) + "⟧" }

// EstimateTokens returns about how many tokens a text has: one for four ASCII characters, and one for any other character.
func EstimateTokens(text string) int64 {
	ascii, other := int64(0), int64(0)
	for _, r := range text {
		if r < 0x80 {
			ascii++
		} else {
			other++
		}
	}
	return (ascii+3)/4 + other
}
