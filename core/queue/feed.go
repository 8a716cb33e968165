package queue

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/store"
)

// EventFilter selects events; empty members select all.
type EventFilter struct {
	// Types are types of jobs.
	Types []string
}

const (
	sqlEventsAfter   = `SELECT ` + eventColumns + ` FROM job_events WHERE id > ? ORDER BY id`
	sqlEventsAfterOf = `SELECT ` + eventColumns + ` FROM job_events WHERE id > ? AND job_type IN ? ORDER BY id`
	sqlLastEvent     = `SELECT COALESCE(max(id), 0) FROM job_events`
)

// EventsAfter returns the events of all jobs after an id, oldest first, at most limit (0 and more than 500 mean 500).
func (q *Queue) EventsAfter(ctx context.Context, afterID int64, limit int, f EventFilter) ([]Event, error) {
	if limit <= 0 || limit > maxEvents {
		limit = maxEvents
	}
	if err := numberEvents(ctx, q.store); err != nil {
		return nil, err
	}
	db := q.store.DB(ctx).Raw(sqlEventsAfter+store.Limit(limit), afterID)
	if len(f.Types) > 0 {
		db = q.store.DB(ctx).Raw(sqlEventsAfterOf+store.Limit(limit), afterID, f.Types)
	}
	var rows []eventRow
	if err := db.Scan(&rows).Error; err != nil {
		return nil, fmt.Errorf("read the events after %d: %w", afterID, err)
	}
	return toEvents(rows), nil
}

// LastEventID returns the id of the newest stored event, or 0 if there is none.
func (q *Queue) LastEventID(ctx context.Context) (id int64, err error) {
	if err := numberEvents(ctx, q.store); err != nil {
		return 0, err
	}
	if err := q.store.DB(ctx).Raw(sqlLastEvent).Scan(&id).Error; err != nil {
		return 0, fmt.Errorf("read the id of the last event: %w", err)
	}
	return id, nil
}

// FollowAll sends the events of all jobs after an id, first the stored ones and then new ones, each once and in order
// of ID. An id beyond the newest counts as the newest. The channel is closed when ctx ends or when reading fails: a
// caller that follows again after the last id that it received misses nothing that is stored. The caller must end ctx
// when it stops receiving.
func (q *Queue) FollowAll(ctx context.Context, afterID int64) (<-chan Event, error) {
	leave, err := q.feed.addMember(ctx)
	if err != nil {
		return nil, err
	}
	newest, err := q.LastEventID(ctx)
	if err != nil {
		leave()
		return nil, err
	}
	sub := q.feed.bus.Subscribe(feedTopic)
	r := &reader{queue: q, last: min(max(afterID, 0), newest), news: sub.Events()}
	out := make(chan Event)
	go func() {
		defer close(out)
		defer leave()
		defer sub.Close()
		r.readAll(ctx, nil, func(ev Event) bool {
			select {
			case out <- ev:
				return true
			case <-ctx.Done():
				return false
			}
		})
	}()
	return out, nil
}

// feedTopic is the only topic of a feed's bus.
const feedTopic = "feed"

// feed publishes the events of all jobs in order, once for all followers. It works while it has members.
type feed struct {
	queue *Queue
	bus   *event.Bus

	mu      sync.Mutex
	members int
	stop    context.CancelFunc
}

// addMember adds a follower and starts the feed for the first one. When it returns, the feed reads from an event on
// that is stored already. The caller must call leave at the end.
func (f *feed) addMember(ctx context.Context) (leave func(), err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.members == 0 {
		if err := f.startReading(ctx); err != nil {
			return nil, err
		}
	}
	f.members++
	return f.removeMember, nil
}

// removeMember removes a follower and stops the feed after the last one.
func (f *feed) removeMember() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.members--; f.members == 0 {
		f.stop()
	}
}

// startReading starts the goroutine that publishes the events after the newest stored one.
func (f *feed) startReading(ctx context.Context) error {
	sub := f.queue.bus.Subscribe(TopicOf(""))
	last, err := f.queue.LastEventID(ctx)
	if err != nil {
		sub.Close()
		return err
	}
	var work context.Context
	work, f.stop = context.WithCancel(context.Background())
	go func() {
		defer sub.Close()
		tick := time.NewTicker(followPoll) // for events of other processes
		defer tick.Stop()
		r := &reader{queue: f.queue, last: last, news: sub.Events()}
		if f.queue.store.Dialect() == store.Postgres {
			r.pause = numberPause
		}
		r.readAll(work, tick.C, func(ev Event) bool {
			f.bus.Publish(feedTopic, event.Event{Seq: ev.ID, Type: ev.Type, Data: ev})
			return true
		})
	}()
	return nil
}

// reader returns all events in order. Its news may arrive out of order or not at all.
type reader struct {
	queue *Queue
	last  int64
	news  <-chan event.Event
	// pause is the shortest time between two reads of the table.
	pause time.Duration
}

// readAll calls send with each event until send returns false, ctx or the news end, or reading fails and tick is nil.
// With a tick it reads again.
func (r *reader) readAll(ctx context.Context, tick <-chan time.Time, send func(Event) bool) {
	for {
		more, err := r.sendStored(ctx, send)
		switch {
		case ctx.Err() != nil || !more:
			return
		case err != nil && tick == nil:
			return
		case err != nil:
			r.queue.log.Error("cannot read job events", "error", err)
		}
		if !r.waitPause(ctx) || !r.sendLive(ctx, tick, send) {
			return
		}
	}
}

// waitPause waits for the reader's pause. It returns false if ctx ends.
func (r *reader) waitPause(ctx context.Context) bool {
	if r.pause <= 0 {
		return true
	}
	timer := time.NewTimer(r.pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// sendStored sends the stored events. It returns false if send did.
func (r *reader) sendStored(ctx context.Context, send func(Event) bool) (bool, error) {
	for {
		events, err := r.queue.EventsAfter(ctx, r.last, maxEvents, EventFilter{})
		if err != nil {
			return true, err
		}
		for _, ev := range events {
			if r.last = ev.ID; !send(ev) {
				return false, nil
			}
		}
		if len(events) < maxEvents {
			return true, nil
		}
	}
}

// sendLive sends news as long as they follow each other. It returns true if the table must be read, false at the end.
func (r *reader) sendLive(ctx context.Context, tick <-chan time.Time, send func(Event) bool) bool {
	for {
		select {
		case <-ctx.Done():
			return false
		case <-tick:
			return true
		case news, ok := <-r.news:
			ev, known := news.Data.(Event)
			switch {
			case !ok:
				return false
			case news.Lagged || !known || ev.ID == 0 || ev.ID > r.last+1:
				return true
			case ev.ID == r.last+1:
				if r.last = ev.ID; !send(ev) {
					return false
				}
			}
		}
	}
}
