// Package cluster knows the cores that use one database: who is there, who leads in what, what is locked, and what the others have
// changed. A core alone is a cluster of one node, and everything here works at once for it.
//
// Each node has a row with a lease, measured by the database's clock. A node whose lease has ended is taken for dead by whoever notices
// first: its epoch rises, which it learns when it next confirms its lease, and what it owned is given to others in the same transaction.
// A node that could not confirm its lease for a while stops its work before that, by its own monotonic clock.
package cluster

import (
	"cmp"
	"context"
	"crypto/rand"
	"embed"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/store"
)

//go:embed migrations
var migrations embed.FS

// Migrations returns the tables of nodes and roles.
func Migrations() store.Migrations {
	return store.EmbeddedMigrations("cluster", migrations, store.StoredTime{Table: "core_nodes", Column: "seen_at", Longest: clockSkew},
		store.StoredTime{Table: "core_roles", Column: "until_at", Longest: clockSkew},
		store.StoredTime{Table: "core_values", Column: "until_at", Longest: clockSkew})
}

// The times of a node that shares its database with others. One that has it for itself only confirms now and then that it is there.
const (
	defaultLease  = 15 * time.Second
	defaultBeat   = 3 * time.Second
	aloneLease    = 3 * time.Minute
	aloneBeat     = time.Minute
	keptNodes     = 7 * 24 * time.Hour
	maxIDLength   = 64
	leadMargin    = 2 * time.Second
	clockSkew     = time.Hour // how far the database's clock may be ahead of this machine's
	patienceShare = 1.5       // a lease is this many times as long as a node goes on without confirming it
)

// ErrNodeTaken is in the chain of the error for an id that another running core has.
var ErrNodeTaken = errors.New("another running core has the same node id")

// ErrFenced says that a node or a leader was replaced while it worked: what it was about to write must not be written.
var ErrFenced = errors.New("another node has taken over")

// Config says who this node is.
type Config struct {
	Store  *store.Store
	Logger hclog.Logger
	// ID names the node among those of the database: 1 to 64 letters, digits, dots, dashes and underscores.
	ID string
	// Shared says that other cores may use the database at the same time.
	Shared bool
	About  About
	// Ended is called in a transaction for each node that is taken for dead, by one of the others: it gives away what that node owned.
	Ended func(ctx context.Context, node string) error
	// Lease and Beat are how long a confirmation holds, and how often one is given (15 s and 3 s; alone, 3 minutes and 1 minute).
	Lease, Beat time.Duration
}

// Cluster is this node's view of all. Its methods may be called from several goroutines.
type Cluster struct {
	cfg   Config
	store *store.Store
	log   hclog.Logger
	wire  *newsWire
	locks Locks

	mu       sync.Mutex
	epoch    int64
	draining bool
	// confirmed is when the last confirmation was sent that the database has taken.
	confirmed time.Time
	// clock is the last confirmation that the database has taken.
	clock confirmation
	// alive ends when the node must not work any more, and is made anew when it may again.
	alive   context.Context
	suspend context.CancelFunc
	// changed is closed and made anew when any of these changes.
	changed chan struct{}
	lost    chan struct{}

	stop  context.CancelFunc
	loops sync.WaitGroup
}

// Open makes this node known and begins to confirm its lease. Migrate must have run. If another running core has the id, the error has
// ErrNodeTaken in its chain; after a crash it waits until the lease of the process that crashed has ended.
func Open(ctx context.Context, cfg Config) (*Cluster, error) {
	lease, beat := defaultLease, defaultBeat
	if !cfg.Shared {
		lease, beat = aloneLease, aloneBeat
	}
	if cfg.Lease <= 0 {
		cfg.Lease = lease
	}
	if cfg.Beat <= 0 {
		cfg.Beat = beat
	}
	if cfg.Logger == nil {
		cfg.Logger = hclog.NewNullLogger()
	}
	if err := CheckID(cfg.ID); err != nil {
		return nil, err
	}
	if cfg.Shared && cfg.Store.Dialect() != store.Postgres {
		return nil, errors.New("several cores can share a PostgreSQL database only: set replicas = false, or use storage \"postgres\"")
	}
	cfg.About.Host, _ = os.Hostname()
	cfg.About.PID = os.Getpid()
	wire := &newsWire{store: cfg.Store, log: cfg.Logger, boot: rand.Text(), news: event.NewBus(), send: make(chan newsItem, newsBuffer)}
	c := &Cluster{cfg: cfg, store: cfg.Store, log: cfg.Logger, wire: wire, changed: make(chan struct{}), lost: make(chan struct{})}
	c.locks.cluster = c
	if err := c.registerNode(ctx); err != nil {
		return nil, err
	}
	loops, stop := context.WithCancel(context.Background())
	c.stop = stop
	c.loops.Go(func() { c.confirmLease(loops) })
	c.loops.Go(func() { wire.sendNews(loops) })
	if cfg.Shared {
		c.loops.Go(func() { c.watchLease(loops) })
		c.loops.Go(func() { wire.receiveNews(loops) })
		c.loops.Go(func() { wire.watchConnection(loops) })
		c.loops.Go(func() { wire.watchQueue(loops) })
	}
	return c, nil
}

// IDOfHost returns the id of a core on a host that was given none: the name of the host, without what an id may not have.
func IDOfHost(host string) string {
	id := strings.Map(func(r rune) rune {
		if isIDRune(r) {
			return r
		}
		return '-'
	}, host)
	return cmp.Or(id[:min(len(id), maxIDLength)], "core")
}

func isIDRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' || r == '_'
}

// CheckID returns an error that says what is wrong with the id of a node.
func CheckID(id string) error {
	ok := len(id) >= 1 && len(id) <= maxIDLength
	for _, r := range id {
		ok = ok && isIDRune(r)
	}
	if !ok {
		return fmt.Errorf("the id of a node, %q, is not valid: use 1 to %d letters, digits, dots, dashes and underscores", id, maxIDLength)
	}
	return nil
}

// Close says that the node has stopped. What it owns must have been given away before.
func (c *Cluster) Close() {
	c.stop()
	c.loops.Wait()
	c.wire.news.Close()
	c.mu.Lock()
	c.suspend()
	epoch := c.epoch
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(store.Essential(context.Background()), min(c.cfg.Beat, defaultBeat))
	defer cancel()
	err := c.store.QueueTx(ctx, "end the node", func(ctx context.Context) error {
		return c.store.Writer(ctx).Exec("UPDATE core_nodes SET ended_at = "+store.ClockSQL(c.store)+" WHERE id = ? AND epoch = ?", c.cfg.ID, epoch).Error
	})
	if err != nil {
		c.log.Warn("cannot say that this node has stopped", "error", err)
	}
}

// ID is the name of this node.
func (c *Cluster) ID() string { return c.cfg.ID }

// Shared reports whether other cores may use the database. A nil Cluster is that of a core alone.
func (c *Cluster) Shared() bool { return c != nil && c.cfg.Shared }

// Epoch rises when this node was taken for dead. What it writes as an owner is written for an epoch.
func (c *Cluster) Epoch() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.epoch
}

// Now is the time by the database's clock, as of the last confirmation. It goes on by this machine's monotonic clock, so that the machine's
// own time does not matter. It is behind by what an answer of the database needs, and never ahead.
func (c *Cluster) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.clock.at.Add(time.Since(c.clock.heard))
}

// Alive returns a context that ends when this node must not work any more because it could not confirm its lease, and the epoch that it
// belongs to. It has ended already while that is so.
func (c *Cluster) Alive() (context.Context, int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.alive, c.epoch
}

// Lost is closed when another process has taken the id of this node: the core must end.
func (c *Cluster) Lost() <-chan struct{} { return c.lost }

// Ready returns why this node should get no requests, or nil.
func (c *Cluster) Ready() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.alive.Err() != nil:
		return fmt.Errorf("the lease of node %s could not be confirmed for %s", c.cfg.ID, time.Since(c.confirmed).Round(time.Second))
	case c.draining:
		return fmt.Errorf("node %s is draining: patchbay node resume %s ends that", c.cfg.ID, c.cfg.ID)
	}
	return nil
}

// Draining reports whether the node takes no new work.
func (c *Cluster) Draining() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.draining
}

// Fence locks the row of this node until the transaction ends, so that nobody takes it for dead before; epoch is the one that the work
// began in. It returns ErrFenced if somebody has. For a core alone it does nothing.
func (c *Cluster) Fence(ctx context.Context, epoch int64) error {
	if !c.cfg.Shared {
		return nil
	}
	return c.holdRow(ctx, "core_nodes WHERE id = ? AND epoch = ? AND ended_at = 0", c.cfg.ID, epoch)
}

// holdRow locks a row until the transaction ends, or returns ErrFenced if there is none. A transaction of a process that is stopped
// meanwhile ends with the lease: it would keep others from taking over.
func (c *Cluster) holdRow(ctx context.Context, from string, args ...any) error {
	var found []int
	limit := strconv.FormatInt(c.cfg.Lease.Milliseconds(), 10)
	err := c.store.DB(ctx).Raw("SELECT 1 FROM set_config('idle_in_transaction_session_timeout', ?, true), "+from+" FOR SHARE OF "+
		strings.Fields(from)[0], append([]any{limit}, args...)...).Scan(&found).Error
	if err == nil && len(found) == 0 {
		return ErrFenced
	}
	return err
}
