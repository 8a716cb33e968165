package crawl

import (
	"context"
	"sync"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
)

// maxGates is how many hosts are remembered before those that nobody uses are forgotten.
const maxGates = 1024

// maxHostDelay is the longest pause that a host may ask for.
const maxHostDelay = 30 * time.Second

// gates bound how hard each host is asked.
type gates struct {
	parallel int
	delay    time.Duration
	mu       sync.Mutex
	byHost   map[string]*gate
}

// gate is the entrance to one host.
type gate struct {
	slots chan struct{}
	// turn is held by the one whose request starts next.
	turn chan struct{}
	// next is when the next request may start; users counts those who wait or are inside; delay is the pause that the host
	// asks for. They belong to gates.mu.
	next  time.Time
	users int
	delay time.Duration
}

func newGates(parallel int, delay time.Duration) *gates {
	return &gates{parallel: parallel, delay: delay, byHost: map[string]*gate{}}
}

// waitForTurn waits until a request to the host may start. leave must be called after it, unless there is an error.
func (g *gates) waitForTurn(ctx context.Context, host string) (leave func(), err error) {
	at := g.joinGate(host)
	select {
	case at.slots <- struct{}{}:
	case <-ctx.Done():
		g.leaveGate(at)
		return nil, ctx.Err()
	}
	leave = func() {
		<-at.slots
		g.leaveGate(at)
	}
	if err := g.awaitTurn(ctx, at); err != nil {
		leave()
		return nil, err
	}
	return leave, nil
}

// awaitTurn waits until a request may start. One that is given up meanwhile takes no turn, so that it delays no other.
func (g *gates) awaitTurn(ctx context.Context, at *gate) error {
	select {
	case at.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-at.turn }()
	_ = httpx.Sleep(ctx, g.pauseLeft(at))
	if err := ctx.Err(); err != nil {
		return err
	}
	g.takeTurn(at)
	return nil
}

// setDelay notes the pause between two requests that a host asks for.
func (g *gates) setDelay(host string, delay time.Duration) {
	at := g.joinGate(host)
	defer g.leaveGate(at)
	g.mu.Lock()
	defer g.mu.Unlock()
	at.delay = min(delay, maxHostDelay)
}

func (g *gates) joinGate(host string) *gate {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := g.byHost[host]
	if at == nil {
		if len(g.byHost) >= maxGates {
			g.forgetIdle()
		}
		at = &gate{slots: make(chan struct{}, g.parallel), turn: make(chan struct{}, 1)}
		g.byHost[host] = at
	}
	at.users++
	return at
}

func (g *gates) forgetIdle() {
	now := time.Now()
	for host, at := range g.byHost {
		if at.users == 0 && now.After(at.next) {
			delete(g.byHost, host)
		}
	}
}

func (g *gates) leaveGate(at *gate) {
	g.mu.Lock()
	defer g.mu.Unlock()
	at.users--
}

// pauseLeft returns how long the next request has to wait.
func (g *gates) pauseLeft(at *gate) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return time.Until(at.next)
}

// takeTurn notes that a request starts now.
func (g *gates) takeTurn(at *gate) {
	g.mu.Lock()
	defer g.mu.Unlock()
	at.next = time.Now().Add(max(g.delay, at.delay))
}
