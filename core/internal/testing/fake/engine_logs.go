package fake

import (
	"context"
	"slices"
	"sync"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// output is what the containers of an image or single ones have written.
type output struct {
	mu    sync.Mutex
	lines map[string][]engine.LogLine
	ended map[string]bool
	// changed is closed and made anew when there is more.
	changed chan struct{}
}

func newOutput() *output {
	return &output{lines: map[string][]engine.LogLine{}, ended: map[string]bool{}, changed: make(chan struct{})}
}

// change changes the output and wakes those that follow it.
func (o *output) change(do func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	do()
	close(o.changed)
	o.changed = make(chan struct{})
}

// Write adds lines to the output of a container, or of all containers of an image, by its id.
func (e *engineContainers) Write(id string, lines ...engine.LogLine) {
	e.output.change(func() { e.output.lines[id] = append(e.output.lines[id], lines...) })
}

// EndOutput ends the output of a container for those that follow it.
func (e *engineContainers) EndOutput(id string) {
	e.output.change(func() { e.output.ended[id] = true })
}

// Logs implements client.Engine. What the image's containers write comes before what the container itself does.
func (e *engineContainers) Logs(ctx context.Context, req engine.LogRequest, send func(engine.LogLine) error) error {
	if err := e.beginCall(ctx, Call{Op: "logs", Text: req.Container}); err != nil {
		return err
	}
	e.mu.Lock()
	h, err := e.findContainer(req.Container)
	var id, imageID string
	if err == nil {
		id, imageID = h.ID, h.ImageID
	}
	e.mu.Unlock()
	if err != nil {
		return err
	}
	sent := -1
	for {
		e.output.mu.Lock()
		all := slices.Concat(e.output.lines[imageID], e.output.lines[id])
		ended, changed := e.output.ended[id], e.output.changed
		e.output.mu.Unlock()
		if sent < 0 {
			sent = max(0, len(all)-req.Tail)
		}
		for ; sent < len(all); sent++ {
			if err := send(all[sent]); err != nil {
				return err
			}
		}
		if ended || !req.Follow {
			return nil
		}
		select {
		case <-ctx.Done():
			return fault.FromPlugin("engine.fake", ctx.Err())
		case <-changed:
		}
	}
}
