package fake

import (
	"context"
	"strings"

	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// Stats implements client.Engine.
func (e *Engine) Stats(ctx context.Context, ids []string) ([]engine.Sample, error) {
	if err := e.beginCall(ctx, Call{Op: "stats", Text: strings.Join(ids, " ")}); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	out := []engine.Sample{}
	for _, id := range ids {
		h, err := e.findContainer(id)
		if s, ok := e.samples[id]; ok && err == nil && h.State == "running" {
			out = append(out, s)
		}
	}
	return out, nil
}
