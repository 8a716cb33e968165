package translate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/patchbay-dev/patchbay/core/services/releases/translate/prose"
	"github.com/patchbay-dev/patchbay/core/texts"
	"github.com/patchbay-dev/patchbay/sdk/translator"
)

// run translates the works of one batch.
type run struct {
	*Translations
	jobID, batchID string
	// calls are the units that are sent together, in their order.
	calls [][]*unit
}

// pendingWork is a work with its units.
type pendingWork struct {
	work *Work
	// title and body are the masked texts; chunks are those of the body.
	title, body prose.Masked
	chunks      []prose.Chunk
	units       []*unit
	// progress are the translations so far, by the key of the unit.
	progress map[string]string
	ended    bool
}

// unit is a part of a work that is translated in one call: the title, or a chunk of the body.
type unit struct {
	*pendingWork
	number     int
	text       string
	markdown   bool
	correction string
	failures   int
}

func (u *unit) key() string { return unitKey(u.number, u.text) }

// unitKey identifies a unit: its text as well, since another setting divides a text elsewhere.
func unitKey(number int, text string) string {
	sum := sha256.Sum256([]byte(text))
	return strconv.Itoa(number) + "/" + hex.EncodeToString(sum[:8])
}

func (u *unit) isDone() bool { _, ok := u.progress[u.key()]; return ok }

const (
	// maxBody is how long a text may be, in bytes.
	maxBody = 300_000
	// maxUnitFailures is how often an answer to a unit may be unusable.
	maxUnitFailures = 2
)

// addWork divides a work into units, without those that are translated already.
func (r *run) addWork(w *Work) {
	e := &pendingWork{work: w, progress: map[string]string{}}
	if w.Task == translator.Summarize || len(w.Body) > maxBody {
		r.calls = append(r.calls, []*unit{{pendingWork: e}})
		return
	}
	if w.Progress != "" {
		// Only this package writes the column.
		_ = json.Unmarshal([]byte(w.Progress), &e.progress)
	}
	e.title, e.body = prose.MaskText(w.Title), prose.MaskMarkdown(w.Body)
	e.chunks = prose.Split(e.body.Text, r.batchTokens())
	e.addUnit(0, e.title.Text, false)
	for i, c := range e.chunks {
		e.addUnit(i+1, c.Text, true)
	}
	r.fillCalls(e)
}

func (e *pendingWork) addUnit(number int, text string, markdown bool) {
	if prose.HasWords(text) {
		e.units = append(e.units, &unit{pendingWork: e, number: number, text: text, markdown: markdown})
	}
}

// fillCalls adds the units of a work to the calls: to the last one as long as it has room.
func (r *run) fillCalls(e *pendingWork) {
	budget := r.batchTokens()
	pending := 0
	for _, u := range e.units {
		if u.isDone() {
			continue
		}
		pending++
		last := len(r.calls) - 1
		if last < 0 || r.calls[last][0].work.Task == translator.Summarize || len(r.calls[last]) >= translator.MaxParts ||
			countTokens(r.calls[last])+translator.EstimateTokens(u.text) > budget {
			r.calls = append(r.calls, nil)
			last++
		}
		r.calls[last] = append(r.calls[last], u)
	}
	if pending == 0 {
		// All is there, or there is nothing to translate: the work ends without a call.
		r.calls = append(r.calls, []*unit{{pendingWork: e, number: -1}})
	}
}

func countTokens(units []*unit) (n int64) {
	for _, u := range units {
		n += translator.EstimateTokens(u.text)
	}
	return n
}

// callAll makes the calls of the batch. Its error is that of the end of the context, or of the database.
func (r *run) callAll(ctx context.Context) error {
	for len(r.calls) > 0 {
		units := r.calls[0]
		r.calls = r.calls[1:]
		open := units[:0:0]
		for _, u := range units {
			if !u.ended {
				open = append(open, u)
			}
		}
		if len(open) == 0 {
			continue
		}
		if err := r.callUnits(ctx, open); err != nil {
			return err
		}
	}
	return nil
}

// callUnits has units translated, and ends the works that are complete.
func (r *run) callUnits(ctx context.Context, units []*unit) error {
	first := units[0]
	switch {
	case len(first.work.Body) > maxBody:
		return r.failWork(ctx, first.pendingWork, CodeTooLong, "the text has more than "+strconv.Itoa(maxBody)+" bytes")
	case first.work.Task == translator.Summarize:
		return r.summarize(ctx, first)
	case first.number < 0:
		return r.completeWork(ctx, first.pendingWork)
	}
	req := translator.Request{Task: translator.Translate, TargetLanguage: first.work.Language}
	for i, u := range units {
		req.Parts = append(req.Parts, translator.Part{Name: partName(i, u), Text: u.text, Markdown: u.markdown})
		if u.correction != "" {
			req.Correction = u.correction
		}
	}
	answer, err := r.call(ctx, req)
	if err != nil {
		return r.handleFailure(ctx, units, err)
	}
	if answer.Problem != "" {
		return r.retryUnits(ctx, units, CodeUnusable, answer.Problem)
	}
	for i, u := range units {
		text := strings.Trim(answer.Parts[i].Text, "\r\n")
		if problem := checkUnit(u, text); problem != "" {
			if err := r.retryUnits(ctx, units[i:i+1], CodeStructure, problem); err != nil {
				return err
			}
			continue
		}
		u.progress[u.key()], u.work.Model = text, answer.Model()
	}
	return r.saveProgress(ctx, units)
}

// partName names a unit within a call.
func partName(i int, u *unit) string {
	if u.markdown {
		return "body" + strconv.Itoa(i+1)
	}
	return "title" + strconv.Itoa(i+1)
}

// checkUnit returns what is wrong with a translation of a unit, "" for nothing.
func checkUnit(u *unit, text string) string {
	if problem := prose.CheckMasks(u.text, text); problem != "" {
		return problem
	}
	if u.markdown {
		return prose.Compare(u.text, text)
	}
	if strings.Contains(text, "\n") {
		return "the title has several lines"
	}
	return ""
}

// maxCorrection is how much of a problem a model is told, in bytes.
const maxCorrection = 500

// retryUnits has units translated once more, each one alone and with what was wrong, or fails their works.
func (r *run) retryUnits(ctx context.Context, units []*unit, code, problem string) error {
	for _, u := range units {
		if u.failures++; u.failures >= maxUnitFailures {
			if err := r.failWork(ctx, u.pendingWork, code, problem); err != nil {
				return err
			}
			continue
		}
		if len(units) == 1 {
			u.correction = texts.Limit(problem, maxCorrection)
		}
		r.calls = append([][]*unit{{u}}, r.calls...)
	}
	return nil
}

// saveProgress stores what is translated so far, and completes the works of which nothing is missing.
func (r *run) saveProgress(ctx context.Context, units []*unit) error {
	seen := map[*pendingWork]bool{}
	for _, u := range units {
		if seen[u.pendingWork] || u.ended {
			continue
		}
		seen[u.pendingWork] = true
		complete := true
		for _, other := range u.units {
			complete = complete && other.isDone()
		}
		if complete {
			if err := r.completeWork(ctx, u.pendingWork); err != nil {
				return err
			}
			continue
		}
		// Texts can always be encoded.
		raw, _ := json.Marshal(u.progress)
		u.work.Progress = string(raw)
		if _, err := r.saveWork(ctx, u.work, r.jobID); err != nil {
			return err
		}
	}
	return nil
}

// completeWork puts the units of a work together, and compares the whole with its source.
func (r *run) completeWork(ctx context.Context, e *pendingWork) error {
	title, ok := e.progress[unitKey(0, e.title.Text)]
	if !ok {
		title = e.title.Text
	}
	var body strings.Builder
	for i, c := range e.chunks {
		text, ok := e.progress[unitKey(i+1, c.Text)]
		if !ok {
			text = c.Text
		}
		body.WriteString(c.Join(text))
	}
	out := e.body.Restore(body.String())
	if problem := prose.Compare(e.work.Body, out); problem != "" {
		e.work.Progress = ""
		return r.failWork(ctx, e, CodeStructure, problem)
	}
	return r.endWork(ctx, e, Completed, Ready, e.title.Restore(title), out)
}

// endWork stores the end of a work.
func (r *run) endWork(ctx context.Context, e *pendingWork, state State, outcome Outcome, title, body string) error {
	e.ended = true
	w := e.work
	w.State, w.Outcome, w.OutTitle, w.OutBody, w.JobID = state, outcome, title, body, ""
	if outcome == Ready || outcome == Insufficient {
		w.ErrorCode, w.ErrorDetail, w.Progress = "", "", ""
	}
	_, err := r.saveWork(context.WithoutCancel(ctx), w, r.jobID)
	return err
}

// maxDetail is how much of an error is kept, in bytes.
const maxDetail = 1000

// failWork ends a work with an error.
func (r *run) failWork(ctx context.Context, e *pendingWork, code, detail string) error {
	e.work.ErrorCode, e.work.ErrorDetail = code, texts.Limit(detail, maxDetail)
	return r.endWork(ctx, e, Failed, Failure, "", "")
}
