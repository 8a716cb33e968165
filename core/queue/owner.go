package queue

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/store"
)

const (
	// relayName is that of the events of jobs on their way to other nodes, topicCancel that of news with the ids of jobs to cancel.
	relayName   = "queue"
	topicCancel = "queue.cancel"
)

// sqlJobsOfNode finds the running jobs of a node in epochs other than one.
const sqlJobsOfNode = `SELECT ` + rowColumns + ` FROM jobs WHERE state = 'running' AND starts_with(owner, ?) AND owner <> ?
	ORDER BY heartbeat_at LIMIT ?`

// sqlOwnedByLive reports whether the owner of a job is a node whose lease has not ended.
const sqlOwnedByLive = `EXISTS (SELECT 1 FROM core_nodes n WHERE n.ended_at = 0 AND n.id || '/' || n.epoch = jobs.owner)`

// sharesDatabase reports whether other nodes may run jobs of this database.
func sharesDatabase(q *Queue) bool { return q.cfg.Cluster != nil && q.cfg.Cluster.Shared() }

// currentOwner returns what stands in the rows of the jobs that begin now, and a context that ends when none may run here.
func currentOwner(q *Queue) (context.Context, string) {
	if !sharesDatabase(q) {
		return context.Background(), q.processOwner
	}
	alive, epoch := q.cfg.Cluster.Alive()
	return alive, nodeOwner(q.cfg.Cluster.ID(), epoch)
}

func nodeOwner(node string, epoch int64) string { return node + "/" + strconv.FormatInt(epoch, 10) }

// recoverAtStart recovers what former processes left: all that runs if this core is alone, else what this node ran in earlier epochs, and
// what nobody confirms.
func recoverAtStart(ctx context.Context, q *Queue) error {
	if !sharesDatabase(q) {
		return q.recoverOrphans(ctx, q.store.Exclusive())
	}
	_, owner := currentOwner(q)
	if err := recoverNode(ctx, q, q.cfg.Cluster.ID(), owner); err != nil {
		return err
	}
	return q.recoverOrphans(ctx, false)
}

// RecoverNode recovers the jobs of a node whose lease has ended. It joins the transaction in ctx: that in which the node is taken for dead. A
// job without a handler here is left to a node that has it.
func (q *Queue) RecoverNode(ctx context.Context, node string) error {
	return recoverNode(ctx, q, node, "")
}

// recoverNode recovers the jobs of a node in all epochs but that of the owner except.
func recoverNode(ctx context.Context, q *Queue, node, except string) error {
	var rows []row
	if err := q.store.DB(ctx).Raw(sqlJobsOfNode, node+"/", except, 2*batchSize).Scan(&rows).Error; err != nil {
		return fmt.Errorf("find the jobs of node %s: %w", node, err)
	}
	ctx = store.Essential(ctx)
	for i := range rows {
		if q.handlers[rows[i].Type] == nil {
			continue
		}
		if err := q.recoverJob(ctx, &rows[i]); err != nil {
			return fmt.Errorf("recover the job %s of node %s: %w", rows[i].ID, node, err)
		}
	}
	return nil
}

// CountNodeJobs notes in nodes how many jobs run at each. Those of a core that is alone are of the one that works.
func CountNodeJobs(ctx context.Context, st *store.Store, nodes []cluster.Node) error {
	var counts []struct {
		Owner string
		Jobs  int64
	}
	if err := st.DB(ctx).Raw(`SELECT owner, count(*) AS jobs FROM jobs WHERE state = 'running' GROUP BY owner`).Scan(&counts).Error; err != nil {
		return fmt.Errorf("count the jobs of nodes: %w", err)
	}
	for _, c := range counts {
		id, _, named := strings.Cut(c.Owner, "/")
		for i := range nodes {
			if named && nodes[i].ID == id || !named && nodes[i].Works() {
				nodes[i].Jobs += c.Jobs
			}
		}
	}
	return nil
}

// cancelEverywhere ends the context of a running job, at whichever node it runs, once the transaction in ctx has committed.
func cancelEverywhere(ctx context.Context, q *Queue, id string) error {
	q.store.AfterCommit(ctx, func() { q.cancelRun(id, ErrCanceled) })
	if !sharesDatabase(q) {
		return nil
	}
	return q.cfg.Cluster.Publish(ctx, topicCancel, id)
}

// followNodes looks for jobs when other nodes have queued some, and cancels the jobs that run here for other nodes, until the queue stops.
// What it misses is found by Config.Poll and Config.Heartbeat.
func followNodes(q *Queue) {
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
