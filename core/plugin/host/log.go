package host

import (
	"bytes"
	"slices"
	"sync"
)

const (
	ringLines   = 200
	ringLineMax = 4096
	// ringReach is how much of a line is looked at for secrets, so that one at the end of what is kept is found whole.
	ringReach = 2 * ringLineMax
)

// ring keeps the last lines that a plugin wrote.
type ring struct {
	// redact is applied to each line before it is kept.
	redact  func(string) string
	mu      sync.Mutex
	lines   []string
	partial []byte
	// overlong reports that the present line is kept already, as far as one may be, and that its end is still to come.
	overlong bool
	// fresh counts the lines of the present life, at most ringLines.
	fresh int
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
		if !r.overlong {
			r.add(r.partial[:i])
		}
		r.overlong = false
		r.partial = r.partial[i+1:]
	}
	if len(r.partial) > ringReach {
		if !r.overlong {
			r.add(r.partial)
		}
		r.partial, r.overlong = nil, true
	}
	return len(p), nil
}

// add keeps the beginning of a line. It is cut after secrets were taken out: half a secret is not recognised.
func (r *ring) add(line []byte) {
	if len(r.lines) == ringLines {
		r.lines = slices.Delete(r.lines, 0, 1)
	}
	text := r.redact(string(line[:min(len(line), ringReach)]))
	r.lines = append(r.lines, text[:min(len(text), ringLineMax)])
	r.fresh = min(r.fresh+1, ringLines)
}

func (r *ring) snapshot() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.lines)
}

// last is the newest line of the present life that is not empty, for an error message.
func (r *ring) last() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range slices.Backward(r.lines[len(r.lines)-r.fresh:]) {
		if l != "" {
			return l[:min(len(l), 300)]
		}
	}
	return ""
}

// reset begins a new life. The earlier lines stay for snapshot.
func (r *ring) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.partial, r.overlong, r.fresh = nil, false, 0
}
