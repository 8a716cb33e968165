// Package audit keeps the requests of the search service: it writes their rows in group commits, adds them up in roll-ups, and
// answers lists, exports and charts.
package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Config is what a Log needs.
type Config struct {
	Store *store.Store
	// Cluster is this core among those of the database; nil for a core alone.
	Cluster *cluster.Cluster
	Logger  hclog.Logger
	Now     func() time.Time
	// Disabled keeps no rows: requests are neither written nor added up.
	Disabled bool
}

// Log keeps the audit of all requests: it writes their rows, adds them up, and answers questions about them.
type Log struct {
	Store   *Store
	cluster *cluster.Cluster
	log     hclog.Logger
	now     func() time.Time
	rollups *rollups
	// writer is nil if no rows are kept.
	writer *Writer
	// live carries requests as they end.
	live *event.Bus
	// feed exchanges them with other cores; nil for a core alone.
	feed *nodeFeed
	// stopSettling ends settling, which ends the requests of cores that are gone, and the feed.
	stopSettling context.CancelFunc
	settling     sync.WaitGroup
}

// New makes a log that writes nothing before StartWriting.
func New(cfg Config) *Log {
	l := &Log{Store: &Store{cfg.Store}, cluster: cfg.Cluster, log: cfg.Logger, now: cfg.Now, live: event.NewBus(), stopSettling: func() {}}
	l.rollups = newRollups(l.Store, cfg.Logger, cfg.Now)
	if !cfg.Disabled {
		var node *nodeWriter
		if cfg.Cluster.Shared() {
			node = &nodeWriter{store: l.Store, cluster: cfg.Cluster, log: cfg.Logger, now: cfg.Now, began: l.rollups.beginWriter}
			l.feed = &nodeFeed{log: l, read: make(chan struct{}, 1)}
		}
		l.writer = newWriter(cfg.Store, cfg.Logger, node, l.RecordWritten)
	}
	return l
}

// CloseInterrupted ends the requests that an earlier end of the core has left open, or that cores have left which are gone.
func (l *Log) CloseInterrupted(ctx context.Context) error {
	if l.Store.isPostgres() {
		if err := l.settleGone(ctx); err != nil {
			return err
		}
	}
	closeRows := l.Store.CloseInterrupted
	if l.cluster.Shared() {
		closeRows = func(ctx context.Context) (int64, error) { return l.Store.takeOver(ctx, l.rollups.restoreSums) }
	}
	interrupted, err := closeRows(ctx)
	if err != nil {
		return fmt.Errorf("close interrupted requests: %w", err)
	}
	if interrupted > 0 {
		l.log.Warn("requests interrupted by the last stop", "rows", interrupted)
	}
	return nil
}

// StartWriting computes the roll-ups that a crash has lost, and writes requests from then on.
func (l *Log) StartWriting(ctx context.Context) error {
	if l.writer == nil {
		return nil
	}
	if l.writer.node != nil {
		if err := l.writer.node.registerWriter(ctx); err != nil {
			return err
		}
		settling, stop := context.WithCancel(context.Background())
		l.stopSettling = stop
		l.settling.Go(func() { l.settleLoop(settling) })
		l.settling.Go(func() { l.feed.run(settling) })
		l.rollups.start()
		l.writer.start(0)
		return nil
	}
	last, err := l.Store.LastRequestID(ctx)
	if err != nil {
		return fmt.Errorf("read the last request: %w", err)
	}
	if err := l.rollups.restoreSums(ctx); err != nil {
		return fmt.Errorf("make the roll-ups anew: %w", err)
	}
	l.rollups.start()
	l.writer.start(last)
	return nil
}

// Writer returns what writes the rows of requests, or nil if none are kept.
func (l *Log) Writer() *Writer { return l.writer }

// CheckWriter returns an error while rows cannot be written.
func (l *Log) CheckWriter() error {
	if l.writer != nil && !l.writer.isHealthy() {
		return errors.New("cannot write audit rows")
	}
	return nil
}

// LifetimeSums returns the sums of all requests of subjects since the first one. The scope is one of those of roll-ups.
func (l *Log) LifetimeSums(ctx context.Context, scope string, subjects []string) (map[string]*RequestSums, error) {
	return l.rollups.lifetimeSums(ctx, scope, subjects)
}

// Close writes what is left, roll-ups included. No request may be under way.
func (l *Log) Close() {
	if l.writer == nil {
		return
	}
	l.stopSettling()
	l.settling.Wait()
	l.writer.close()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	l.rollups.close(ctx)
}

// RecordWritten counts the requests of one write, and publishes those that have ended in the order of their ids.
func (l *Log) RecordWritten(inserts, updates []Entry) {
	l.rollups.addEntries(inserts)
	l.rollups.addEntries(updates)
	if !l.live.Heard(topicRequests) && !l.feed.isWanted() {
		return
	}
	// A row that was written open is an update now, beside the inserts of requests that began after it.
	written := slices.Concat(inserts, updates)
	slices.SortFunc(written, func(a, b Entry) int { return cmp.Compare(a.ID, b.ID) })
	var ended []int64
	for i := range written {
		if written[i].Outcome != Open {
			l.live.Publish(topicRequests, event.Event{Type: "request", Data: written[i].toLog()})
			ended = append(ended, written[i].ID)
		}
	}
	if l.feed.isWanted() {
		l.feed.publishEnded(ended)
	}
}

// Live subscribes to requests as they end, those of other cores within a moment. The data of each event is a RequestLog; close the
// subscription when done.
func (l *Log) Live() *event.Subscription {
	sub := l.live.Subscribe(topicRequests)
	if l.feed != nil {
		l.feed.announceReaders()
	}
	return sub
}

// topicRequests is where ended requests are published.
const topicRequests = "search.requests"

// Flush waits until the audit of all requests that have ended is written, roll-ups included.
func (l *Log) Flush(ctx context.Context) error {
	if err := l.FlushRows(ctx); err != nil || l.writer == nil {
		return err
	}
	return l.rollups.flush(ctx)
}

// FlushRows is Flush without the roll-ups, which may be some seconds behind.
func (l *Log) FlushRows(ctx context.Context) error {
	if l.writer == nil {
		return nil
	}
	return l.writer.flushRecords(ctx)
}

// DropUnstored drops the roll-ups that are not stored yet, as a crash does. The next start computes them again.
func (l *Log) DropUnstored() { l.rollups.dropUnstored() }
