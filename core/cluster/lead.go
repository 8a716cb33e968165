package cluster

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/store"
)

// leaderKey finds the leadership in the context of what a leader runs.
type leaderKey struct{}

// leadership is a role of this node, in one of its terms.
type leadership struct {
	role string
	// owner is the node in its epoch.
	owner string
	term  int64
}

// Lead runs run while this node leads in role, until ctx ends: never on two nodes at once, and again where it is needed when it ends.
// The context of run ends two seconds before another node may lead. What run writes, it guards by FenceRole. A core alone leads always.
func (c *Cluster) Lead(ctx context.Context, role string, run func(ctx context.Context) error) {
	for ctx.Err() == nil {
		held, until, err := c.takeRole(ctx, role)
		switch {
		case err != nil && ctx.Err() == nil:
			c.log.Warn("cannot ask for a role, retrying", "role", role, "error", err)
		case held != nil:
			c.runRole(ctx, *held, until, run)
		}
		if c.sleepBeat(ctx) != nil {
			return
		}
	}
}

// sleepBeat waits for the next beat, or for a change of this node.
func (c *Cluster) sleepBeat(ctx context.Context) error {
	c.mu.Lock()
	changed := c.changed
	c.mu.Unlock()
	beat := time.NewTimer(min(c.cfg.Beat, defaultBeat))
	defer beat.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-changed:
	case <-beat.C:
	}
	return nil
}

// takeRole asks for a role, or holds one of this node longer. It returns nil if another node has it, or if this one takes no work. until is
// when this node has to give it up, by its own clock.
func (c *Cluster) takeRole(ctx context.Context, role string) (*leadership, time.Time, error) {
	if c.Ready() != nil {
		return nil, time.Time{}, nil
	}
	until := time.Now().Add(c.cfg.Lease - min(leadMargin, c.cfg.Lease/4))
	if !c.cfg.Shared {
		return &leadership{role: role}, until, nil
	}
	ctx, cancel := context.WithTimeout(ctx, max(c.cfg.Beat, time.Second))
	defer cancel()
	clock := store.ClockSQL(c.store)
	epoch := c.Epoch()
	held := leadership{role: role, owner: c.cfg.ID + "/" + strconv.FormatInt(epoch, 10)}
	var terms []int64
	err := c.store.QueueTx(ctx, "take a role", func(ctx context.Context) error {
		if err := c.Fence(ctx, epoch); err != nil {
			return err
		}
		return c.store.Writer(ctx).Raw(`INSERT INTO core_roles AS r (role, node, term, until_at) VALUES (?, ?, 1, `+clock+` + ?)
			ON CONFLICT (role) DO UPDATE SET node = excluded.node, until_at = excluded.until_at,
			term = r.term + CASE WHEN r.node = excluded.node AND r.until_at > `+clock+` THEN 0 ELSE 1 END
			WHERE r.until_at <= `+clock+` OR r.node = excluded.node RETURNING term`,
			role, held.owner, c.cfg.Lease.Milliseconds()).Scan(&terms).Error
	})
	if errors.Is(err, ErrFenced) || err == nil && len(terms) == 0 {
		return nil, time.Time{}, nil
	}
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("take the role %s: %w", role, err)
	}
	held.term = terms[0]
	return &held, until, nil
}

// runRole runs run while the role is held, and gives it up then.
func (c *Cluster) runRole(ctx context.Context, held leadership, until time.Time, run func(ctx context.Context) error) {
	running, end := context.WithCancel(context.WithValue(ctx, leaderKey{}, held))
	defer end()
	done := make(chan error, 1)
	go func() { done <- run(running) }()
	c.log.Debug("leading", "role", held.role, "term", held.term)
	for {
		changed, alive := c.watchSelf()
		renew := time.NewTimer(min(c.cfg.Beat, time.Until(until)))
		select {
		case err := <-done:
			renew.Stop()
			c.noteRunEnd(ctx, held, err)
			return
		case <-alive.Done():
		case <-changed:
		case <-renew.C:
		}
		renew.Stop()
		renewing, cancel := context.WithDeadline(ctx, until)
		next, longer, err := c.takeRole(renewing, held.role)
		cancel()
		if next != nil && *next == held || next != nil && !c.cfg.Shared {
			until = longer
			continue
		}
		if err != nil && time.Now().Before(until) && alive.Err() == nil && ctx.Err() == nil {
			if event.Sleep(ctx, min(c.cfg.Beat/4, time.Until(until))) == nil {
				continue
			}
		}
		end()
		c.noteRunEnd(ctx, held, <-done)
		return
	}
}

// watchSelf returns what tells of a change of this node, and of its end.
func (c *Cluster) watchSelf() (changed chan struct{}, alive context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changed, c.alive
}

// noteRunEnd gives a role up after its work has ended, so that another node need not wait for the end of the lease.
func (c *Cluster) noteRunEnd(ctx context.Context, held leadership, err error) {
	if err != nil && ctx.Err() == nil && !errors.Is(err, context.Canceled) && !errors.Is(err, ErrFenced) {
		c.log.Warn("the work of a role ended, beginning it anew", "role", held.role, "error", err)
	}
	if !c.cfg.Shared {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	err = c.store.QueueTx(ctx, "give a role up", func(ctx context.Context) error {
		return c.store.Writer(ctx).Exec("UPDATE core_roles SET until_at = 0 WHERE role = ? AND node = ? AND term = ?", held.role, held.owner, held.term).Error
	})
	if err != nil {
		c.log.Debug("cannot give a role up, its lease ends it", "role", held.role, "error", err)
	}
}

// FenceRole locks the role in which ctx, that of Lead's run, leads until the transaction ends, so that nobody else takes it before. It
// returns ErrFenced if somebody has, or if ctx is of no leader. For a core alone it does nothing.
func (c *Cluster) FenceRole(ctx context.Context) error {
	if !c.cfg.Shared {
		return nil
	}
	held, ok := ctx.Value(leaderKey{}).(leadership)
	if !ok {
		return ErrFenced
	}
	return c.holdRow(ctx, "core_roles WHERE role = ? AND node = ? AND term = ? AND until_at > "+store.ClockSQL(c.store), held.role, held.owner, held.term)
}
