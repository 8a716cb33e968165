package queue

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/patchbay-dev/patchbay/core/event"
)

// EventFilter selects events; empty members select all.
type EventFilter struct {
	// Types are types of jobs.
	Types []string
}

const (
	sqlEventsAfter   = `SELECT * FROM job_events WHERE id > ? ORDER BY id LIMIT ?`
	sqlEventsAfterOf = `SELECT * FROM job_events WHERE id > ? AND job_type IN ? ORDER BY id LIMIT ?`
	sqlLastEvent     = `SELECT COALESCE(max(id), 0) FROM job_events`
)

// EventsAfter returns the events of all jobs after an id, oldest first, at most limit (0 and more than 500 mean 500).
func (q *Queue) EventsAfter(ctx context.Context, afterID int64, limit int, f EventFilter) ([]Event, error) {
	if limit <= 0 || limit > maxEvents {
		limit = maxEvents
	}
	db := q.store.DB(ctx).Raw(sqlEventsAfter, afterID, limit)
	if len(f.Types) > 0 {
		db = q.store.DB(ctx).Raw(sqlEventsAfterOf, afterID, f.Types, limit)
	}
	var rows []eventRow
	if err := db.Scan(&rows).Error; err != nil {
		return nil, fmt.Errorf("read the events after %d: %w", afterID, err)
	}
	return eventsOf(rows), nil
}

// LastEventID is the id of the newest event that is stored; 0 without one.
func (q *Queue) LastEventID(ctx context.Context) (id int64, err error) {
	if err := q.store.DB(ctx).Raw(sqlLastEvent).Scan(&id).Error; err != nil {
		return 0, fmt.Errorf("read the id of the last event: %w", err)
	}
	return id, nil
}

// FollowAll sends the events of all jobs after an id, first those stored and then those to come, each once and in order
// of ID. An id beyond the newest counts as the newest. The channel is closed when ctx ends or when reading fails: who
// follows again after the last id seen misses nothing that is stored. The caller must end ctx when it stops receiving.
func (q *Queue) FollowAll(ctx context.Context, afterID int64) (<-chan Event, error) {
	leave, err := q.feed.join(ctx)
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
		r.read(ctx, nil, func(ev Event) bool {
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

// feedTopic is the one topic of a feed's bus.
const feedTopic = "feed"

// feed puts the events of all jobs in order, once for all followers. It works while it has some.
type feed struct {
	queue *Queue
	bus   *event.Bus

	mu      sync.Mutex
	members int
	stop    context.CancelFunc
}

// join makes sure that the feed works, from an event that is stored already on.
func (f *feed) join(ctx context.Context) (leave func(), err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.members == 0 {
		if err := f.start(ctx); err != nil {
			return nil, err
		}
	}
	f.members++
	return f.leave, nil
}

func (f *feed) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.members--; f.members == 0 {
		f.stop()
	}
}

func (f *feed) start(ctx context.Context) error {
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
		r.read(work, tick.C, func(ev Event) bool {
			f.bus.Publish(feedTopic, event.Event{Seq: ev.ID, Type: ev.Type, Data: ev})
			return true
		})
	}()
	return nil
}

// reader turns news, which may come out of order or not at all, into all events in order.
type reader struct {
	queue *Queue
	last  int64
	news  <-chan event.Event
}

// read calls send with each event until that returns false, ctx or the news end, or reading fails without a tick to try
// again.
func (r *reader) read(ctx context.Context, tick <-chan time.Time, send func(Event) bool) {
	for {
		more, err := r.stored(ctx, send)
		switch {
		case ctx.Err() != nil || !more:
			return
		case err != nil && tick == nil:
			return
		case err != nil:
			r.queue.log.Error("read the events of all jobs", "error", err)
		}
		if !r.live(ctx, tick, send) {
			return
		}
	}
}

// stored sends what the table holds; false when nobody wants more.
func (r *reader) stored(ctx context.Context, send func(Event) bool) (bool, error) {
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

// live sends news as long as they follow each other; true when the table must be read.
func (r *reader) live(ctx context.Context, tick <-chan time.Time, send func(Event) bool) bool {
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
			case news.Lagged || !known || ev.ID > r.last+1:
				return true
			case ev.ID == r.last+1:
				if r.last = ev.ID; !send(ev) {
					return false
				}
			}
		}
	}
}
