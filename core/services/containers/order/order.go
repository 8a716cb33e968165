// Package order runs tasks at the same time that do not depend on each other.
package order

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// Task is one of the tasks of Run.
type Task struct {
	// After are the tasks, by their places in the list, that must have ended before this one begins.
	After []int
	// Begun tells that an earlier attempt has begun the task: it is gone on with, also when no other task may begin.
	Begun bool
}

// Run calls do for each task in a goroutine of its own, at most for as many at once as there are places, and returns when all have ended.
// Of the tasks that may begin the first in the list does. Once do has returned false, only tasks begin that an earlier attempt had begun.
// Run returns which tasks it began. Tasks that wait for each other in a circle never begin. A panic of do goes on in the caller of Run,
// once all that were begun have ended.
func Run(tasks []Task, places int, do func(i int, p *Place) bool) (begun []bool) {
	r := &run{free: places}
	r.changed.L = &r.mu
	begun, ended := make([]bool, len(tasks)), make([]bool, len(tasks))
	var all sync.WaitGroup
	defer func() {
		r.mu.Unlock()
		all.Wait()
		if r.panicked != nil {
			panic(r.panicked)
		}
	}()
	r.mu.Lock()
	for {
		next, left, open := -1, -1, 0
		for i, task := range tasks {
			switch {
			case ended[i]:
			case begun[i]:
				open++
			case next < 0 && (task.Begun || !r.stopped) && allSet(ended, task.After):
				next = i
			case left < 0 && task.Begun:
				left = i
			}
		}
		if next < 0 && open == 0 {
			// What was begun goes on, also when what it waits for is not begun any more.
			next = left
		}
		switch {
		case next >= 0 && r.free > 0 && r.waiting == 0:
			r.free--
			begun[next] = true
			all.Go(func() {
				p := &Place{run: r, held: true}
				ok, panicked := callTask(do, next, p)
				r.mu.Lock()
				defer r.mu.Unlock()
				if panicked != nil {
					r.panicked = panicked
				}
				if p.held {
					r.free++
				}
				ended[next] = true
				r.stopped = r.stopped || !ok
				r.changed.Broadcast()
			})
		case open == 0 && next < 0:
			return begun
		default:
			r.changed.Wait()
		}
	}
}

// callTask calls do and returns what it panicked with, with the stack of that.
func callTask(do func(i int, p *Place) bool, i int, p *Place) (ok bool, panicked any) {
	defer func() {
		if v := recover(); v != nil {
			ok, panicked = false, fmt.Sprintf("%v\n%s", v, debug.Stack())
		}
	}()
	return do(i, p), nil
}

func allSet(set []bool, indexes []int) bool {
	for _, i := range indexes {
		if !set[i] {
			return false
		}
	}
	return true
}

// run is what the tasks of one call share.
type run struct {
	mu      sync.Mutex
	changed sync.Cond
	// free is the number of free places, waiting that of the tasks that want theirs back: these come before tasks that have not begun.
	free, waiting int
	stopped       bool
	panicked      any
}

// Place is one of the places of Run. A task holds one from its beginning.
type Place struct {
	run  *run
	held bool
}

// Leave lets another task have the place, for as long as this one only waits for something. Nothing happens on a nil Place, as with Return.
func (p *Place) Leave() {
	if p == nil || !p.held {
		return
	}
	p.run.mu.Lock()
	defer p.run.mu.Unlock()
	p.held = false
	p.run.free++
	p.run.changed.Broadcast()
}

// Return takes a place again, and waits until one is free.
func (p *Place) Return() {
	if p == nil || p.held {
		return
	}
	p.run.mu.Lock()
	defer p.run.mu.Unlock()
	p.run.waiting++
	for p.run.free == 0 {
		p.run.changed.Wait()
	}
	p.run.waiting--
	p.run.free--
	p.held = true
	p.run.changed.Broadcast()
}
