package translate

import (
	"context"
	"strings"

	"github.com/patchbay-dev/patchbay/sdk/translator"
)

// maxSummarized is how much of a text is summarised, in characters.
const maxSummarized = 12_000

// partChanges is the part of a request that tells what changed since the release before.
const partChanges = "changes"

// summarize has a text summarised. If it says nothing worth telling, what changed in the release is added.
func (r *run) summarize(ctx context.Context, u *unit) error {
	w := u.work
	req := translator.Request{Task: translator.Summarize, TargetLanguage: w.Language, Correction: u.correction}
	for _, p := range []translator.Part{{Name: translator.PartTitle, Text: w.Title},
		{Name: translator.PartBody, Text: cutRunes(w.Body, maxSummarized), Markdown: true}} {
		if strings.TrimSpace(p.Text) != "" {
			req.Parts = append(req.Parts, p)
		}
	}
	answer, err := r.call(ctx, req)
	if err == nil && answer.Problem == "" && answer.Insufficient && w.ReleaseID > 0 {
		answer, err = r.summarizeChanges(ctx, w.ReleaseID, req, answer)
	}
	switch {
	case err != nil:
		return r.handleFailure(ctx, []*unit{u}, err)
	case answer.Problem != "":
		return r.retryUnits(ctx, []*unit{u}, CodeUnusable, answer.Problem)
	case answer.Insufficient:
		return r.endWork(ctx, u.pendingWork, Completed, Insufficient, "", "")
	}
	w.Model = answer.Model()
	return r.endWork(ctx, u.pendingWork, Completed, Ready, answer.Parts[0].Text, answer.Parts[1].Text)
}

// summarizeChanges asks once more with what changed since the release before, if that is known.
func (r *run) summarizeChanges(ctx context.Context, releaseID int64, req translator.Request,
	before *translator.Answer) (*translator.Answer, error) {
	changes, err := r.cfg.Compare(ctx, releaseID)
	if err != nil {
		// The notes alone decide then.
		r.cfg.Logger.Debug("the changes of a release could not be read", "error", err)
		return before, nil
	}
	if strings.TrimSpace(changes) == "" {
		return before, nil
	}
	req.Parts = append(req.Parts, translator.Part{Name: partChanges, Text: cutRunes(changes, maxSummarized)})
	return r.call(ctx, req)
}

// cutRunes returns at most n characters of a text.
func cutRunes(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}
