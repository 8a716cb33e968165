package access

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/lists"
	"github.com/patchbay-dev/patchbay/core/services/search/audit"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Dashboard is what the tokens of a user have used together.
type Dashboard struct {
	Tokens              int         `json:"tokens" doc:"How many tokens the user has."`
	RequestRate         RequestRate `json:"requestRate"`
	HourlyCreditsUsed   int64       `json:"hourlyCreditsUsed"`
	HourlyCreditsLimit  int64       `json:"hourlyCreditsLimit"`
	DailyCreditsUsed    int64       `json:"dailyCreditsUsed"`
	DailyCreditsLimit   int64       `json:"dailyCreditsLimit"`
	MonthlyCreditsUsed  int64       `json:"monthlyCreditsUsed"`
	MonthlyCreditsLimit int64       `json:"monthlyCreditsLimit"`
	DailySuccess        int64       `json:"dailySuccess"`
	DailyFailure        int64       `json:"dailyFailure"`
	MonthlySuccess      int64       `json:"monthlySuccess"`
	LastActivity        *api.Time   `json:"lastActivity" nullable:"true"`
}

// RequestRate is the rolling window of requests.
type RequestRate struct {
	Used          int64  `json:"used"`
	Limit         int64  `json:"limit"`
	WindowMinutes int64  `json:"windowMinutes"`
	Scope         string `json:"scope" enum:"user"`
}

// DashboardOf is what the tokens of a user have used together.
func (a *Access) DashboardOf(ctx context.Context, user string) (Dashboard, error) {
	records, err := a.Store.TokensOf(ctx, user)
	if err != nil {
		return Dashboard{}, err
	}
	ids := lists.ConvertAll(records, func(r tokenRecord) string { return r.ID })
	if len(ids) > 0 {
		if err := a.RefreshUse(ctx, ids...); err != nil {
			return Dashboard{}, err
		}
	}
	ever, err := a.requests.LifetimeSums(ctx, audit.ScopeToken, ids)
	if err != nil {
		return Dashboard{}, err
	}
	out := Dashboard{Tokens: len(records), RequestRate: RequestRate{WindowMinutes: ringMinutes, Scope: "user"}}
	var last int64
	for _, r := range records {
		t := a.table.Get(r.ID)
		if t == nil {
			t = a.table.newToken(r)
		}
		u, l := t.Snapshot(a.now()), t.Limits
		out.RequestRate.Used += u.HourlyRequests
		out.RequestRate.Limit += l.RequestsHour
		out.HourlyCreditsUsed, out.HourlyCreditsLimit = out.HourlyCreditsUsed+u.HourlyCredits, out.HourlyCreditsLimit+l.CreditsHour
		out.DailyCreditsUsed, out.DailyCreditsLimit = out.DailyCreditsUsed+u.DailyCredits, out.DailyCreditsLimit+l.CreditsDay
		out.MonthlyCreditsUsed, out.MonthlyCreditsLimit = out.MonthlyCreditsUsed+u.MonthlyCredits, out.MonthlyCreditsLimit+l.CreditsMonth
		out.DailySuccess, out.DailyFailure, out.MonthlySuccess = out.DailySuccess+u.DailySuccess, out.DailyFailure+u.DailyError,
			out.MonthlySuccess+u.MonthlySuccess
		last = max(last, ever[r.ID].LastAt)
	}
	out.LastActivity = api.OptionalTime(last)
	return out, nil
}

// TopToken is a token with much use.
type TopToken struct {
	ID       string `json:"id"`
	Note     string `json:"note" example:"Documentation bot"`
	Requests int64  `json:"requests"`
	Credits  int64  `json:"credits"`
	Errors   int64  `json:"errors"`
	Refused  int64  `json:"refused"`
}

// TopTokens are the tokens that used most in the UTC day or month, by credits and then by requests. A core alone reads it from the
// counters in memory.
func (a *Access) TopTokens(ctx context.Context, window string, limit int) ([]TopToken, error) {
	now := a.now()
	if err := a.RefreshUse(ctx); err != nil {
		return nil, err
	}
	top := []TopToken{}
	for id, p := range a.table.usedPeriods(now, window == "month") {
		if n := p.successes + p.errors; n+p.refused > 0 {
			top = append(top, TopToken{ID: id, Requests: n, Credits: p.credits, Errors: p.errors, Refused: p.refused})
		}
	}
	slices.SortFunc(top, func(a, b TopToken) int {
		return cmp.Or(cmp.Compare(b.Credits, a.Credits), cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.ID, b.ID))
	})
	top = top[:min(limit, len(top))]
	ids := lists.ConvertAll(top, func(t TopToken) string { return t.ID })
	notes, err := a.Store.tokenNotes(ctx, ids)
	for i := range top {
		top[i].Note = notes[top[i].ID]
	}
	return top, err
}

// RestoreCounters rebuilds the windows of every token from the stored use.
func (a *Access) RestoreCounters(ctx context.Context) error {
	// The built-in token is stored nowhere, but what was used without a token is.
	a.table.BuiltinToken()
	if err := a.startLeases(ctx); err != nil {
		return err
	}
	if a.leases != nil {
		return a.RefreshUse(ctx)
	}
	now := a.now()
	return a.eachUse(ctx, now, nil, func(u audit.UsageRecord) {
		if t := a.table.Get(u.TokenID); t != nil {
			t.counter.restoreMinute(now, u)
		}
	})
}

// RefreshUse reads what tokens, of the ids or all, have used at other cores. For a core alone it does nothing.
func (a *Access) RefreshUse(ctx context.Context, ids ...string) error {
	if a.leases == nil {
		return nil
	}
	now := a.now()
	totals := map[string]*counter{}
	err := a.eachUse(ctx, now, ids, func(u audit.UsageRecord) {
		if totals[u.TokenID] == nil {
			totals[u.TokenID] = &counter{}
		}
		totals[u.TokenID].restoreMinute(now, u)
	})
	if err != nil {
		return fmt.Errorf("read what tokens have used: %w", err)
	}
	for id, total := range totals {
		if t := a.table.Get(id); t != nil {
			t.setTotal(now, total)
		}
	}
	return nil
}

// eachUse visits the stored use of tokens, of the ids or all: single minutes for the rolling hour, sums for the rest of the day and the
// month.
func (a *Access) eachUse(ctx context.Context, now time.Time, ids []string, visit func(audit.UsageRecord)) error {
	hour, day, month := now.Unix()/60-ringMinutes+1, dayStart(now), monthStart(now)
	sums, err := a.Store.UsageSince(ctx, hour, ids)
	if err != nil {
		return err
	}
	for _, span := range [][2]int64{{month, min(day, hour)}, {max(day, month), hour}} {
		if span[0] >= span[1] {
			continue
		}
		part, err := a.Store.UsageSums(ctx, span[0], span[1], ids)
		if err != nil {
			return err
		}
		sums = append(sums, part...)
	}
	for _, u := range sums {
		visit(u)
	}
	return nil
}

// PurgeLeases deletes what was taken of limits in windows that are over.
func (a *Access) PurgeLeases(ctx context.Context) error {
	if a.leases == nil {
		return nil
	}
	return a.leases.store.purge(ctx, a.leases.databaseTime())
}

// CloseLeases gives back what this core has left of its tokens' limits. No request may be under way.
func (a *Access) CloseLeases() {
	if a.leases != nil {
		a.leases.close()
	}
}

// startLeases begins to count what tokens use: in leases where other cores share the limits, else in memory alone.
func (a *Access) startLeases(ctx context.Context) error {
	switch {
	case a.leases != nil:
		return a.leases.start(ctx, func(token string) *lease {
			if t := a.table.Get(token); t != nil {
				return t.lease
			}
			return nil
		})
	case a.store.Dialect() == store.Postgres:
		return (&leaseStore{a.store}).dropAll(ctx)
	}
	return nil
}
