package sync

import (
	"context"
	gosync "sync"
	"time"

	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
)

// Limit is what is known of the limit of a code host for one token.
type Limit struct {
	// Host is the reference of the code host's instance; AccountID is the account whose token it is, "" for calls without one.
	Host, AccountID string
	// Quota is what the host said last, at SeenAt; zero if it has said nothing since the start.
	Quota  codehost.Quota
	SeenAt time.Time
	// PausedUntil is until when the host is left alone; zero for no pause.
	PausedUntil time.Time
}

// maxLimits bounds how many limits are remembered.
const maxLimits = 10_000

type limitKey struct{ host, accountID string }

// limits are what code hosts said last of their limits. The zero value is ready to use.
type limits struct {
	mu   gosync.Mutex
	seen map[limitKey]Limit
}

// note remembers what a host has said.
func (l *limits) note(c caller, q codehost.Quota, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seen == nil || len(l.seen) >= maxLimits {
		l.seen = map[limitKey]Limit{}
	}
	l.seen[limitKey{c.host.Ref, c.accountID}] = Limit{Host: c.host.Ref, AccountID: c.accountID, Quota: q, SeenAt: now}
}

// Limits returns what is known of the limits of code hosts, and which of them are left alone, in no order.
func (s *Syncer) Limits(ctx context.Context) ([]Limit, error) {
	var rows []pauseRow
	if err := s.cfg.Store.DB(ctx).Where("until > ?", store.Millis(s.cfg.Now())).Find(&rows).Error; err != nil {
		return nil, err
	}
	paused := map[limitKey]time.Time{}
	for _, r := range rows {
		paused[limitKey{r.Host, r.UserID}] = store.FromMillis(r.Until)
	}
	s.limits.mu.Lock()
	defer s.limits.mu.Unlock()
	var out []Limit
	for key, limit := range s.limits.seen {
		limit.PausedUntil = paused[key]
		delete(paused, key)
		out = append(out, limit)
	}
	for key, until := range paused {
		out = append(out, Limit{Host: key.host, AccountID: key.accountID, PausedUntil: until})
	}
	return out, nil
}
