package httpx

import (
	"errors"
	"io"
	"sync"
)

// loan lends a request's body to net/http, which may go on reading it after the answer is there or the call was given
// up. After end nobody reads the caller's bytes any more, so that they can be used for something else.
type loan struct {
	mu    sync.Mutex
	data  []byte
	ended bool
}

var errLoanEnded = errors.New("request is over")

func (l *loan) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.data, l.ended = nil, true
}

// loanReader reads a loan from its beginning. It copies, and offers no way around that.
type loanReader struct {
	loan *loan
	at   int
}

func (r *loanReader) Read(p []byte) (int, error) {
	r.loan.mu.Lock()
	defer r.loan.mu.Unlock()
	if r.loan.ended {
		return 0, errLoanEnded
	}
	if r.at >= len(r.loan.data) {
		return 0, io.EOF
	}
	n := copy(p, r.loan.data[r.at:])
	r.at += n
	return n, nil
}

func (r *loanReader) Close() error { return nil }
