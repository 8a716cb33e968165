package work

import (
	"cmp"
	"context"

	"github.com/patchbay-dev/patchbay/core/cluster"
)

// KeyedMutex is a mutex for each key. The zero value is one of this process alone.
type KeyedMutex struct {
	shared *cluster.Locks
	own    cluster.Locks
}

// NewKeyedMutex returns the mutex that all nodes share. Keys of the same name are the same in all of them.
func NewKeyedMutex(shared *cluster.Locks) *KeyedMutex { return &KeyedMutex{shared: shared} }

// LockKey locks the key and returns the function that unlocks it. It waits until ctx ends.
func (k *KeyedMutex) LockKey(ctx context.Context, key string) (unlock func(), err error) {
	lock, err := cmp.Or(k.shared, &k.own).Lock(ctx, "containers/"+key)
	if err != nil {
		return nil, err
	}
	return lock.Release, nil
}
