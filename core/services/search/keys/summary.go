package keys

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/search/audit"
)

// Summary is what everybody may know about the service.
type Summary struct {
	TotalRequests         int64     `json:"total_requests" example:"1234"`
	SuccessCount          int64     `json:"success_count"`
	ErrorCount            int64     `json:"error_count"`
	QuotaExhaustedCount   int64     `json:"quota_exhausted_count" doc:"Requests that a limit has turned away."`
	ActiveKeys            int       `json:"active_keys" doc:"Keys that rest for a moment included."`
	ExhaustedKeys         int       `json:"exhausted_keys"`
	QuarantinedKeys       int       `json:"quarantined_keys" doc:"Always 0: for administrators the list of keys tells."`
	TemporaryIsolatedKeys int       `json:"temporary_isolated_keys" doc:"Always 0, as above."`
	LastActivity          *api.Time `json:"last_activity" nullable:"true"`
	TotalQuotaLimit       int64     `json:"total_quota_limit"`
	TotalQuotaRemaining   int64     `json:"total_quota_remaining"`
}

// Summary adds up all requests, and tells about the key pool what everybody may know.
func (k *Keys) Summary(ctx context.Context) (Summary, error) {
	ever, err := k.cfg.Requests.LifetimeSums(ctx, audit.ScopeAll, []string{""})
	if err != nil {
		return Summary{}, err
	}
	limit, left, err := k.Store.quotaTotals(ctx)
	if err != nil {
		return Summary{}, err
	}
	t, keys := ever[""], k.pool.CountStates()
	return Summary{
		TotalRequests: t.Requests + t.Refused, SuccessCount: t.Successes, ErrorCount: t.Errors, QuotaExhaustedCount: t.Refused,
		ActiveKeys: keys[KeyActive] + keys[KeyCooling], ExhaustedKeys: keys[KeyExhausted], LastActivity: api.OptionalTime(t.LastAt),
		TotalQuotaLimit: limit, TotalQuotaRemaining: left,
	}, nil
}
