package proxy

import (
	"errors"
	"sync"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
	"github.com/patchbay-dev/patchbay/core/timering"
)

// countsForBackend reports whether the end of a call says something about the backend, and whether the call failed. What
// concerns a key alone says nothing.
func countsForBackend(ans *Answer, err error) (counts, failed bool) {
	switch {
	case err == nil:
		return true, ans.Head.Status >= 500
	case errors.Is(err, catalog.ErrRetired):
		return false, false
	}
	code := fault.CodeOf(err)
	failed = code == fault.UpstreamUnavailable || code == fault.PluginUnavailable || code == fault.AnswerTooLarge
	return failed, failed
}

// failureSlices is in how many parts a window is counted.
const failureSlices = 30

// failures counts the calls to each backend and those that failed, in slices of time.
type failures struct {
	mu    sync.Mutex
	byRef map[string]*window
}

// window counts calls in slices of a length.
type window struct {
	slice time.Duration
	parts *timering.Ring[callCount]
}

type callCount struct{ calls, failed int }

// findWindow returns the window of a backend. A window of another length starts empty. The caller holds the mutex.
func (f *failures) findWindow(ref string, length time.Duration) *window {
	slice := max(length/failureSlices, time.Second)
	w := f.byRef[ref]
	if w == nil || w.slice != slice {
		w = &window{slice: slice, parts: timering.New[callCount](failureSlices)}
		if f.byRef == nil {
			f.byRef = map[string]*window{}
		}
		f.byRef[ref] = w
	}
	return w
}

// countCall counts a call that ended now.
func (f *failures) countCall(ref string, now time.Time, length time.Duration, failed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w := f.findWindow(ref, length)
	p := w.parts.At(now.UnixNano() / int64(w.slice))
	p.calls++
	if failed {
		p.failed++
	}
}

// sumCalls returns the calls that ended within length before now, and how many of them failed.
func (f *failures) sumCalls(ref string, now time.Time, length time.Duration) (calls, failed int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w := f.findWindow(ref, length)
	for p := range w.parts.Latest(now.UnixNano() / int64(w.slice)) {
		calls, failed = calls+p.calls, failed+p.failed
	}
	return calls, failed
}
