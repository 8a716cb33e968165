package host

import (
	"bytes"
	"slices"
	"sync"
)

const (
	ringLines   = 200
	ringLineMax = 4096
	// ringReach is how much of a line is searched for secrets, so that one that is cut by ringLineMax is found.
	ringReach = 2 * ringLineMax
)

// ring keeps the last lines that a plugin wrote.
type ring struct {
	// redact is applied to each line before it is kept.
	redact  func(string) string
	mu      sync.Mutex
	lines   []string
	partial []byte
	// overlong reports whether the beginning of the present line is stored and the rest is to be dropped.
	overlong bool
	// fresh is the number of lines since the last start, at most ringLines.
	fresh int
	// written is the number of lines ever stored.
	written int64
	// changed is closed when a line is stored; nil while nobody waits for one.
	changed chan struct{}
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
			r.addLine(r.partial[:i])
		}
		r.overlong = false
		r.partial = r.partial[i+1:]
	}
	if len(r.partial) > ringReach {
		if !r.overlong {
			r.addLine(r.partial)
		}
		r.partial, r.overlong = nil, true
	}
	return len(p), nil
}

// addLine stores the beginning of a line, with control characters escaped. It removes secrets before it cuts, since half a secret is not
// recognised.
func (r *ring) addLine(line []byte) {
	if len(r.lines) == ringLines {
		r.lines = slices.Delete(r.lines, 0, 1)
	}
	text := Printable(r.redact(string(line[:min(len(line), ringReach)])))
	r.lines = append(r.lines, text[:min(len(text), ringLineMax)])
	r.fresh = min(r.fresh+1, ringLines)
	r.written++
	if r.changed != nil {
		close(r.changed)
		r.changed = nil
	}
}

// linesAfter returns the stored lines after the first n that were ever written, the number of lines written so far, and a
// channel that is closed when there is another one.
func (r *ring) linesAfter(n int64) (lines []string, written int64, changed <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.changed == nil {
		r.changed = make(chan struct{})
	}
	missed := min(r.written-n, int64(len(r.lines)))
	if missed > 0 {
		lines = slices.Clone(r.lines[int64(len(r.lines))-missed:])
	}
	return lines, r.written, r.changed
}

// copyLines returns the stored lines, the oldest first.
func (r *ring) copyLines() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.lines)
}

// lastLine returns the newest line since the last start that is not empty, for an error message.
func (r *ring) lastLine() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range slices.Backward(r.lines[len(r.lines)-r.fresh:]) {
		if l != "" {
			return l[:min(len(l), 300)]
		}
	}
	return ""
}

// beginOutput begins the output of a new start. Earlier lines stay stored.
func (r *ring) beginOutput() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.partial, r.overlong, r.fresh = nil, false, 0
}
