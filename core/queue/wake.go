package queue

// Waker tells the workers that a job is due. A lost call costs no more than Config.Poll.
type Waker interface {
	// Wake never blocks.
	Wake()
	// Woken is received from by the one dispatcher; several calls of Wake may give one value.
	Woken() <-chan struct{}
}

// localWaker works within one process.
type localWaker chan struct{}

// NewLocalWaker returns a Waker for one process.
func NewLocalWaker() Waker { return make(localWaker, 1) }

// Wake implements Waker.
func (w localWaker) Wake() {
	select {
	case w <- struct{}{}:
	default:
	}
}

// Woken implements Waker.
func (w localWaker) Woken() <-chan struct{} { return w }
