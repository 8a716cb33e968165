package kit

import (
	"strings"
	"sync"
)

// Lines keeps what a process writes.
type Lines struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write keeps what is written.
func (l *Lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *Lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
