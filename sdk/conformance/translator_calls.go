package conformance

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/conformance/internal/suite"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/translator"
)

const noLanguage = suite.Skip("no target language is given, so no model is called")

// wantAnswer makes a request whose answer must be usable, and checks what it says of itself.
func (r *translatorRun) wantAnswer(ctx context.Context, req translator.Request) (*translator.Answer, error) {
	if r.cfg.TargetLanguage == "" {
		return nil, noLanguage
	}
	a, err := r.askTranslator(ctx, r.MainID, req)
	if err != nil {
		return nil, err
	}
	if a.Problem != "" {
		return nil, fmt.Errorf("the answer is not usable: %s", a.Problem)
	}
	return a, checkAttempts(a, translator.OK)
}

// checkAttempts checks that an answer tells which model gave it, and what that took.
func checkAttempts(a *translator.Answer, last translator.Outcome) error {
	if len(a.Attempts) == 0 {
		return errors.New("the answer does not say which model was called")
	}
	for i, t := range a.Attempts {
		final := i == len(a.Attempts)-1
		switch {
		case t.Model == "" || t.Outcome == "" || t.InputTokens < 0 || t.OutputTokens < 0 || t.CostMicros < 0 || t.Duration < 0:
			return fmt.Errorf("the attempt %+v lacks its model or outcome, or has a negative number", t)
		case final && t.Outcome != last:
			return fmt.Errorf("the last attempt ended with %q, and should have with %q", t.Outcome, last)
		case final && (t.InputTokens == 0 || t.OutputTokens == 0):
			return fmt.Errorf("the attempt %+v does not say how many tokens it took", t)
		case t.Outcome != translator.OK && t.Message == "":
			return fmt.Errorf("the attempt %+v does not say what went wrong", t)
		}
	}
	return nil
}

func (r *translatorRun) translateParts(ctx context.Context) error {
	req := r.newSample()
	a, err := r.wantAnswer(ctx, req)
	if err != nil {
		return err
	}
	if len(a.Parts) != len(req.Parts) {
		return fmt.Errorf("%d parts for %d", len(a.Parts), len(req.Parts))
	}
	for i, p := range a.Parts {
		if p.Name != req.Parts[i].Name || p.Text == req.Parts[i].Text {
			return fmt.Errorf("the part %q is answered by %q: %.80q", req.Parts[i].Name, p.Name, p.Text)
		}
	}
	return nil
}

// keepMasks checks that what is masked comes back.
func (r *translatorRun) keepMasks(ctx context.Context) error {
	req := r.newSample()
	marks := []string{translator.Mask(1), translator.Mask(2), translator.Mask(13)}
	req.Parts = []translator.Part{{Name: "body", Markdown: true,
		Text: fmt.Sprintf("Use %s instead of %s.\n\nThanks to %s for the report.\n", marks[0], marks[1], marks[2])}}
	a, err := r.wantAnswer(ctx, req)
	if err != nil {
		return err
	}
	for _, mark := range marks {
		if strings.Count(a.Parts[0].Text, mark) != 1 {
			return fmt.Errorf("the mask %s is not in the answer exactly once: %.200q", mark, a.Parts[0].Text)
		}
	}
	return nil
}

func (r *translatorRun) checkSummarize(ctx context.Context) error {
	req := r.newSample()
	req.Task = translator.Summarize
	a, err := r.wantAnswer(ctx, req)
	if err != nil || a.Insufficient {
		return err
	}
	if len(a.Parts) != 2 || a.Parts[0].Name != translator.PartTitle || a.Parts[1].Name != translator.PartBody {
		return fmt.Errorf("a summary has the parts title and body: %+v", a.Parts)
	}
	if n := strings.Count("\n"+a.Parts[1].Text, "\n- "); n < 1 || n > 4 {
		return fmt.Errorf("the body of a summary is a list of one to four items: %.200q", a.Parts[1].Text)
	}
	return nil
}

func (r *translatorRun) checkConcurrency(ctx context.Context) error {
	return suite.RunTogether(8, func(int) error {
		return suite.ErrorAlone(r.wantAnswer(ctx, r.newSample()))
	})
}

// breakService brings a fault about.
func (r *translatorRun) breakService(fault TranslatorFault) (undo func(), err error) {
	if r.cfg.Fault == nil {
		return nil, suite.Skip("the service cannot be made to fail")
	}
	if undo = r.cfg.Fault(fault); undo == nil {
		return nil, suite.Skip("the service cannot fail so")
	}
	return undo, nil
}

// duringFault makes a request at an instance of its own, so that a cool-down ends with it.
func (r *translatorRun) duringFault(ctx context.Context, fault TranslatorFault) (*translator.Answer, error) {
	id := "fault-" + string(fault)
	if err := r.MakeInstance(ctx, id); err != nil {
		return nil, err
	}
	defer r.DropAfter(ctx, id)
	undo, err := r.breakService(fault)
	if err != nil {
		return nil, err
	}
	defer undo()
	return r.askTranslator(ctx, id, r.newSample())
}

// failsWith returns a check of how a request ends while a fault lasts.
func (r *translatorRun) failsWith(fault TranslatorFault, reason string, code ...codes.Code) func(context.Context) error {
	return func(ctx context.Context) error { return r.wantFailure(ctx, fault, reason, code) }
}

func (r *translatorRun) wantFailure(ctx context.Context, fault TranslatorFault, reason string, code []codes.Code) error {
	_, err := r.duringFault(ctx, fault)
	var s suite.Skip
	if errors.As(err, &s) || errors.Is(err, suite.ErrPanic) {
		return err
	}
	e := errs.From(err)
	if e == nil || e.Source != errs.Upstream || reason != "" && e.Reason != reason {
		return fmt.Errorf("a request should end with %v %s, source upstream; got: %v", code, reason, err)
	}
	for _, c := range code {
		if e.Code == c {
			if reason == translator.ReasonRateLimited && e.RetryAfter <= 0 {
				return fmt.Errorf("the error does not say when to try again: %w", err)
			}
			return nil
		}
	}
	return fmt.Errorf("a request should end with %v %s; got %s: %w", code, reason, e.Code, err)
}

// badAnswer checks that what a model says is not passed on when it is not an answer, and that its cost is told.
func (r *translatorRun) badAnswer(ctx context.Context) error {
	a, err := r.duringFault(ctx, TranslatorBadAnswer)
	if err != nil {
		return err
	}
	if a.Problem == "" || len(a.Parts) > 0 {
		return fmt.Errorf("an unusable answer of a model should be a problem without parts: %+v", a)
	}
	return checkAttempts(a, translator.OutcomeBadAnswer)
}

// cutShort ends a call early. That the plugin's side has ended too is seen by removing the instance, which waits for calls.
func (r *translatorRun) cutShort(ctx, short context.Context) error {
	undo, err := r.breakService(TranslatorSlow)
	if err != nil {
		return err
	}
	defer undo()
	return r.CutCall(ctx, func(id string) error { return suite.ErrorAlone(r.askTranslator(short, id, r.newSample())) })
}
