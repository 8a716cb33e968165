package translation

import (
	"context"
	"strconv"
	"time"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/releases/translate"
	"github.com/patchbay-dev/patchbay/sdk/translator"
)

// ModelUse is what administrators see of the language models.
type ModelUse struct {
	// Configured says that the settings name a translator. Problem says why its models are not known, "" for nothing.
	Configured bool
	Problem    string
	Models     []translator.Model
	// Today is what the calls since 00:00 UTC have taken; DailyTokens and DailyCost are its limits, 0 for none. Period is the same
	// of the calls that are kept.
	Today, Period translate.Usage
	DailyTokens   int64
	DailyCost     float64
	// Calls are the latest first; Next is the cursor of those before, "" for none.
	Calls []translate.Call
	Next  string
}

const (
	// shownCalls is how many calls of models a page has.
	shownCalls = 50
	// listModelsTimeout bounds the question which models there are.
	listModelsTimeout = 3 * time.Second
)

// ModelUse returns what language models do for the service, to administrators. cursor is "" or the Next of the page before.
func (tr *Translator) ModelUse(ctx context.Context, cursor string) (out ModelUse, err error) {
	if p := auth.From(ctx); p == nil || !p.Admin() {
		return out, fault.New(fault.Forbidden, "This is for administrators.")
	}
	before := int64(0)
	if cursor != "" {
		if before, err = strconv.ParseInt(cursor, 10, 64); err != nil || before <= 0 {
			return out, fault.New(fault.BadRequest, "cursor must come from the previous page.").With("field", "cursor")
		}
	}
	set := tr.cfg.Settings()
	out.DailyTokens, out.DailyCost = set.DailyTokens, set.DailyCost
	if out.Configured = set.Model != nil; out.Configured {
		asking, cancel := context.WithTimeout(ctx, listModelsTimeout)
		defer cancel()
		if out.Models, err = set.Model.ListModels(asking); err != nil {
			out.Problem = fault.As(err).Message
		}
	}
	if out.Today, err = tr.cfg.Translations.UsageSince(ctx, time.Now().UTC().Truncate(24*time.Hour)); err != nil {
		return out, err
	}
	if out.Period, err = tr.cfg.Translations.UsageSince(ctx, time.Time{}); err != nil {
		return out, err
	}
	out.Calls, err = tr.cfg.Translations.ListCalls(ctx, before, shownCalls+1)
	if len(out.Calls) > shownCalls {
		out.Calls = out.Calls[:shownCalls]
		out.Next = strconv.FormatInt(out.Calls[shownCalls-1].ID, 10)
	}
	return out, err
}
