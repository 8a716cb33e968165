package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/store"
)

const (
	// channel is that of the database on which nodes send each other news.
	channel = "patchbay_news"
	// newsEvery paces the notifications of a node: PostgreSQL commits those of all nodes one after the other.
	newsEvery = 20 * time.Millisecond
	// newsBuffer is how many pieces wait to be sent; what comes beside that is dropped, and followers find it when they look by themselves.
	newsBuffer = 4096
	// MaxNews is the longest body of a piece of news, in bytes: send an id, and let others read the store.
	MaxNews = 1000
	// lookEvery is how often a follower looks by itself.
	lookEvery = 2 * time.Second
)

// newsWire carries news to the other nodes, and theirs to the subscribers of this one.
type newsWire struct {
	store *store.Store
	log   hclog.Logger
	// boot is this process, in what it sends.
	boot string
	news *event.Bus
	send chan newsItem
	// relays has the Relay of each topic. unsent says that news were not sent, listening that those of others arrive, full that the database
	// takes none from anybody.
	relays    sync.Map
	unsent    atomic.Bool
	listening atomic.Bool
	full      atomic.Bool
}

// newsItem is a piece of news on its way.
type newsItem struct {
	Topic string `json:"t"`
	Body  string `json:"b"`
}

// newsLetter is a notification: what a process sends at once.
type newsLetter struct {
	Boot  string     `json:"n"`
	Items []newsItem `json:"i"`
}

// Publish tells all nodes, this one too, that something has changed, once the transaction in ctx has committed. It never waits. News may
// be lost with a connection: who depends on them uses Follow. body has at most MaxNews bytes.
func (c *Cluster) Publish(ctx context.Context, topic, body string) error {
	if len(body) > MaxNews {
		return fmt.Errorf("publish news about %s: %d bytes, the limit is %d", topic, len(body), MaxNews)
	}
	c.store.AfterCommit(ctx, func() {
		c.wire.news.Publish(topic, event.Event{Type: topic, Data: body})
		if c.cfg.Shared {
			c.wire.sendItem(newsItem{Topic: topic, Body: body})
		}
	})
	return nil
}

// Subscribe returns the news about topics, as strings in the events' Data, from all nodes. A topic that ends in "/" stands for all that
// begin with it. After a lost connection comes an event that says Lagged.
func (c *Cluster) Subscribe(topics ...string) *event.Subscription {
	return c.wire.news.Subscribe(topics...)
}

// Follow calls look with the bodies of the news about a topic, and with none when some may have been lost: at the beginning, every two
// seconds where other nodes are, and after a lost connection. It returns when ctx ends.
func (c *Cluster) Follow(ctx context.Context, topic string, look func(ctx context.Context, bodies []string)) {
	sub := c.Subscribe(topic)
	defer sub.Close()
	look(ctx, nil)
	var tick <-chan time.Time
	if c.cfg.Shared {
		ticker := time.NewTicker(lookEvery)
		defer ticker.Stop()
		tick = ticker.C
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick:
			look(ctx, nil)
		case ev, ok := <-sub.Events():
			if !ok {
				return
			}
			look(ctx, gatherBodies(ev, sub.Events()))
		}
	}
}

// gatherBodies returns the bodies of an event and of those that wait behind it, or none if some are lost.
func gatherBodies(ev event.Event, more <-chan event.Event) (bodies []string) {
	lagged := false
	for ok := true; ok; {
		lagged = lagged || ev.Lagged
		if body, is := ev.Data.(string); is {
			bodies = append(bodies, body)
		}
		select {
		case ev, ok = <-more:
		default:
			ok = false
		}
	}
	if lagged {
		return nil
	}
	return bodies
}

// sendNews sends what Publish has left, several pieces in one notification.
func (w *newsWire) sendNews(ctx context.Context) {
	for pause := newsEvery; event.Sleep(ctx, pause) == nil; {
		select {
		case <-ctx.Done():
			return
		case first := <-w.send:
			err := store.Notify(ctx, w.store, channel, w.packNews(first)...)
			switch {
			case err == nil:
				if pause == lookEvery {
					w.log.Info("other nodes get news again")
				}
				pause = newsEvery
			case ctx.Err() == nil:
				if pause == newsEvery {
					w.log.Warn("cannot send news to other nodes, they will look by themselves", "error", err)
				}
				pause = lookEvery
				w.sendItem(newsItem{Topic: lostTopic})
			}
		}
	}
}

// packNews returns the notifications for a piece of news and all that wait.
func (w *newsWire) packNews(first newsItem) (payloads []string) {
	letter, size := newsLetter{Boot: w.boot}, 0
	if w.unsent.Swap(false) {
		letter.Items = append(letter.Items, newsItem{Topic: lostTopic})
	}
	flush := func() {
		if raw, err := json.Marshal(letter); err == nil && len(letter.Items) > 0 {
			payloads = append(payloads, string(raw))
		}
		letter.Items, size = nil, 0
	}
	for item, ok := first, true; ok; {
		raw, _ := json.Marshal(item)
		if size+len(raw)+100 > store.MaxNotification {
			flush()
		}
		letter.Items, size = append(letter.Items, item), size+len(raw)+1
		select {
		case item = <-w.send:
		default:
			ok = false
		}
	}
	flush()
	return payloads
}

// receiveNews publishes here what other nodes send.
func (w *newsWire) receiveNews(ctx context.Context) {
	_ = store.Listen(ctx, w.store, channel, store.Listener{
		Connected: func() { w.listening.Store(true); w.announceLoss() },
		Ended:     func() { w.listening.Store(false) },
		Received: func(payload string) {
			var letter newsLetter
			if err := json.Unmarshal([]byte(payload), &letter); err != nil || letter.Boot == w.boot {
				return
			}
			for _, item := range letter.Items {
				w.receiveItem(item)
			}
		},
	})
}
