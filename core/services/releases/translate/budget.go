package translate

import (
	"context"
	"crypto/rand"
	"fmt"
	"math"
	"time"

	"github.com/patchbay-dev/patchbay/core/store"
)

// budgetError says that the budget of the day is reached.
type budgetError struct{ text string }

func (e *budgetError) Error() string { return e.text }

// isLimited reports whether there is a budget.
func (set Settings) isLimited() bool { return set.DailyTokens > 0 || set.DailyCostMicros > 0 }

// reserve sets tokens of the day aside for a call, or returns a budgetError.
func (t *Translations) reserve(ctx context.Context, set Settings, tokens int64) (release func(), err error) {
	if t.cfg.Cluster.Shared() && set.isLimited() {
		return t.reserveShared(ctx, set, tokens)
	}
	if err := t.checkBudget(ctx, set, tokens); err != nil {
		return nil, err
	}
	t.mu.Lock()
	t.reserved += tokens
	t.mu.Unlock()
	return func() {
		t.mu.Lock()
		t.reserved -= tokens
		t.mu.Unlock()
	}, nil
}

// checkBudget returns a budgetError unless tokens are left of the day.
func (t *Translations) checkBudget(ctx context.Context, set Settings, tokens int64) error {
	left, err := t.budgetLeft(ctx, set)
	if err == nil && tokens > left {
		return &budgetError{"the budget of today is used up; it begins anew at 00:00 UTC"}
	}
	return err
}

// reserveShared is reserve where several cores share the budget. What a core has reserved is free again when it is lost, and when no job
// can go on with it any more.
func (t *Translations) reserveShared(ctx context.Context, set Settings, tokens int64) (release func(), err error) {
	id, epoch, clock := rand.Text(), t.cfg.Cluster.Epoch(), store.ClockSQL(t.store)
	err = t.store.Tx(ctx, "reserve tokens", func(ctx context.Context) error {
		if err := t.cfg.Cluster.Fence(ctx, epoch); err != nil {
			return err
		}
		w := t.store.Writer(ctx)
		// The row is locked: the cores reserve one after the other.
		if err := w.Exec("UPDATE release_model_budget SET turn = turn + 1").Error; err != nil {
			return err
		}
		if err := w.Exec("DELETE FROM release_model_reservations WHERE until_at <= " + clock).Error; err != nil {
			return err
		}
		if err := t.checkBudget(ctx, set, tokens); err != nil {
			return err
		}
		return w.Exec("INSERT INTO release_model_reservations (id, node, epoch, tokens, until_at) VALUES (?, ?, ?, ?, "+clock+" + ?)", id,
			t.cfg.Cluster.ID(), epoch, tokens, jobTimeout.Milliseconds()).Error
	})
	if err != nil {
		return nil, err
	}
	return func() {
		err := t.store.Tx(context.WithoutCancel(ctx), "release tokens", func(ctx context.Context) error {
			return t.store.Writer(ctx).Exec("DELETE FROM release_model_reservations WHERE id = ?", id).Error
		})
		if err != nil {
			t.cfg.Logger.Warn("tokens of the budget stay reserved for a while", "tokens", tokens, "error", err)
		}
	}, nil
}

// budgetLeft returns how many tokens calls may take today. Where several cores share the budget, the day is that of the database.
func (t *Translations) budgetLeft(ctx context.Context, set Settings) (int64, error) {
	if !set.isLimited() {
		return math.MaxInt64, nil
	}
	now, err := t.readClock(ctx)
	if err != nil {
		return 0, err
	}
	reserved, err := t.countReserved(ctx)
	if err != nil {
		return 0, err
	}
	u, err := t.UsageSince(ctx, store.FromMillis(now).UTC().Truncate(24*time.Hour))
	switch {
	case err != nil || set.DailyCostMicros > 0 && u.CostMicros >= set.DailyCostMicros:
		return 0, err
	case set.DailyTokens <= 0:
		return math.MaxInt64, nil
	}
	return set.DailyTokens - u.InputTokens - u.OutputTokens - reserved, nil
}

// countReserved returns the tokens of calls that are under way. Read before the use, it never misses a call that ends meanwhile.
func (t *Translations) countReserved(ctx context.Context) (tokens int64, err error) {
	if !t.cfg.Cluster.Shared() {
		t.mu.Lock()
		defer t.mu.Unlock()
		return t.reserved, nil
	}
	err = t.store.DB(ctx).Raw("SELECT COALESCE(SUM(r.tokens), 0)::bigint FROM release_model_reservations r JOIN core_nodes n ON n.id = r.node" +
		" AND n.epoch = r.epoch AND n.ended_at = 0 WHERE r.until_at > " + store.ClockSQL(t.store)).Scan(&tokens).Error
	if err != nil {
		return 0, fmt.Errorf("read the reserved tokens: %w", err)
	}
	return tokens, nil
}

// readClock returns the time in Unix milliseconds by which the budget is counted: that of the database where several cores share it.
func (t *Translations) readClock(ctx context.Context) (now int64, err error) {
	if !t.cfg.Cluster.Shared() {
		return store.Millis(t.cfg.Now()), nil
	}
	err = t.store.DB(ctx).Raw("SELECT " + store.ClockSQL(t.store)).Scan(&now).Error
	return now, err
}

// pausedUntil returns until when no call is made; zero if calls are made.
func (t *Translations) pausedUntil(ctx context.Context) (time.Time, error) {
	if !t.cfg.Cluster.Shared() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.paused.After(t.cfg.Now()) {
			return t.paused, nil
		}
		return time.Time{}, nil
	}
	var until []int64
	err := t.store.DB(ctx).Raw("SELECT paused_until FROM release_model_budget WHERE paused_until > " + store.ClockSQL(t.store)).Scan(&until).Error
	if err != nil || len(until) == 0 {
		return time.Time{}, err
	}
	return store.FromMillis(until[0]), nil
}

// pauseCalls stops calls for a time.
func (t *Translations) pauseCalls(ctx context.Context, wait time.Duration) error {
	if !t.cfg.Cluster.Shared() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if until := t.cfg.Now().Add(wait); until.After(t.paused) {
			t.paused = until
		}
		return nil
	}
	return t.store.Tx(ctx, "pause calls of models", func(ctx context.Context) error {
		return t.store.Writer(ctx).Exec("UPDATE release_model_budget SET paused_until = GREATEST(paused_until, "+store.ClockSQL(t.store)+" + ?)",
			wait.Milliseconds()).Error
	})
}
