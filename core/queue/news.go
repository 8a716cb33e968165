package queue

import (
	"context"
	"slices"
)

const (
	// relayName is that of the events of jobs on their way to other nodes, topicCancel that of news with the ids of jobs to cancel.
	relayName   = "queue"
	topicCancel = "queue.cancel"
)

// publishEvent tells followers of an event that has been committed, here and at other nodes.
func (q *Queue) publishEvent(r eventRow) {
	q.relay.Publish(TopicOf(r.JobID), r.toBusEvent())
}

// cancelEverywhere ends the context of a running job, at whichever node it runs, once the transaction in ctx has committed.
func (q *Queue) cancelEverywhere(ctx context.Context, id string) error {
	q.store.AfterCommit(ctx, func() { q.cancelRun(id, ErrCanceled) })
	if !sharesDatabase(q) {
		return nil
	}
	return q.cfg.Cluster.Publish(ctx, topicCancel, id)
}

// followNodes looks for jobs when other nodes have queued some, and cancels the jobs that run here for other nodes, until the queue stops.
// What it misses is found by Config.Poll and Config.Heartbeat.
func (q *Queue) followNodes() {
	events, cancels := q.bus.Subscribe(TopicOf("")), q.cfg.Cluster.Subscribe(topicCancel)
	defer events.Close()
	defer cancels.Close()
	for {
		select {
		case <-q.keeping.Done():
			return
		case ev, ok := <-events.Events():
			if !ok {
				return
			}
			_, own := ev.Data.(Event)
			if ev.Lagged || !own && slices.Contains([]string{EventQueued, EventRequeued, EventRetry, EventCancel}, ev.Type) {
				q.dispatch.wake()
			}
		case ev, ok := <-cancels.Events():
			if !ok {
				return
			}
			if id, is := ev.Data.(string); is {
				q.cancelRun(id, ErrCanceled)
			}
		}
	}
}
