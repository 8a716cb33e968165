package sync

import gosync "sync"

// userLocks are locks by user, which exist while somebody holds or awaits them. The zero value is ready to use.
type userLocks struct {
	mu   gosync.Mutex
	held map[string]*userLock
}

// userLock is the lock of one user; users counts who holds or awaits it.
type userLock struct {
	mu    gosync.Mutex
	users int
}

// lock acquires the lock of a user and returns what releases it.
func (l *userLocks) lock(userID string) (unlock func()) {
	l.mu.Lock()
	if l.held == nil {
		l.held = map[string]*userLock{}
	}
	one := l.held[userID]
	if one == nil {
		one = &userLock{}
		l.held[userID] = one
	}
	one.users++
	l.mu.Unlock()
	one.mu.Lock()
	return func() {
		one.mu.Unlock()
		l.mu.Lock()
		defer l.mu.Unlock()
		if one.users--; one.users == 0 {
			delete(l.held, userID)
		}
	}
}
