package audit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/event"
)

// Ids of requests where several cores write them: milliseconds since idEpoch, then the writer's slot, then a number within both. So they
// ascend with time, no two writers make the same one, and a float64 holds them exactly.
const (
	idEpoch    = 1_704_067_200_000 // 2024-01-01
	slotBits   = 6
	numberBits = 6
	maxSlots   = 1 << slotBits
)

// timeID returns the smallest id of a moment in Unix milliseconds.
func timeID(at int64) int64 { return max(0, at-idEpoch) << (slotBits + numberBits) }

// errWriterEnded says that another core has ended what this writer had begun: it must begin anew, as another writer.
var errWriterEnded = errors.New("the writer was ended by another core")

// nodeWriter is this core among those that write requests into one database. The goroutine of the audit's writer uses it alone.
type nodeWriter struct {
	store   *Store
	cluster *cluster.Cluster
	log     hclog.Logger
	now     func() time.Time
	// began hears of a new writer.
	began func(id int64)

	// id is that of the row in search_writers, slot what tells its ids of requests apart.
	id, slot int64
	lastID   int64
	// ended counts the requests that have ended.
	ended int64
}

// registerWriter makes this core a new writer.
func (n *nodeWriter) registerWriter(ctx context.Context) error {
	now := n.now().UnixMilli()
	id, slot, err := n.store.addWriter(ctx, n.cluster.ID(), n.cluster.Epoch(), now)
	if err != nil {
		return fmt.Errorf("register as a writer of requests: %w", err)
	}
	n.id, n.slot, n.ended, n.lastID = id, slot, 0, timeID(now)|slot<<numberBits
	n.began(id)
	return nil
}

// nextID returns the id of a request that began at a time.
func (n *nodeWriter) nextID(at time.Time) int64 {
	id := timeID(at.UnixMilli()) | n.slot<<numberBits
	if id <= n.lastID {
		if id = n.lastID + 1; id>>numberBits != n.lastID>>numberBits {
			id = (n.lastID>>(slotBits+numberBits)+1)<<(slotBits+numberBits) | n.slot<<numberBits
		}
	}
	n.lastID = id
	return id
}

// numberBatch gives new rows their ids, and numbers the requests that have ended.
func (n *nodeWriter) numberBatch(b *batch) {
	bodies := map[int64]int64{}
	for i := range b.inserts {
		e := &b.inserts[i]
		former := e.ID
		e.ID = n.nextID(e.Time)
		bodies[former] = e.ID
		b.inserted[i].ID = e.ID
		n.numberEnd(e)
	}
	for i := range b.updates {
		n.numberEnd(&b.updates[i])
	}
	for i := range b.bodies {
		if id, isNew := bodies[b.bodies[i].RequestRow]; isNew {
			b.bodies[i].RequestRow = id
		}
	}
}

func (n *nodeWriter) numberEnd(e *Entry) {
	if e.Outcome != Open {
		n.ended++
		e.endedSeq = n.ended
	}
}

// mustRegister reports whether a write failed because the core must register as another writer.
func mustRegister(err error) bool {
	var unique *pgconn.PgError
	return errors.Is(err, errWriterEnded) || errors.As(err, &unique) && unique.Code == "23505"
}

// settleEvery is how often it is looked for writers that are gone.
const settleEvery = 2 * time.Second

// settleLoop ends the writers of cores that are gone, until ctx ends.
func (l *Log) settleLoop(ctx context.Context) {
	for event.Sleep(ctx, settleEvery) == nil {
		if err := l.settleGone(ctx); err != nil && ctx.Err() == nil {
			l.log.Error("cannot end the requests of cores that are gone, retrying", "error", err)
		}
	}
}

// settleGone ends the writers of cores that are gone, or of all if this core has the database for itself.
func (l *Log) settleGone(ctx context.Context) error {
	ids, err := l.Store.goneWriters(ctx, l.cluster.Shared())
	if err != nil {
		return err
	}
	for _, id := range ids {
		interrupted, err := l.Store.settleWriter(ctx, id, l.now())
		if err != nil {
			return fmt.Errorf("end the requests of writer %d: %w", id, err)
		}
		if interrupted > 0 {
			l.log.Warn("requests interrupted by the end of a core", "rows", interrupted)
		}
	}
	return nil
}
