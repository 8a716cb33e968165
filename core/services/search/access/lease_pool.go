package access

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/store"
)

const (
	// topicRecall is where a core asks the others to give back what they have left of a token's limits.
	topicRecall = "quota.recall"
	// idleFor is how long a core keeps what it has left of the limits of a token that nobody uses.
	idleFor = 2 * time.Second
	// returnEvery is how often it is looked what can be given back.
	returnEvery = 500 * time.Millisecond
	// takeTimeout bounds a question to the database.
	takeTimeout = 5 * time.Second
	// recallPatience is how long a request that is about to be refused waits for what other cores have left. Only a core that has stopped
	// without an end makes it wait that long.
	recallPatience = 2 * time.Second
)

// leasePool has the leases of this core's tokens. core/docs/adr/0035-quota-leases.md says how cores share limits.
type leasePool struct {
	store   *leaseStore
	cluster *cluster.Cluster
	log     hclog.Logger
	// node is this process in the rows of leases.
	node string
	// nodes is how many cores there are.
	nodes atomic.Int64

	mu sync.Mutex
	// looked is when, by this machine's clock, the clock of the database showed shown.
	looked, shown time.Time
	watched       map[*lease]bool
	kick          chan struct{}
	stop          context.CancelFunc
	loops         sync.WaitGroup
}

// openLeases makes the leases of a core that shares the database, or nil for one that has it for itself.
func openLeases(st *store.Store, c *cluster.Cluster, log hclog.Logger) *leasePool {
	if !c.Shared() {
		return nil
	}
	p := &leasePool{
		store: &leaseStore{st}, cluster: c, log: log, node: c.ID() + "/" + strconv.FormatInt(c.Epoch(), 10),
		watched: map[*lease]bool{}, kick: make(chan struct{}, 1), stop: func() {},
	}
	p.nodes.Store(1)
	return p
}

// start begins to give back what is not used, and answers other cores that ask for it. find returns the lease of a token, or nil.
func (p *leasePool) start(ctx context.Context, find func(token string) *lease) error {
	if err := p.store.closeRows(ctx, p.cluster.ID()); err != nil {
		return err
	}
	if err := p.compareClocks(ctx); err != nil {
		return err
	}
	loops, stop := context.WithCancel(context.Background())
	p.stop = stop
	p.loops.Go(func() { p.returnLoop(loops) })
	p.loops.Go(func() { p.answerRecalls(loops, find) })
	return nil
}

// compareClocks looks at the clock of the database.
func (p *leasePool) compareClocks(ctx context.Context) error {
	asked := time.Now()
	shown, err := store.ReadClock(ctx, p.store.store)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.looked, p.shown = asked, shown
	return nil
}

// databaseTime returns the time by the clock of the database. It is ahead by the time that a question takes, at most: nothing is used in a minute
// that is over.
func (p *leasePool) databaseTime() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.shown.Add(time.Since(p.looked))
}

// close gives back what is left. No request may be under way.
func (p *leasePool) close() {
	p.stop()
	p.loops.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), takeTimeout)
	defer cancel()
	for _, l := range p.allWatched() {
		if err := l.returnAll(ctx); err != nil {
			p.log.Warn("cannot give back the rest of a token's quota, it counts as used until its minute is over", "token", l.token, "error", err)
		}
	}
}

// take asks the database for a part of a token's limits. A wish for a new request is of the present minute: if that is not the minute of
// the wish, nothing is taken.
func (p *leasePool) take(ctx context.Context, token string, w wish, limits Limits) (out taken, err error) {
	// The answer counts even if the client has gone.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), takeTimeout)
	defer cancel()
	err = p.store.store.Tx(ctx, "take quota", func(ctx context.Context) error {
		out = taken{}
		now, err := p.store.lockToken(ctx, token)
		if err != nil {
			return err
		}
		if w.isNew {
			w.at, out.moved = now, now.Unix()/60 != w.at.Unix()/60
		}
		if out.at = w.at; out.moved {
			return nil
		}
		all, others, seeded, err := p.store.readUse(ctx, token, p.node, w.at)
		if err == nil && !seeded {
			if err = p.store.seedToken(ctx, token, w.at); err == nil {
				all, others, _, err = p.store.readUse(ctx, token, p.node, w.at)
			}
		}
		if err != nil {
			return err
		}
		out.others = others
		if out.refusal = w.findRefusal(all, limits); out.refusal != nil {
			out.elsewhere, err = p.store.hasOpen(ctx, token, p.node)
			return err
		}
		out.requests, out.credits = w.divide(all, limits, p.nodes.Load())
		out.open = w.rest || out.requests > w.need.requests || out.credits > w.need.credits
		return p.store.addToRows(ctx, token, p.node, w.at, limits.RequestsMinute > 0, out.requests, out.credits, out.open)
	})
	if err != nil {
		return out, fault.Wrap(fmt.Errorf("take quota: %w", err), fault.NotReady,
			"The quota of the access token could not be checked. Try again.")
	}
	return out, nil
}

// findRefusal returns the limit that keeps what is needed from being taken, or nil.
func (w wish) findRefusal(all *counter, limits Limits) *Exceeded {
	all.mu.Lock()
	defer all.mu.Unlock()
	if w.need.requests > 0 {
		if x := all.checkLimits(w.at, 0, limits); x != nil {
			return x
		}
	}
	if w.need.credits == 0 {
		return nil
	}
	// What is left here of the credits that were taken before is free for this request.
	all.reserved = w.need.credits - w.price
	return all.checkCredits(w.at, w.price, limits)
}

// divide returns how much to take: what is needed, and as much more as leaves the other cores their part.
func (w wish) divide(all *counter, limits Limits, nodes int64) (requests, credits int64) {
	more := w.more
	requests = w.need.requests
	if requests > 0 {
		left := limits.RequestsHour - all.requests.sum
		requests = min(requests+more, (left-1)/(2*nodes)+1)
		more = requests - 1
	}
	left := min(limits.CreditsHour-all.credits.sum, limits.CreditsDay-all.day.credits, limits.CreditsMonth-all.month.credits)
	credits = max(w.need.credits, min(w.need.credits+more*w.price, left/(2*nodes)))
	if w.price == 0 {
		credits = 0
	}
	return requests, credits
}

// recall asks the other cores to give back what they have left of a token's limits.
func (p *leasePool) recall(ctx context.Context, token string) {
	_ = p.cluster.Publish(context.WithoutCancel(ctx), topicRecall, p.node+" "+token)
}

// answerRecalls gives back what other cores ask for.
func (p *leasePool) answerRecalls(ctx context.Context, find func(token string) *lease) {
	sub := p.cluster.Subscribe(topicRecall)
	defer sub.Close()
	for {
		select {
		case <-ctx.Done():
			return
		case ev, ok := <-sub.Events():
			if !ok {
				return
			}
			body, _ := ev.Data.(string)
			node, token, _ := strings.Cut(body, " ")
			if l := find(token); l != nil && node != p.node {
				// A request that asks for the token itself may hold it up.
				p.loops.Go(func() { p.returnOf(ctx, l) })
			}
		}
	}
}

// returnOf gives back what is left of a lease.
func (p *leasePool) returnOf(ctx context.Context, l *lease) {
	if err := l.returnAll(ctx); err != nil && ctx.Err() == nil {
		p.log.Warn("cannot give back the rest of a token's quota, retrying", "token", l.token, "error", err)
	}
}

// watch has what is left of a lease given back in time.
func (p *leasePool) watch(l *lease) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.watched[l] = true
}

// wake has the leases looked at now.
func (p *leasePool) wake() {
	select {
	case p.kick <- struct{}{}:
	default:
	}
}

func (p *leasePool) allWatched() (all []*lease) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.watched {
		all = append(all, l)
	}
	return all
}

// returnLoop gives back what is not used any more.
func (p *leasePool) returnLoop(ctx context.Context) {
	tick := time.NewTicker(returnEvery)
	defer tick.Stop()
	var counted time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-p.kick:
		}
		if time.Since(counted) > idleFor {
			p.countNodes(ctx)
			if err := p.compareClocks(ctx); err != nil && ctx.Err() == nil {
				p.log.Debug("the clock of the database is not known exactly", "error", err)
			}
			counted = time.Now()
		}
		for _, l := range p.allWatched() {
			if l.isDue() {
				p.returnOf(ctx, l)
			}
			if l.forgetSettled() {
				p.mu.Lock()
				delete(p.watched, l)
				p.mu.Unlock()
			}
		}
	}
}

// countNodes counts the cores that share the limits.
func (p *leasePool) countNodes(ctx context.Context) {
	nodes, err := cluster.ListNodes(ctx, p.store.store)
	if err != nil {
		return
	}
	live := int64(0)
	for _, n := range nodes {
		if n.State == cluster.Running || n.State == cluster.Draining {
			live++
		}
	}
	p.nodes.Store(max(1, live))
}
