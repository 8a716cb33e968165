package sync

import (
	"context"
	"time"

	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
)

// Limit is what is known of the limit of a code host for one token.
type Limit struct {
	// Host is the reference of the code host's instance; AccountID is the account whose token it is, "" for calls without one.
	Host, AccountID string
	// Quota is what the host said last, at SeenAt; zero if it has never said anything.
	Quota  codehost.Quota
	SeenAt time.Time
	// PausedUntil is until when the host is left alone; zero for no pause.
	PausedUntil time.Time
}

type limitKey struct{ host, accountID string }

// Limits returns what is known of the limits of code hosts, and which of them are left alone, in no order.
func (s *Syncer) Limits(ctx context.Context) (out []Limit, err error) {
	var pauses []pauseRow
	if err := s.cfg.Store.DB(ctx).Where("until > ?", store.Millis(s.cfg.Now())).Find(&pauses).Error; err != nil {
		return nil, err
	}
	paused := map[limitKey]time.Time{}
	for _, r := range pauses {
		paused[limitKey{r.Host, r.UserID}] = store.FromMillis(r.Until)
	}
	var rows []limitRow
	if err := s.cfg.Store.DB(ctx).Find(&rows).Error; err != nil {
		return nil, err
	}
	for _, r := range rows {
		key := limitKey{r.Host, r.AccountID}
		limit := Limit{Host: r.Host, AccountID: r.AccountID, Quota: codehost.Quota{Limit: r.CallLimit, Remaining: r.Remaining},
			SeenAt: store.FromMillis(r.SeenAt), PausedUntil: paused[key]}
		if r.ResetAt != 0 {
			limit.Quota.ResetAt = store.FromMillis(r.ResetAt)
		}
		delete(paused, key)
		out = append(out, limit)
	}
	for key, until := range paused {
		out = append(out, Limit{Host: key.host, AccountID: key.accountID, PausedUntil: until})
	}
	return out, nil
}
