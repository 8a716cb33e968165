package work

import (
	"context"
	"sync"
)

// KeyedMutex is a mutex for each key.
type KeyedMutex struct {
	mu   sync.Mutex
	held map[string]chan struct{}
}

// LockKey locks the key and returns the function that unlocks it. It waits until ctx ends.
func (k *KeyedMutex) LockKey(ctx context.Context, key string) (unlock func(), err error) {
	for {
		k.mu.Lock()
		if k.held == nil {
			k.held = map[string]chan struct{}{}
		}
		wait := k.held[key]
		if wait == nil {
			done := make(chan struct{})
			k.held[key] = done
			k.mu.Unlock()
			return func() {
				k.mu.Lock()
				delete(k.held, key)
				k.mu.Unlock()
				close(done)
			}, nil
		}
		k.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
