package host

import (
	"bytes"
	"slices"
	"sync"
)

const (
	ringLines   = 200
	ringLineMax = 4096
)

// ring keeps the last lines that a plugin wrote.
type ring struct {
	mu      sync.Mutex
	lines   []string
	partial []byte
}

// Write implements io.Writer and never fails.
func (r *ring) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.partial = append(r.partial, p...)
	for {
		i := bytes.IndexByte(r.partial, '\n')
		if i < 0 {
			break
		}
		r.add(r.partial[:i])
		r.partial = r.partial[i+1:]
	}
	if len(r.partial) > ringLineMax {
		r.add(r.partial)
		r.partial = nil
	}
	return len(p), nil
}

func (r *ring) add(line []byte) {
	if len(r.lines) == ringLines {
		r.lines = slices.Delete(r.lines, 0, 1)
	}
	r.lines = append(r.lines, string(line[:min(len(line), ringLineMax)]))
}

func (r *ring) snapshot() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.lines)
}

// last is the newest line that is not empty, for an error message.
func (r *ring) last() string {
	lines := r.snapshot()
	for _, l := range slices.Backward(lines) {
		if l != "" {
			return l[:min(len(l), 300)]
		}
	}
	return ""
}

// reset forgets the lines of an earlier life.
func (r *ring) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.partial = nil
}
