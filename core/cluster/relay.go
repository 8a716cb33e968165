package cluster

import (
	"context"
	"encoding/json"
	"time"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/store"
)

const (
	// relayTopic begins the topics of news for the buses of other nodes, lostTopic is that of news which were not sent.
	relayTopic = "core.relay/"
	lostTopic  = "core.lost"
	// queueWarn and queueFull are how full the queue of notifications is when that is worth a warning, and when it takes none any more.
	queueWarn, queueFull = 0.5, 0.99
	// freeTimeout is how long it may take to free that queue. It was 45 seconds for 8 GB on a busy machine.
	freeTimeout = 5 * time.Minute
)

// Relay publishes events on a bus of this node, and on those of the other nodes.
type Relay struct {
	cluster *Cluster
	bus     *event.Bus
	topic   string
}

// relayed is an event on its way to other nodes.
type relayed struct {
	Topic string `json:"t"`
	Type  string `json:"y"`
	Seq   int64  `json:"s,omitempty"`
	Text  string `json:"d,omitempty"`
}

// Relay connects a bus with those that have the same name at the other nodes. Without a cluster it publishes here alone.
func (c *Cluster) Relay(name string, bus *event.Bus) *Relay {
	r := &Relay{cluster: c, bus: bus, topic: relayTopic + name}
	if c != nil && c.cfg.Shared {
		c.wire.relays.Store(r.topic, r)
	}
	return r
}

// Publish publishes ev here at once. At the other nodes, within some 20 ms, it has its topic, Type and Seq, and its Data only if that is
// a text: readers there read the store. Where events may be lost, the bus says Lagged. Publish never waits; call it after the commit.
func (r *Relay) Publish(topic string, ev event.Event) {
	r.bus.Publish(topic, ev)
	if r.cluster == nil || !r.cluster.cfg.Shared {
		return
	}
	out := relayed{Topic: topic, Type: ev.Type, Seq: ev.Seq}
	out.Text, _ = ev.Data.(string)
	raw, err := json.Marshal(out)
	if err != nil || len(raw) > MaxNews {
		raw, _ = json.Marshal(relayed{Topic: topic, Type: ev.Type, Seq: ev.Seq})
	}
	r.cluster.wire.sendItem(newsItem{Topic: r.topic, Body: string(raw)})
}

// receive publishes here what another node has published.
func (r *Relay) receive(body string) {
	var in relayed
	if json.Unmarshal([]byte(body), &in) != nil {
		return
	}
	ev := event.Event{Type: in.Type, Seq: in.Seq}
	if in.Text != "" {
		ev.Data = in.Text
	}
	r.bus.Publish(in.Topic, ev)
}

// sendItem leaves a piece of news to be sent to other nodes. If there are too many, they are told that some are lost.
func (w *newsWire) sendItem(item newsItem) {
	select {
	case w.send <- item:
	default:
		w.unsent.Store(true)
	}
}

// receiveItem publishes here what another node has sent.
func (w *newsWire) receiveItem(item newsItem) {
	if item.Topic == lostTopic {
		w.announceLoss()
		return
	}
	if r, ok := w.relays.Load(item.Topic); ok {
		r.(*Relay).receive(item.Body)
		return
	}
	w.news.Publish(item.Topic, event.Event{Type: item.Topic, Data: item.Body})
}

// announceLoss tells all subscribers that news from other nodes may be lost.
func (w *newsWire) announceLoss() {
	w.news.Lag()
	w.announceRelayLoss()
}

// announceRelayLoss is announceLoss for the subscribers of buses, who do not look by themselves as followers do.
func (w *newsWire) announceRelayLoss() {
	w.relays.Range(func(_, r any) bool {
		r.(*Relay).bus.Lag()
		return true
	})
}

// watchConnection tells the subscribers of buses now and then that events may be lost, while there is no connection for news or no node can
// send any.
func (w *newsWire) watchConnection(ctx context.Context) {
	for event.Sleep(ctx, lookEvery) == nil {
		if !w.listening.Load() || w.full.Load() {
			w.announceRelayLoss()
		}
	}
}

// watchQueue finds out when the database's queue of notifications is full, warns before that is so, and frees it when nothing holds it any
// more. PostgreSQL cannot be stopped while it frees a long queue: there is one attempt at a time.
func (w *newsWire) watchQueue(ctx context.Context) {
	for warned := false; event.Sleep(ctx, lookEvery) == nil; {
		freeing, cancel := context.WithTimeout(ctx, freeTimeout)
		usage, err := store.FreeNotifications(freeing, w.store)
		cancel()
		if err != nil {
			continue
		}
		if usage >= queueWarn && !warned {
			w.log.Warn("PostgreSQL's queue of notifications fills up: "+store.NotificationsHint, "percent", int(usage*100))
		}
		warned = usage >= queueWarn
		w.full.Store(usage >= queueFull)
	}
}
