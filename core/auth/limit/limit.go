// Package limit bounds how often something may be tried by somebody: token buckets in memory, as many as are told, or in the database where
// several cores count together.
package limit

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Config says how much is allowed.
type Config struct {
	// Burst is how many tries may come at once; Every is the time in which one more becomes free.
	Burst int
	Every time.Duration
	// Keys is the largest number of buckets; 0 means 10,000. When more are needed, one that is nearly full goes.
	Keys int
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Store, on a database that several cores share, has the buckets of all of them, under Name. Tries are counted by its clock.
	Store *store.Store
	Name  string
}

const (
	defaultKeys = 10_000
	// looked is how many buckets are looked at to find one to give up, so that a full table costs little.
	looked = 16
)

// Limiter keeps a bucket for each key. Its methods may be called from several goroutines.
type Limiter struct {
	cfg     Config
	mu      sync.Mutex
	buckets map[string]bucket
}

// bucket is what was left at a time.
type bucket struct {
	left float64
	at   time.Time
}

// New makes a limiter. Burst and Every must be positive.
func New(cfg Config) (*Limiter, error) {
	if cfg.Burst < 1 || cfg.Every <= 0 || cfg.Keys < 0 {
		return nil, errors.New("a limit needs a positive burst and a positive time")
	}
	if cfg.Keys == 0 {
		cfg.Keys = defaultKeys
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Limiter{cfg: cfg, buckets: map[string]bucket{}}, nil
}

// Take uses one try up. If none is left it says how long to wait for the next, and uses nothing.
func (l *Limiter) Take(key string) (wait time.Duration, ok bool) {
	if l.isShared() {
		if wait, ok, known := l.takeShared(key); known {
			return wait, ok
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.cfg.Now()
	b := l.refillBucket(key, now)
	if b.left < 1 {
		return l.waitFor(b), false
	}
	b.left--
	l.storeBucket(key, b)
	return 0, true
}

// Left reports whether there is a try left, without using it; if not, how long to wait.
func (l *Limiter) Left(key string) (wait time.Duration, ok bool) {
	if l.isShared() {
		if wait, ok, known := l.leftShared(key); known {
			return wait, ok
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.refillBucket(key, l.cfg.Now())
	return l.waitFor(b), b.left >= 1
}

// isShared reports whether the buckets are in the database.
func (l *Limiter) isShared() bool { return l.cfg.Store != nil && l.cfg.Store.Shared() }

// Len is the number of buckets in memory.
func (l *Limiter) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.buckets)
}

func (l *Limiter) waitFor(b bucket) time.Duration {
	return max(0, time.Duration((1-b.left)*float64(l.cfg.Every)))
}

// refillBucket returns the bucket of key with the attempts that have become free by now.
func (l *Limiter) refillBucket(key string, now time.Time) bucket {
	b, found := l.buckets[key]
	if !found {
		return bucket{left: float64(l.cfg.Burst), at: now}
	}
	if d := now.Sub(b.at); d > 0 {
		b.left = min(float64(l.cfg.Burst), b.left+float64(d)/float64(l.cfg.Every))
		b.at = now
	}
	return b
}

func (l *Limiter) storeBucket(key string, b bucket) {
	if _, found := l.buckets[key]; !found && len(l.buckets) >= l.cfg.Keys {
		l.makeRoom(b.at)
	}
	l.buckets[key] = b
}

// makeRoom gives up the fullest of a few buckets, and all of them that are full.
func (l *Limiter) makeRoom(now time.Time) {
	fullest, most, n := "", -1.0, 0
	for key := range l.buckets {
		b := l.refillBucket(key, now)
		if b.left >= float64(l.cfg.Burst) {
			delete(l.buckets, key)
			most = b.left
		} else if b.left > most {
			fullest, most = key, b.left
		}
		if n++; n == looked {
			break
		}
	}
	if len(l.buckets) >= l.cfg.Keys {
		delete(l.buckets, fullest)
	}
}

// Client is the key of a client address: an IPv4 address for itself, an IPv6 address for the 64 bits that one subscriber
// has to choose from. What is no address stands for itself.
func Client(addr string) string {
	return httpd.ClientNetwork(addr)
}

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
	wait, _, known = l.leftShared(key)
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
