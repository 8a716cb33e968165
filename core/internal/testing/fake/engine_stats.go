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

// UsualHash is the configuration hash of services about which SetHash says nothing.
const UsualHash = "hash"

// SetHash sets the hash that compose gives to the configuration of a service.
func (e *Engine) SetHash(service, hash string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.hashes[service] = hash
}

// hashServices writes the hashes of services, as "config --hash" does.
func (e *Engine) hashServices(ctx context.Context, req *engine.ComposeRequest,
	send func(engine.Line) error) (*engine.ComposeResult, error) {
	if err := e.beginCall(ctx, Call{Op: "hash", Text: strings.Join(req.Services, " ")}); err != nil {
		return nil, err
	}
	e.mu.Lock()
	queue := e.exits[req.Action]
	if len(queue) > 0 {
		e.exits[req.Action] = queue[1:]
	}
	e.mu.Unlock()
	if len(queue) > 0 {
		return &queue[0], nil
	}
	for _, service := range req.Services {
		e.mu.Lock()
		hash, set := e.hashes[service]
		e.mu.Unlock()
		if !set {
			hash = UsualHash
		}
		if err := send(engine.Line{Text: service + " " + hash}); err != nil {
			return nil, err
		}
	}
	return &engine.ComposeResult{}, nil
}
