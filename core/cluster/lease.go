package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/store"
)

// watchStep is how often a node looks whether its own confirmation is too old.
const watchStep = 100 * time.Millisecond

// findPatience returns how long this node goes on without a confirmed lease. It is over before the lease ends for the others.
func (c *Cluster) findPatience() time.Duration {
	return time.Duration(float64(c.cfg.Lease) / patienceShare)
}

// registerNode writes the row of this node, with an epoch of its own. A running process that has the id is waited for until its lease has
// ended; if it confirms the lease meanwhile, the error is ErrNodeTaken.
func (c *Cluster) registerNode(ctx context.Context) error {
	var before int64
	for {
		began := time.Now()
		mine, holder, err := c.takeRow(ctx)
		if err != nil {
			return fmt.Errorf("register node %s: %w", c.cfg.ID, err)
		}
		if holder == nil {
			c.resumeWork(began, mine)
			return nil
		}
		if before != 0 && before != holder.SeenAt {
			var about About
			_ = json.Unmarshal([]byte(holder.About), &about)
			return fmt.Errorf("register node %s: %w, process %d on %s; give each core its own node_id in the core block (SVC_NODE_ID)", c.cfg.ID,
				ErrNodeTaken, about.PID, about.Host)
		}
		if before == 0 {
			c.log.Info("waiting for the lease of the former process to end", "node", c.cfg.ID)
		}
		before = holder.SeenAt
		if err := event.Sleep(ctx, c.cfg.Beat/2); err != nil {
			return err
		}
	}
}

// confirmation is what the database said when it took this node's confirmation: at is when, by its clock, and heard when this node knew.
type confirmation struct {
	epoch     int64
	drain     bool
	at, heard time.Time
}

// takeRow makes the row of this node its own, in a new epoch, or returns the row of the process that has it.
func (c *Cluster) takeRow(ctx context.Context) (mine confirmation, holder *nodeRow, err error) {
	c.mu.Lock()
	about, err := json.Marshal(c.cfg.About)
	c.mu.Unlock()
	if err != nil {
		return mine, nil, err
	}
	clock, lock := store.ClockSQL(c.store), ""
	if c.cfg.Shared {
		lock = " FOR UPDATE"
	}
	err = c.store.QueueTx(ctx, "register a node", func(ctx context.Context) error {
		holder = nil
		var rows []nodeRow
		if err := c.store.Writer(ctx).Raw("SELECT "+nodeColumns+", "+clock+" AS now FROM core_nodes WHERE id = ?"+lock, c.cfg.ID).Scan(&rows).Error; err != nil {
			return err
		}
		mine = confirmation{epoch: 1}
		if !c.cfg.Shared { // nobody else is there: the lock of the database says so
			if err := c.store.Writer(ctx).Exec("DELETE FROM core_nodes WHERE id <> ?", c.cfg.ID).Error; err != nil {
				return err
			}
		}
		if len(rows) > 0 {
			if c.cfg.Shared && rows[0].isLive() && rows[0].Boot != c.wire.boot {
				holder = &rows[0]
				return nil
			}
			mine.epoch = rows[0].Epoch + 1
			mine.drain = rows[0].Drain && rows[0].Boot == c.wire.boot // a new process takes work
			if c.cfg.Ended != nil && rows[0].EndedAt == 0 && c.cfg.Shared {
				if err := c.cfg.Ended(ctx, c.cfg.ID); err != nil {
					return err
				}
			}
		}
		var seen int64
		err := c.store.Writer(ctx).Raw(`INSERT INTO core_nodes (id, epoch, boot, lease_ms, about, drain, started_at, seen_at)
			VALUES (?, ?, ?, ?, ?, ?, `+clock+`, `+clock+`)
			ON CONFLICT (id) DO UPDATE SET epoch = excluded.epoch, boot = excluded.boot, lease_ms = excluded.lease_ms, about = excluded.about,
			drain = excluded.drain, started_at = excluded.started_at, seen_at = excluded.seen_at, ended_at = 0
			RETURNING seen_at`, c.cfg.ID, mine.epoch, c.wire.boot, c.cfg.Lease.Milliseconds(), string(about), mine.drain).Scan(&seen).Error
		mine.at, mine.heard = store.FromMillis(seen), time.Now()
		return err
	})
	return mine, holder, err
}

// resumeWork lets the node work, in an epoch; confirmed is when the confirmation was sent.
func (c *Cluster) resumeWork(confirmed time.Time, by confirmation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.confirmed, c.epoch, c.draining, c.clock = confirmed, by.epoch, by.drain, by
	if c.suspend != nil {
		c.suspend()
	}
	c.alive, c.suspend = context.WithCancel(context.Background())
	c.announceChange()
}

// announceChange wakes those who wait for a change; mu is held.
func (c *Cluster) announceChange() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// confirmLease writes the confirmation at each beat, and takes nodes for dead whose lease has ended.
func (c *Cluster) confirmLease(ctx context.Context) {
	for failing := false; event.Sleep(ctx, c.cfg.Beat) == nil; {
		err := c.beatOnce(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, ErrNodeTaken):
			c.log.Error("another process has taken the id of this node", "node", c.cfg.ID, "error", err)
			close(c.lost)
			return
		case err != nil && !failing:
			c.log.Warn("cannot confirm the lease of this node, retrying", "error", err)
		case err == nil && failing:
			c.log.Info("lease of this node confirmed again")
		}
		failing = err != nil
	}
}

// beatOnce confirms the lease, or registers the node anew if it was taken for dead.
func (c *Cluster) beatOnce(ctx context.Context) error {
	// It goes on while the disk is full.
	ctx, cancel := context.WithTimeout(store.Essential(ctx), max(c.cfg.Beat, time.Second))
	defer cancel()
	began := time.Now()
	epoch := c.Epoch()
	var rows []nodeRow
	var heard time.Time
	err := c.store.QueueTx(ctx, "confirm the lease of the node", func(ctx context.Context) error {
		err := c.store.Writer(ctx).Raw("UPDATE core_nodes SET seen_at = "+store.ClockSQL(c.store)+
			" WHERE id = ? AND epoch = ? AND ended_at = 0 RETURNING drain, seen_at", c.cfg.ID, epoch).Scan(&rows).Error
		heard = time.Now()
		return err
	})
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return c.rejoinCluster(ctx)
	}
	c.noteConfirmed(began, confirmation{epoch: epoch, drain: rows[0].Drain, at: store.FromMillis(rows[0].SeenAt), heard: heard})
	if !c.cfg.Shared {
		return nil
	}
	return errors.Join(c.locks.releaseDeferred(ctx), c.endDead(ctx))
}

// rejoinCluster ends what this node does, since others have taken it for dead, and registers it anew.
func (c *Cluster) rejoinCluster(ctx context.Context) error {
	c.mu.Lock()
	c.suspend()
	c.mu.Unlock()
	began := time.Now()
	mine, holder, err := c.takeRow(ctx)
	switch {
	case err != nil:
		return err
	case holder != nil:
		return ErrNodeTaken
	}
	c.log.Warn("this node was taken for dead and begins anew", "node", c.cfg.ID, "epoch", mine.epoch)
	c.resumeWork(began, mine)
	return nil
}

// noteConfirmed lets the node go on until the lease that was confirmed ends.
func (c *Cluster) noteConfirmed(began time.Time, by confirmation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.confirmed, c.clock = began, by
	if c.alive.Err() != nil {
		c.alive, c.suspend = context.WithCancel(context.Background())
		c.announceChange()
	}
	c.setDraining(by.drain)
}

// setDraining notes what was asked of this node; mu is held.
func (c *Cluster) setDraining(drain bool) {
	if c.draining == drain {
		return
	}
	c.draining = drain
	c.announceChange()
	if drain {
		c.log.Info("draining: this node takes no new work", "node", c.cfg.ID)
	} else {
		c.log.Info("drain ended: this node takes work", "node", c.cfg.ID)
	}
}

// Refresh reads what was asked of this node. The core calls it when others have written to the database.
func (c *Cluster) Refresh(ctx context.Context) error {
	var drain []bool
	err := c.store.DB(ctx).Raw("SELECT drain FROM core_nodes WHERE id = ? AND epoch = ?", c.cfg.ID, c.Epoch()).Scan(&drain).Error
	if err == nil && len(drain) > 0 && drain[0] != c.Draining() {
		return c.beatOnce(ctx) // so that others see that it is known here
	}
	return err
}

// watchLease suspends the node when its last confirmation is too old.
func (c *Cluster) watchLease(ctx context.Context) {
	for event.Sleep(ctx, min(watchStep, c.cfg.Beat)) == nil {
		c.mu.Lock()
		if c.alive.Err() == nil && time.Since(c.confirmed) > c.findPatience() {
			c.log.Warn("lease of this node not confirmed in time: its work ends, and it gets no requests until the database answers", "node", c.cfg.ID)
			c.suspend()
			c.announceChange()
		}
		c.mu.Unlock()
	}
}

// endDead takes nodes for dead whose lease has ended, has what they own given away, and forgets those that ended long ago.
func (c *Cluster) endDead(ctx context.Context) error {
	clock := store.ClockSQL(c.store)
	var dead []string
	err := c.store.QueueTx(ctx, "end lost nodes", func(ctx context.Context) error {
		err := c.store.Writer(ctx).Raw("UPDATE core_nodes SET ended_at = "+clock+", epoch = epoch + 1 WHERE id IN (SELECT id FROM core_nodes"+
			" WHERE ended_at = 0 AND seen_at + lease_ms < "+clock+" AND id <> ? FOR UPDATE SKIP LOCKED) RETURNING id", c.cfg.ID).Scan(&dead).Error
		if err != nil {
			return err
		}
		slices.Sort(dead)
		for _, id := range dead {
			if c.cfg.Ended == nil {
				break
			}
			if err := c.cfg.Ended(ctx, id); err != nil {
				return err
			}
		}
		return c.store.Writer(ctx).Exec("DELETE FROM core_nodes WHERE ended_at > 0 AND ended_at < "+clock+" - ?", keptNodes.Milliseconds()).Error
	})
	if err != nil {
		return fmt.Errorf("end lost nodes: %w", err)
	}
	for _, id := range dead {
		c.log.Warn("a node is lost, and others take over its work", "node", id)
	}
	if len(dead) > 0 {
		return c.locks.forgetEnded(ctx)
	}
	return nil
}
