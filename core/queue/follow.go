package queue

import (
	"context"
	"time"

	"github.com/patchbay-dev/patchbay/core/event"
)

// followPoll is how often a follower reads the table without news, for events of other processes.
const followPoll = 2 * time.Second

// Follow sends a job's events after a sequence number, first the stored ones and then new ones, each once and in
// order. The channel is closed after the last event of a finished job, when ctx ends, or when reading fails: a caller
// that has not received EventFinished may follow again after the last number that it received. The error for an
// unknown job is a fault.NotFound. The caller must end ctx when it stops receiving.
func (q *Queue) Follow(ctx context.Context, jobID string, afterSeq int64) (<-chan Event, error) {
	sub := q.bus.Subscribe(TopicOf(jobID))
	if _, err := q.Get(ctx, jobID); err != nil {
		sub.Close()
		return nil, err
	}
	f := &follower{queue: q, id: jobID, last: max(afterSeq, 0), news: sub.Events(), out: make(chan Event)}
	go func() {
		defer close(f.out)
		defer sub.Close()
		f.follow(ctx)
	}()
	return f.out, nil
}

// follower is one reader of a job's events.
type follower struct {
	queue *Queue
	id    string
	last  int64
	news  <-chan event.Event
	out   chan Event
}

func (f *follower) follow(ctx context.Context) {
	tick := time.NewTicker(followPoll)
	defer tick.Stop()
	for f.sendStored(ctx) {
		if !f.sendLive(ctx, tick.C) {
			return
		}
	}
}

// sendStored sends the stored events. It returns false if there is nothing more to come.
func (f *follower) sendStored(ctx context.Context) bool {
	job, err := f.queue.Get(ctx, f.id)
	if err != nil {
		return false
	}
	for {
		events, err := f.queue.Events(ctx, f.id, f.last, maxEvents)
		if err != nil {
			return false
		}
		for _, ev := range events {
			if !f.sendEvent(ctx, ev) {
				return false
			}
		}
		if len(events) < maxEvents {
			return !job.State.Final()
		}
	}
}

// sendLive sends news as long as they follow each other. It returns true if the table must be read again.
func (f *follower) sendLive(ctx context.Context, tick <-chan time.Time) bool {
	for {
		select {
		case <-ctx.Done():
			return false
		case <-tick:
			return true
		case news, ok := <-f.news:
			ev, known := news.Data.(Event)
			switch {
			case !ok:
				return false
			case news.Lagged || !known || ev.Seq > f.last+1:
				return true
			case ev.Seq == f.last+1 && !f.sendEvent(ctx, ev):
				return false
			}
		}
	}
}

// sendEvent sends an event. It returns false after the last event or when ctx has ended.
func (f *follower) sendEvent(ctx context.Context, ev Event) bool {
	select {
	case f.out <- ev:
		f.last = ev.Seq
		return ev.Type != EventFinished
	case <-ctx.Done():
		return false
	}
}
