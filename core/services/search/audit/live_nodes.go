package audit

import (
	"context"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/patchbay-dev/patchbay/core/event"
)

const (
	// topicReaders is where a core says that somebody reads its live log, topicEnded where others then say which requests have ended.
	topicReaders = "search.log/readers"
	topicEnded   = "search.log/ended"
	// readersEvery is how often a core says so, and readersFor how long the others believe it.
	readersEvery = 5 * time.Second
	readersFor   = 15 * time.Second
	// endedAtOnce bounds the requests in one piece of news.
	endedAtOnce = 45
)

// nodeFeed tells the readers of the live log at each core of the requests of all.
type nodeFeed struct {
	log *Log
	// wantedUntil is until when readers at other cores want to hear of requests, in Unix nanoseconds of this machine's clock.
	wantedUntil atomic.Int64
	// read has the cores told of readers here.
	read chan struct{}
}

// announceReaders has the other cores tell of their requests.
func (f *nodeFeed) announceReaders() {
	select {
	case f.read <- struct{}{}:
	default:
	}
}

// isWanted reports whether there are readers at other cores. A core alone has no feed.
func (f *nodeFeed) isWanted() bool { return f != nil && time.Now().UnixNano() < f.wantedUntil.Load() }

// publishEnded tells the readers at other cores of requests that have ended here.
func (f *nodeFeed) publishEnded(ended []int64) {
	for len(ended) > 0 {
		n := min(endedAtOnce, len(ended))
		body := f.log.cluster.ID()
		for _, id := range ended[:n] {
			body += " " + strconv.FormatInt(id, 10)
		}
		// It is short enough.
		_ = f.log.cluster.Publish(context.Background(), topicEnded, body)
		ended = ended[n:]
	}
}

// run exchanges news with the other cores until ctx ends.
func (f *nodeFeed) run(ctx context.Context) {
	news := f.log.cluster.Subscribe(topicReaders, topicEnded)
	defer news.Close()
	tick := time.NewTicker(readersEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if f.log.live.Heard(topicRequests) {
				f.announceReaders()
			}
		case <-f.read:
			_ = f.log.cluster.Publish(ctx, topicReaders, f.log.cluster.ID())
		case ev, ok := <-news.Events():
			if !ok {
				return
			}
			f.receiveNews(ctx, ev)
		}
	}
}

// receiveNews takes in what another core says. Where it may be incomplete, readers here are told.
func (f *nodeFeed) receiveNews(ctx context.Context, ev event.Event) {
	body, _ := ev.Data.(string)
	words := strings.Fields(body)
	switch {
	case ev.Lagged:
		f.log.live.Lag()
		return
	case len(words) == 0 || words[0] == f.log.cluster.ID():
		return
	case ev.Type == topicReaders:
		f.wantedUntil.Store(time.Now().Add(readersFor).UnixNano())
		return
	case !f.log.live.Heard(topicRequests):
		return
	}
	var ids []int64
	for _, word := range words[1:] {
		if id, err := strconv.ParseInt(word, 10, 64); err == nil {
			ids = append(ids, id)
		}
	}
	rows, err := f.log.Store.requestsByID(ctx, ids)
	if err != nil {
		f.log.live.Lag()
		return
	}
	for i := range rows {
		f.log.live.Publish(topicRequests, event.Event{Type: "request", Data: rows[i].toLog()})
	}
}
