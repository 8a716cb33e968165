package change

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
	"github.com/patchbay-dev/patchbay/core/services/containers/host"
	"github.com/patchbay-dev/patchbay/core/services/containers/order"
)

// gatherTime is for how long a command waits for others that may become ready beside it: they begin together and take about as long.
const gatherTime = 200 * time.Millisecond

// gathering runs the compose commands that recreate services of one stack. While one runs, those that are asked for meanwhile gather,
// and the next one does for all of them: commands on a project exclude each other.
type gathering struct {
	// pause is for how long the first command of a group waits for others.
	pause   time.Duration
	mu      sync.Mutex
	busy    bool
	waiting []*gathered
}

// gathered is the command of one service. It is told once: how the command ended that did for it too, or that it is its turn to run one.
type gathered struct {
	call host.ComposeCall
	told chan gatheredTurn
}

type gatheredTurn struct {
	leads bool
	err   error
}

// runCommand runs the command of one service, or has it run with those of others. While it waits for that it leaves its
// place. If a common command
// fails, each runs its own, so that the error is its own.
func (g *gathering) runCommand(ctx context.Context, place *order.Place, call host.ComposeCall, do func(context.Context, host.ComposeCall) error) error {
	own := &gathered{call: call, told: make(chan gatheredTurn, 1)}
	g.mu.Lock()
	g.waiting = append(g.waiting, own)
	leads := !g.busy
	g.busy = true
	g.mu.Unlock()
	turn := gatheredTurn{leads: leads}
	if !leads {
		place.Leave()
		turn = <-own.told
		place.Return()
	}
	alone := false
	if turn.leads {
		_ = event.Sleep(ctx, g.pause)
		alone, turn.err = g.leadGroup(ctx, own, do)
	}
	if turn.err == nil || alone || ctx.Err() != nil || errors.Is(turn.err, failure.ErrEngineLost) {
		return turn.err
	}
	return do(ctx, call)
}

// leadGroup runs one command for all that have gathered and can be done in one with own, and gives the turn to the next.
func (g *gathering) leadGroup(ctx context.Context, own *gathered, do func(context.Context, host.ComposeCall) error) (alone bool, err error) {
	g.mu.Lock()
	var with, left []*gathered
	for _, other := range g.waiting {
		if other != own && len(with) < StackPlaces-1 && other.call.MixesWith(own.call) {
			with = append(with, other)
		} else if other != own {
			left = append(left, other)
		}
	}
	g.waiting = left
	g.mu.Unlock()
	all := own.call
	for _, other := range with {
		all = all.JoinCall(other.call)
	}
	err = do(ctx, all)
	g.mu.Lock()
	if len(g.waiting) > 0 {
		g.waiting[0].told <- gatheredTurn{leads: true}
	} else {
		g.busy = false
	}
	g.mu.Unlock()
	for _, other := range with {
		other.told <- gatheredTurn{err: err}
	}
	return len(with) == 0, err
}

// StackPlaces is how many services of a stack are worked on at the same time. Those that are only watched take no place.
const StackPlaces = 4
