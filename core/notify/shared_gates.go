package notify

import (
	"context"
	"errors"
	"time"

	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/store"
)

// acquireGate takes the gate of a delivery's recipient at all nodes. The function that it returns releases the gate, as gates.release
// does. If wait is not 0 the gate is not taken.
func (s *Sender) acquireGate(ctx context.Context, d *delivery) (release func(failed bool, asked time.Duration) time.Duration,
	wait time.Duration, err error) {
	if wait = s.gates.acquire(d.Channel, d.Recipient, s.cfg.Now(), !d.Once); wait > 0 {
		return nil, wait, nil
	}
	releaseHere := func(failed bool, asked time.Duration) time.Duration {
		return s.gates.release(d.Channel, d.Recipient, s.cfg.Now(), failed, func(failures int) time.Duration {
			return max(s.cfg.Backoff(failures), asked)
		})
	}
	if !s.cfg.Store.Shared() {
		return releaseHere, 0, nil
	}
	lock, err := s.cfg.Cluster.Locks().TryLock(ctx, "notify/"+d.Channel+"/"+d.Recipient)
	if errors.Is(err, cluster.ErrLocked) {
		releaseHere(false, 0)
		return nil, minBusyDelay, nil
	}
	failures, pauses := 0, pauseStore{s.cfg.Store, s.cfg.Now}
	if err == nil {
		if failures, wait, err = pauses.findPause(ctx, d); err != nil || wait > 0 && !d.Once {
			lock.Release()
		}
	}
	if err != nil || wait > 0 && !d.Once {
		releaseHere(false, 0)
		return nil, wait, err
	}
	return func(failed bool, asked time.Duration) (pause time.Duration) {
		defer lock.Release()
		releaseHere(false, 0)
		if failed {
			failures++
			pause = max(s.cfg.Backoff(failures), asked)
		} else {
			failures = 0
		}
		if err := pauses.storePause(ctx, d, failures, pause); err != nil {
			s.cfg.Logger.Warn("cannot store the pause of a recipient", "channel", d.Channel, "error", err)
		}
		return pause
	}, 0, nil
}

// pauseStore keeps the pauses of recipients for all nodes.
type pauseStore struct {
	db  *store.Store
	now func() time.Time
}

// findPause returns how often the recipient of a delivery has failed in a row, at all nodes, and for how long it is paused.
func (p pauseStore) findPause(ctx context.Context, d *delivery) (failures int, wait time.Duration, err error) {
	var rows []struct {
		Failures int
		UntilAt  int64
	}
	err = p.db.DB(ctx).Raw("SELECT failures, until_at FROM notify_pauses WHERE channel = ? AND recipient = ?", d.Channel,
		d.Recipient).Scan(&rows).Error
	if err != nil || len(rows) == 0 {
		return 0, 0, err
	}
	return rows[0].Failures, max(0, store.FromMillis(rows[0].UntilAt).Sub(p.now())), nil
}

// storePause notes how often the recipient of a delivery has failed in a row, and how long it is paused. No failure ends the pause.
func (p pauseStore) storePause(ctx context.Context, d *delivery, failures int, pause time.Duration) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	return p.db.QueueTx(ctx, "pause recipient", func(ctx context.Context) error {
		w := p.db.Writer(ctx)
		if failures == 0 {
			return w.Exec("DELETE FROM notify_pauses WHERE channel = ? AND recipient = ?", d.Channel, d.Recipient).Error
		}
		return w.Exec(`INSERT INTO notify_pauses (channel, recipient, failures, until_at) VALUES (?, ?, ?, ?)
			ON CONFLICT (channel, recipient) DO UPDATE SET failures = excluded.failures, until_at = excluded.until_at`, d.Channel, d.Recipient,
			failures, store.Millis(p.now().Add(pause))).Error
	})
}
