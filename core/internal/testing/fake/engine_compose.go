package fake

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// Compose implements client.Engine. Services are known by the labels of their containers, and the image that one is to run
// by the container's reference. Every action but stop begins with what engine.Repair says.
func (e *Engine) Compose(ctx context.Context, req engine.ComposeRequest, send func(engine.Line) error) (*engine.ComposeResult, error) {
	if req.Action == engine.ActionHash {
		return e.hashServices(ctx, &req, send)
	}
	text := strings.Join(append([]string{req.Action, req.Project}, req.Services...), " ")
	if err := e.beginCall(ctx, Call{Op: "compose", Text: text, Compose: &req}); err != nil {
		return nil, err
	}
	if err := req.Check(); err != nil {
		return nil, fault.FromPlugin("engine.fake", err)
	}
	res := &engine.ComposeResult{Command: append(strings.Fields(req.Bin), strings.Fields(text)...)}
	if req.DryRun {
		return res, nil
	}
	e.mu.Lock()
	if req.Action != engine.ActionStop {
		e.repairProject(req.Project)
	}
	if leave := e.interruptions[req.Action]; len(leave) > 0 {
		e.interruptions[req.Action] = leave[1:]
		e.leaveInterrupted(&req, leave[0])
		e.mu.Unlock()
		return nil, fault.NotRunning("engine.fake", io.ErrUnexpectedEOF)
	}
	if followers := e.stopDuring(&req); followers != nil {
		e.mu.Unlock()
		followers.Wait()
		res.ExitCode, res.Tail = 1, "Cannot connect to the Docker daemon. Is the docker daemon running?"
		return res, nil
	}
	if queue := e.exits[req.Action]; len(queue) > 0 {
		out := queue[0]
		e.exits[req.Action] = queue[1:]
		e.mu.Unlock()
		out.Command = res.Command
		return &out, nil
	}
	lines := e.performAction(&req, res)
	e.mu.Unlock()
	for _, l := range lines {
		if err := send(engine.Line{Text: l}); err != nil {
			return nil, err
		}
	}
	res.Tail = strings.Join(lines, "\n")
	return res, nil
}

func (e *Engine) performAction(req *engine.ComposeRequest, res *engine.ComposeResult) (lines []string) {
	var all []*held
	for _, h := range e.findContainers(req.Project, "") {
		if len(req.Services) == 0 || slices.Contains(req.Services, h.Labels[LabelService]) {
			all = append(all, h)
		}
	}
	if len(all) == 0 {
		res.ExitCode = 1
		return []string{"No containers to " + req.Action}
	}
	for _, h := range all {
		switch req.Action {
		case engine.ActionRecreate:
			h = e.recreateContainer(h, req)
			lines = append(lines, fmt.Sprintf("Recreated %s", h.Name))
		case engine.ActionStop:
			if h.State != "exited" {
				e.changeState(h, "exited", "die")
			}
			lines = append(lines, "Stopped "+h.Name)
		default:
			e.startContainer(h)
			lines = append(lines, "Started "+h.Name)
		}
	}
	if req.Action != engine.ActionStop && req.Action != engine.ActionRestart {
		for service, n := range req.Scale {
			e.scaleService(req.Project, service, n)
		}
	}
	return lines
}

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

// UsualHash is the configuration hash of services about which SetHash says nothing.
const UsualHash = "hash"
