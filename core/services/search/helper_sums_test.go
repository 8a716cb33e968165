package search

import (
	"context"
	"errors"

	"github.com/patchbay-dev/patchbay/core/services/search/access"
)

// sums are the totals of a token in the audit and in the stored counters.
type sums struct{ AuditRows, AuditCredits, Requests, Credits int64 }

func (e *env) sums(tokenID string) (s sums) {
	e.Helper()
	db := e.store.DB(context.Background())
	err := errors.Join(
		db.Raw("SELECT COUNT(*), COALESCE(SUM(credits),0) FROM search_requests WHERE token_id = ? AND outcome <> 3",
			tokenID).Row().Scan(&s.AuditRows, &s.AuditCredits),
		db.Raw("SELECT COALESCE(SUM(requests),0), COALESCE(SUM(credits),0) FROM quota_usage WHERE token_id = ?", tokenID).Row().Scan(&s.Requests,
			&s.Credits),
	)
	if err != nil {
		e.Fatal(err)
	}
	return s
}

func (e *env) used(svc *Service, tokenID string) access.Used {
	e.Helper()
	now := e.clock.Now
	if e.now != nil {
		now = e.now
	}
	return svc.Table().Get(tokenID).Snapshot(now())
}
