package limit

import (
	"context"
	"time"

	"github.com/patchbay-dev/patchbay/core/store"
)

// sharedTime bounds a look at the buckets of all cores. After that, and while the database fails, a core counts for itself.
const sharedTime = 3 * time.Second

// Purge deletes the shared buckets that were not used for a time in which all become full again.
func Purge(ctx context.Context, s *store.Store, after time.Duration) error {
	if !s.Shared() {
		return nil
	}
	return s.Tx(ctx, "forget tries", func(ctx context.Context) error {
		return s.Writer(ctx).Exec("DELETE FROM rate_buckets WHERE at < "+store.ClockSQL(s)+" - ?", after.Milliseconds()).Error
	})
}

// takeShared is Take over all cores. It reports false for known if the database does not tell.
func (l *Limiter) takeShared(key string) (wait time.Duration, ok, known bool) {
	ctx, cancel := context.WithTimeout(context.Background(), sharedTime)
	defer cancel()
	clock := store.ClockSQL(l.cfg.Store)
	free := "LEAST(?, b.free + GREATEST(0, " + clock + " - b.at) / ?)"
	burst, every := float64(l.cfg.Burst), float64(l.cfg.Every.Milliseconds())
	var left []float64
	err := l.cfg.Store.Tx(ctx, "count a try", func(ctx context.Context) error {
		return l.cfg.Store.Writer(ctx).Raw("INSERT INTO rate_buckets AS b (name, key, free, at) VALUES (?, ?, ?, "+clock+
			") ON CONFLICT (name, key) DO UPDATE SET free = "+free+" - 1, at = "+clock+" WHERE "+free+" >= 1 RETURNING free",
			l.cfg.Name, key, burst-1, burst, every, burst, every).Scan(&left).Error
	})
	if err != nil {
		return 0, false, false
	}
	if len(left) > 0 {
		return 0, true, true
	}
	wait, ok, known = l.leftShared(key)
	return max(wait, time.Millisecond), false, known
}

// leftShared is Left over all cores. It reports false for known if the database does not tell.
func (l *Limiter) leftShared(key string) (wait time.Duration, ok, known bool) {
	ctx, cancel := context.WithTimeout(context.Background(), sharedTime)
	defer cancel()
	var rows []struct{ Free, Passed float64 }
	err := l.cfg.Store.DB(ctx).Raw("SELECT free, GREATEST(0, "+store.ClockSQL(l.cfg.Store)+" - at) AS passed FROM rate_buckets WHERE name = ? AND key = ?",
		l.cfg.Name, key).Scan(&rows).Error
	if err != nil {
		return 0, false, false
	}
	b := bucket{left: float64(l.cfg.Burst)}
	if len(rows) > 0 {
		b.left = min(b.left, rows[0].Free+rows[0].Passed/float64(l.cfg.Every.Milliseconds()))
	}
	return l.waitFor(b), b.left >= 1, true
}
