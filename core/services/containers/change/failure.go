package change

import (
	"embed"
	"encoding/json"
	"strings"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
	"github.com/patchbay-dev/patchbay/core/texts/locale"
)

// Failure is why a job did not succeed.
type Failure struct {
	// Code is a reason of the queue, one of the codes of this package, or the step that failed.
	Code string
	// rolledBack says that the former version runs again; it is false for a service that did not run before.
	rolledBack bool
}

// FindFailure returns why a job did not succeed, and the part of its summary that decided it; nil for none.
func FindFailure(j *queue.Job) (f Failure, part *ChangeSummary) {
	f = Failure{Code: j.Failure.Reason, rolledBack: j.State == queue.RolledBack}
	var sum UpdateSummary
	_ = json.Unmarshal(j.Result, &sum)
	part = sum.Deciding()
	f.rolledBack = f.rolledBack && (part == nil || part.Rollback == nil || !part.Rollback.Stopped)
	if f.Code == queue.ReasonCanceled && part != nil && !part.Canceled {
		// It had failed by itself before somebody canceled it.
		f.Code = ""
	}
	if allTexts().Known(f.Code) {
		return f, part
	}
	switch {
	case part == nil:
		f.Code = failure.Otherwise
		if j.Failure.Code == fault.RateLimited {
			f.Code = failure.RateLimited
		}
	case part.failureCode() == failure.RateLimited, part.failureCode() == failure.EngineAway:
		f.Code = part.failureCode()
	default:
		f.Code = part.FailureStep
	}
	return f, part
}

// failureCode returns why the failed service of a summary was not updated. Summaries that were stored without a code have its text.
func (c *ChangeSummary) failureCode() string {
	text := strings.ToLower(c.LastError)
	switch {
	case c.Reason != "":
		return c.Reason
	case strings.Contains(text, "limits requests"), strings.Contains(text, "toomanyrequests"), strings.Contains(text, "rate limit"):
		return failure.RateLimited
	}
	return failure.Otherwise
}

//go:embed locales/*.json
var localeFiles embed.FS

var allTexts = locale.ReadLazily(localeFiles)

// LocalizedText returns the failure in words.
func (f Failure) LocalizedText(lang string) string {
	code := f.Code
	if !allTexts().Known(code) {
		code = failure.Otherwise
	}
	text := allTexts().Text(lang, code)
	if f.rolledBack {
		return allTexts().Text(lang, "failure.restored", "Failure", text)
	}
	return text
}
