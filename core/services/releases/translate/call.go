package translate

import (
	"context"
	"errors"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/texts"
	"github.com/patchbay-dev/patchbay/sdk/translator"
)

// Call is a call of a language model, as it is stored.
type Call struct {
	ID                        int64 `gorm:"primaryKey"`
	At                        int64
	BatchID                   string
	Task                      translator.Task
	Model                     string
	Outcome                   translator.Outcome
	InputTokens, OutputTokens int64
	CostMicros                int64
	DurationMs                int64
	Parts                     int
	Message                   string
}

// TableName implements gorm's Tabler.
func (Call) TableName() string { return "release_model_calls" }

// answerFactor is about how many tokens a call takes for each of the text: the answer is about as long.
const answerFactor = 2

// call makes a request within the budget of the day, and notes every call of a model with what it took. The texts of the answer can
// be stored: a model may write any character.
func (r *run) call(ctx context.Context, req translator.Request) (*translator.Answer, error) {
	set := r.cfg.Settings()
	if set.Translator == nil {
		return nil, fault.New(fault.NotReady, "No translator is configured.")
	}
	tokens := int64(0)
	for _, p := range req.Parts {
		tokens += answerFactor * translator.EstimateTokens(p.Text)
	}
	release, err := r.reserveTokens(ctx, set, tokens)
	if err != nil {
		return nil, err
	}
	defer release()
	began := r.cfg.Now()
	answer, err := set.Translator.Translate(ctx, req)
	if err != nil {
		failed := translator.Attempt{Outcome: translator.OutcomeOf(err), Message: fault.As(err).Message, Duration: r.cfg.Now().Sub(began)}
		return nil, errors.Join(err, r.noteCalls(ctx, req, []translator.Attempt{failed}))
	}
	answer.Problem = texts.Valid(answer.Problem)
	for i := range answer.Parts {
		answer.Parts[i].Text = texts.Valid(answer.Parts[i].Text)
	}
	return answer, r.noteCalls(ctx, req, answer.Attempts)
}

// noteCalls stores calls of models.
func (r *run) noteCalls(ctx context.Context, req translator.Request, attempts []translator.Attempt) error {
	calls := make([]Call, len(attempts))
	for i, a := range attempts {
		calls[i] = Call{
			BatchID: r.batchID, Task: req.Task, Model: a.Model, Outcome: a.Outcome, InputTokens: a.InputTokens,
			OutputTokens: a.OutputTokens,
			CostMicros:   a.CostMicros, DurationMs: a.Duration.Milliseconds(), Parts: len(req.Parts), Message: texts.Limit(a.Message, maxDetail),
		}
	}
	if len(calls) == 0 {
		return nil
	}
	// What was paid for is noted even if nobody wants the answer any more.
	err := r.store.Tx(context.WithoutCancel(ctx), "note model calls", func(ctx context.Context) error {
		now, err := r.readClock(ctx)
		if err != nil {
			return err
		}
		for i := range calls {
			calls[i].At = now
		}
		return r.store.Writer(ctx).Create(&calls).Error
	})
	if err == nil && r.cfg.Noted != nil {
		for _, call := range calls {
			r.cfg.Noted(call)
		}
	}
	return err
}

// ListCalls returns the latest calls of models, at most limit; with before, those before the call of that id.
func (t *Translations) ListCalls(ctx context.Context, before int64, limit int) (calls []Call, err error) {
	find := t.store.DB(ctx).Order("id DESC").Limit(limit)
	if before > 0 {
		find = find.Where("id < ?", before)
	}
	return calls, find.Find(&calls).Error
}
