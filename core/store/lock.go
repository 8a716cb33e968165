package store

import (
	"errors"
	"fmt"
)

// ErrLocked is in the chain of every LockedError.
var ErrLocked = errors.New("another core uses this database")

// LockedError says that another core uses the database.
type LockedError struct {
	// What is the lock file, or the server and database.
	What string
	// Holder says who holds it, such as "process 4711"; "" if unknown.
	Holder string
}

// Error implements error.
func (e *LockedError) Error() string {
	holder := e.Holder
	if holder == "" {
		holder = "another process"
	}
	return fmt.Sprintf("lock the database: %s holds %s; stop the other core first, one core may use a database at a time, "+
		"or several with replicas = true (SVC_REPLICAS) on PostgreSQL", holder, e.What)
}

// Is makes errors.Is(err, ErrLocked) true.
func (e *LockedError) Is(target error) bool { return target == ErrLocked }

// coreLock is a held lock.
type coreLock interface {
	lost() <-chan struct{}
	release() error
}
