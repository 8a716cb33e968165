package translate

import (
	"context"
	"crypto/rand"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/store"
)

// budgetError says that the budget of the day is reached.
type budgetError struct{ text string }

func (e *budgetError) Error() string { return e.text }

// budget bounds what the calls of models take in a day, and when they are made. Where several cores share the database, it is one for all.
type budget struct {
	store   *store.Store
	cluster *cluster.Cluster
	log     hclog.Logger
	now     func() time.Time

	mu sync.Mutex
	// reserved are the tokens of calls that are under way, and paused is until when no call is made, for a process alone.
	reserved int64
	paused   time.Time
}

// Usage is what calls of models have taken.
type Usage struct {
	Calls, InputTokens, OutputTokens, CostMicros int64
}

// UsageSince returns what calls have taken since a time.
func (b *budget) UsageSince(ctx context.Context, since time.Time) (u Usage, err error) {
	err = b.store.DB(ctx).Raw("SELECT COUNT(*) AS calls, COALESCE(SUM(input_tokens), 0) AS input_tokens, COALESCE(SUM(output_tokens), 0) AS output_tokens, COALESCE(SUM(cost_micros), 0) AS cost_micros "+
		"FROM release_model_calls WHERE at >= ?", store.Millis(since)).Scan(&u).Error
	return u, err
}

// isLimited reports whether there is a budget.
func (set Settings) isLimited() bool { return set.DailyTokens > 0 || set.DailyCostMicros > 0 }

// reserveTokens sets tokens of the day aside for a call, or returns a budgetError.
func (b *budget) reserveTokens(ctx context.Context, set Settings, tokens int64) (release func(), err error) {
	if b.cluster.Shared() && set.isLimited() {
		return b.reserveShared(ctx, set, tokens)
	}
	if err := b.checkBudget(ctx, set, tokens); err != nil {
		return nil, err
	}
	b.mu.Lock()
	b.reserved += tokens
	b.mu.Unlock()
	return func() {
		b.mu.Lock()
		b.reserved -= tokens
		b.mu.Unlock()
	}, nil
}

// checkBudget returns a budgetError unless tokens are left of the day.
func (b *budget) checkBudget(ctx context.Context, set Settings, tokens int64) error {
	left, err := b.budgetLeft(ctx, set)
	if err == nil && tokens > left {
		return &budgetError{"the budget of today is used up; it begins anew at 00:00 UTC"}
	}
	return err
}

// reserveShared is reserve where several cores share the budget. What a core has reserved is free again when it is lost, and when no job
// can go on with it any more.
func (b *budget) reserveShared(ctx context.Context, set Settings, tokens int64) (release func(), err error) {
	id, epoch, clock := rand.Text(), b.cluster.Epoch(), store.ClockSQL(b.store)
	err = b.store.Tx(ctx, "reserve tokens", func(ctx context.Context) error {
		if err := b.cluster.Fence(ctx, epoch); err != nil {
			return err
		}
		w := b.store.Writer(ctx)
		// The row is locked: the cores reserve one after the other.
		if err := w.Exec("UPDATE release_model_budget SET turn = turn + 1").Error; err != nil {
			return err
		}
		if err := w.Exec("DELETE FROM release_model_reservations WHERE until_at <= " + clock).Error; err != nil {
			return err
		}
		if err := b.checkBudget(ctx, set, tokens); err != nil {
			return err
		}
		return w.Exec("INSERT INTO release_model_reservations (id, node, epoch, tokens, until_at) VALUES (?, ?, ?, ?, "+clock+" + ?)", id,
			b.cluster.ID(), epoch, tokens, jobTimeout.Milliseconds()).Error
	})
	if err != nil {
		return nil, err
	}
	return func() {
		err := b.store.Tx(context.WithoutCancel(ctx), "release tokens", func(ctx context.Context) error {
			return b.store.Writer(ctx).Exec("DELETE FROM release_model_reservations WHERE id = ?", id).Error
		})
		if err != nil {
			b.log.Warn("tokens of the budget stay reserved for a while", "tokens", tokens, "error", err)
		}
	}, nil
}

// budgetLeft returns how many tokens calls may take today. Where several cores share the budget, the day is that of the database.
func (b *budget) budgetLeft(ctx context.Context, set Settings) (int64, error) {
	if !set.isLimited() {
		return math.MaxInt64, nil
	}
	now, err := b.readClock(ctx)
	if err != nil {
		return 0, err
	}
	reserved, err := b.countReserved(ctx)
	if err != nil {
		return 0, err
	}
	u, err := b.UsageSince(ctx, store.FromMillis(now).UTC().Truncate(24*time.Hour))
	switch {
	case err != nil || set.DailyCostMicros > 0 && u.CostMicros >= set.DailyCostMicros:
		return 0, err
	case set.DailyTokens <= 0:
		return math.MaxInt64, nil
	}
	return set.DailyTokens - u.InputTokens - u.OutputTokens - reserved, nil
}

// countReserved returns the tokens of calls that are under way. Read before the use, it never misses a call that ends meanwhile.
func (b *budget) countReserved(ctx context.Context) (tokens int64, err error) {
	if !b.cluster.Shared() {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.reserved, nil
	}
	err = b.store.DB(ctx).Raw("SELECT COALESCE(SUM(r.tokens), 0)::bigint FROM release_model_reservations r JOIN core_nodes n ON n.id = r.node" +
		" AND n.epoch = r.epoch AND n.ended_at = 0 WHERE r.until_at > " + store.ClockSQL(b.store)).Scan(&tokens).Error
	if err != nil {
		return 0, fmt.Errorf("read the reserved tokens: %w", err)
	}
	return tokens, nil
}

// readClock returns the time in Unix milliseconds by which the budget is counted: that of the database where several cores share it.
func (b *budget) readClock(ctx context.Context) (now int64, err error) {
	if !b.cluster.Shared() {
		return store.Millis(b.now()), nil
	}
	err = b.store.DB(ctx).Raw("SELECT " + store.ClockSQL(b.store)).Scan(&now).Error
	return now, err
}

// pausedUntil returns until when no call is made; zero if calls are made.
func (b *budget) pausedUntil(ctx context.Context) (time.Time, error) {
	if !b.cluster.Shared() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.paused.After(b.now()) {
			return b.paused, nil
		}
		return time.Time{}, nil
	}
	var until []int64
	err := b.store.DB(ctx).Raw("SELECT paused_until FROM release_model_budget WHERE paused_until > " + store.ClockSQL(b.store)).Scan(&until).Error
	if err != nil || len(until) == 0 {
		return time.Time{}, err
	}
	return store.FromMillis(until[0]), nil
}

// pauseCalls stops calls for a time.
func (b *budget) pauseCalls(ctx context.Context, wait time.Duration) error {
	if !b.cluster.Shared() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if until := b.now().Add(wait); until.After(b.paused) {
			b.paused = until
		}
		return nil
	}
	return b.store.Tx(ctx, "pause calls of models", func(ctx context.Context) error {
		return b.store.Writer(ctx).Exec("UPDATE release_model_budget SET paused_until = GREATEST(paused_until, "+store.ClockSQL(b.store)+" + ?)",
			wait.Milliseconds()).Error
	})
}
