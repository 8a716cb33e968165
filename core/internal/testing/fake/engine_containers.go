package fake

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// engineContainers are its containers, with their mounts and what they write.
type engineContainers struct{ engineImages }

// held is a container, with what Inspect is to say of it in turn.
type held struct {
	engine.Detail
	script []Step
}

// AddContainer puts a container into the engine and returns its id, which is made up where c has none. Without a state it
// runs; without an ImageID it has the image that its reference names.
func (e *engineContainers) AddContainer(c engine.Container) (id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.createContainer(c).ID
}

func (e *engineContainers) createContainer(c engine.Container) *held {
	if c.ID == "" {
		e.next++
		c.ID = fmt.Sprintf("%064x", e.next)
	}
	if c.State == "" {
		c.State = "running"
	}
	if c.Status == "" {
		c.Status = "Up 1 second"
	}
	if c.ImageID == "" {
		c.ImageID = e.names[c.Image]
	}
	h := &held{Detail: engine.Detail{Container: c, RestartPolicy: "no", StartedAt: time.Now().UnixMilli()}, script: e.scripts[c.ImageID]}
	if c.State != "running" {
		h.script = nil
	}
	if c.State == "exited" {
		h.ExitCode = stoppedCode
	}
	e.containers = append(e.containers, h)
	return h
}

// RemoveContainer takes a container away, as a person would.
func (e *engineContainers) RemoveContainer(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.containers = slices.DeleteFunc(e.containers, func(h *held) bool { return h.ID == id })
}

// ContainersOf are the containers of a service, or of a project if service is empty.
func (e *engineContainers) ContainersOf(project, service string) (out []engine.Container) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, h := range e.findContainers(project, service) {
		out = append(out, h.Container)
	}
	return out
}

// findContainers returns the containers of a service, or of a project if service is empty.
func (e *engineContainers) findContainers(project, service string) (out []*held) {
	for _, h := range e.containers {
		if h.Labels[LabelProject] == project && (service == "" || h.Labels[LabelService] == service) {
			out = append(out, h)
		}
	}
	return out
}

// Containers implements client.Engine.
func (e *engineContainers) Containers(ctx context.Context, f engine.Filter) ([]engine.Container, error) {
	if err := e.beginCall(ctx, Call{Op: "containers"}); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	out := []engine.Container{}
	for _, h := range e.containers {
		if matchesFilter(&h.Container, f) {
			c := h.Container
			c.Labels, c.Mounts = maps.Clone(c.Labels), slices.Clone(c.Mounts)
			out = append(out, c)
		}
	}
	return out, nil
}

// matchesFilter reports whether a container is one that f asks for.
func matchesFilter(c *engine.Container, f engine.Filter) bool {
	for _, l := range f.Labels {
		name, value, exact := strings.Cut(l, "=")
		got, ok := c.Labels[name]
		if !ok || exact && got != value {
			return false
		}
	}
	return len(f.IDs) == 0 || slices.Contains(f.IDs, c.ID)
}

// Inspect implements client.Engine. Each call takes one step of the container's script; the last one stays.
func (e *engineContainers) Inspect(ctx context.Context, id string) (*engine.Detail, error) {
	if err := e.beginCall(ctx, Call{Op: "inspect", Text: id}); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	h, err := e.findContainer(id)
	if err != nil {
		return nil, err
	}
	if len(h.script) > 0 {
		h.script[0](&h.Detail)
		if len(h.script) > 1 {
			h.script = h.script[1:]
		}
	}
	out := h.Detail
	out.Labels, out.Mounts = maps.Clone(out.Labels), slices.Clone(out.Mounts)
	return &out, nil
}

func (e *engineContainers) findContainer(id string) (*held, error) {
	for _, h := range e.containers {
		if h.ID == id || h.Name == id {
			return h, nil
		}
	}
	return nil, fault.FromPlugin("engine.fake", errs.NotFound("NOT_FOUND", "there is no container %s", id))
}

// stoppedCode is the exit code of a container that somebody has stopped, after the signal that it got.
const stoppedCode = 143

func (e *engineContainers) changeState(h *held, state, action string) {
	h.State, h.Health, h.script = state, "", nil
	if state == "exited" {
		h.ExitCode = stoppedCode
	}
	if state == "running" {
		h.ExitCode, h.StartedAt, h.script = 0, time.Now().UnixMilli(), e.scripts[h.ImageID]
	}
	e.sendEvent(engine.Event{Type: "container", Action: action, ID: h.ID, Labels: maps.Clone(h.Labels), At: time.Now().UnixMilli()})
}

// recreateContainer replaces a container by one of the image that its reference names now, with a new id. A container that
// has that image already is only started. A new one ends at once if its image is a job, and is not started if the request says so.
func (e *engineContainers) recreateContainer(h *held, req *engine.ComposeRequest) *held {
	id := e.names[h.Image]
	if id == "" {
		id = h.ImageID
	}
	if id == h.ImageID && !req.Force {
		if h.State != "running" && !req.NoStart {
			e.startContainer(h)
		}
		return h
	}
	e.containers = slices.DeleteFunc(e.containers, func(o *held) bool { return o == h })
	e.changeState(h, "removing", "destroy")
	c := h.Container
	c.ID, c.ImageID, c.State, c.Status, c.CreatedAt = "", id, "", "", time.Now().Unix()
	fresh := e.createContainer(c)
	fresh.RestartPolicy = h.RestartPolicy
	if req.NoStart {
		e.changeState(fresh, "created", "create")
		return fresh
	}
	e.startContainer(fresh)
	return fresh
}

// startContainer starts a container. One whose image is a job has ended by then.
func (e *engineContainers) startContainer(h *held) {
	e.changeState(h, "running", "start")
	e.starts[h.ImageID]++
	if code, ends := e.jobs[h.ImageID]; ends {
		e.changeState(h, "exited", "die")
		h.ExitCode, h.script = code, nil
	}
}

// changeContainer changes what is held of a container, if there is one with the id.
func (e *engineContainers) changeContainer(id string, do func(*held)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if h, err := e.findContainer(id); err == nil {
		do(h)
	}
}

// EndContainer makes a container end by itself with a code.
func (e *engineContainers) EndContainer(id string, code int) {
	e.changeContainer(id, func(h *held) {
		e.changeState(h, "exited", "die")
		h.ExitCode, h.script = code, nil
	})
}

// SetRestartPolicy sets the restart policy of a container.
func (e *engineContainers) SetRestartPolicy(id, policy string) {
	e.changeContainer(id, func(h *held) { h.RestartPolicy = policy })
}

// PublishPort makes a container publish a port, as engine.ContainerConfig has it.
func (e *engineContainers) PublishPort(id, port string) {
	e.changeContainer(id, func(h *held) { h.Config = &engine.ContainerConfig{Ports: []string{port}} })
}

// SetSample sets what Stats says of a container while it runs.
func (e *engineContainers) SetSample(s engine.Sample) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.samples[s.ContainerID] = s
}

// Stats implements client.Engine.
func (e *engineContainers) Stats(ctx context.Context, ids []string) ([]engine.Sample, error) {
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
