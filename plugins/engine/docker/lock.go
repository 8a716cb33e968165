package docker

import "context"

// contextMutex is a mutex whose wait ends with a context.
type contextMutex chan struct{}

func newContextMutex() contextMutex { return make(contextMutex, 1) }

// lock waits until the mutex is free and returns the function that unlocks it. The error is that of ctx.
func (m contextMutex) lock(ctx context.Context) (unlock func(), err error) {
	select {
	case m <- struct{}{}:
		return func() { <-m }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
