package queue

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/store"
)

const (
	// sqlDropPlaces has jobs begin anywhere, with tickets that say so.
	sqlDropPlaces = `UPDATE jobs SET place = '', ticket = 0 WHERE state = 'queued' AND place <> ''`
	// sqlPlacesDue are the places for which jobs have waited for some milliseconds.
	sqlPlacesDue = `SELECT DISTINCT place FROM jobs WHERE state = 'queued' AND place <> '' AND run_at <= {now} - ?`
	// sqlTellWaiting notes in jobs of a place what they wait for, once.
	sqlTellWaiting = `UPDATE jobs SET step = ?, last_seq = last_seq + 1 WHERE id IN (SELECT id FROM jobs WHERE state = 'queued' AND place = ?
		AND run_at <= {now} - ? AND step <> ? ORDER BY run_at, id LIMIT ? FOR UPDATE SKIP LOCKED) RETURNING ` + rowColumns
)

// placeOf returns the place of new jobs of a handler's type.
func placeOf(h *Handler) string {
	if h == nil || h.Place == nil {
		return ""
	}
	place, _ := h.Place()
	return place
}

// kindsHere returns the kinds of the tickets of a handler's jobs that may begin in this process.
func kindsHere(h *Handler) []string {
	if h.Place == nil {
		return []string{h.Type}
	}
	place, here := h.Place()
	if !here {
		return nil
	}
	return []string{h.Type, h.Type + placeMark + place}
}

// typeOfKind returns the type of the jobs whose tickets have a kind.
func typeOfKind(kind string) string {
	kind, _, _ = strings.Cut(kind, placeMark)
	return kind
}

// tellWaiting writes in the logs of jobs, due for at least some milliseconds, that no node is at their place.
func tellWaiting(ctx context.Context, q *Queue, due int64) error {
	var places []string
	if err := q.store.DB(ctx).Raw(withClock(q.store, sqlPlacesDue), due).Scan(&places).Error; err != nil || len(places) == 0 {
		return err
	}
	nodes, err := cluster.ListNodes(ctx, q.store)
	if err != nil {
		return err
	}
	for _, place := range places {
		if slices.ContainsFunc(nodes, func(n cluster.Node) bool { return n.Works() && slices.Contains(n.Places, place) }) {
			continue
		}
		if err := tellWaitingFor(ctx, q, place, due); err != nil {
			return fmt.Errorf("tell that jobs wait for a node with %s: %w", place, err)
		}
	}
	return nil
}

// tellWaitingFor writes in the logs of jobs that no node is at a place.
func tellWaitingFor(ctx context.Context, q *Queue, place string, due int64) error {
	waits := "waits for a node with " + place
	return q.store.QueueTx(store.Essential(ctx), "tell of waiting jobs", func(ctx context.Context) error {
		var rows []row
		err := q.store.Writer(ctx).Raw(withClock(q.store, sqlTellWaiting), waits, place, due, waits, batchSize).Scan(&rows).Error
		for i := range rows {
			if err == nil {
				err = q.addEvent(ctx, &rows[i], EventLog, map[string]any{"text": "The job " + waits + ": none runs.", "level": "warn"})
			}
		}
		return err
	})
}
