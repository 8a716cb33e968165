package fake

import (
	"context"
	"slices"
	"strings"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// Step changes what Inspect says of a container.
type Step func(*engine.Detail)

func stepTo(state, health string) Step {
	return func(d *engine.Detail) { d.State, d.Health = state, health }
}

// Healthy, Unhealthy and Starting are states of a container with a health check; Running is one without.
func Healthy() Step { return stepTo("running", "healthy") }

// Unhealthy is a container whose health check fails.
func Unhealthy() Step { return stepTo("running", "unhealthy") }

// Starting is a container whose health check has not succeeded yet.
func Starting() Step { return stepTo("running", "starting") }

// Running is a container that runs and has no health check.
func Running() Step { return stepTo("running", "") }

// Exited is a container that has ended.
func Exited(code int) Step {
	return func(d *engine.Detail) { d.State, d.Health, d.ExitCode = "exited", "", code }
}

// Restarted is a container that the engine has started n times again.
func Restarted(n, code int) Step {
	return func(d *engine.Detail) { d.State, d.Health, d.RestartCount, d.ExitCode = "restarting", "", n, code }
}

// ScriptImage sets what Inspect says, call after call, of each container that is made from an image later; the last step
// stays.
func (e *Engine) ScriptImage(imageID string, steps ...Step) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.scripts[imageID] = steps
}

// ScriptContainer sets what Inspect says of one container.
func (e *Engine) ScriptContainer(id string, steps ...Step) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if h, err := e.findContainer(id); err == nil {
		h.script = steps
	}
}

// EndContainer makes a container end by itself with a code.
func (e *Engine) EndContainer(id string, code int) {
	e.changeContainer(id, func(h *held) {
		e.changeState(h, "exited", "die")
		h.ExitCode, h.script = code, nil
	})
}

// SetRestartPolicy sets the restart policy of a container.
func (e *Engine) SetRestartPolicy(id, policy string) {
	e.changeContainer(id, func(h *held) { h.RestartPolicy = policy })
}

// PublishPort makes a container publish a port, as engine.ContainerConfig has it.
func (e *Engine) PublishPort(id, port string) {
	e.changeContainer(id, func(h *held) { h.Config = &engine.ContainerConfig{Ports: []string{port}} })
}

// changeContainer changes what is held of a container, if there is one with the id.
func (e *Engine) changeContainer(id string, do func(*held)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if h, err := e.findContainer(id); err == nil {
		do(h)
	}
}

// SetInfo sets what Info says. A nil compose is a compose command that cannot be used.
func (e *Engine) SetInfo(info engine.Info, compose *engine.Compose) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.info, e.compose = info, compose
}

// SetLayers sets what each later pull reports before it ends.
func (e *Engine) SetLayers(reports ...engine.PullProgress) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.layers = reports
}

// SetSample sets what Stats says of a container while it runs.
func (e *Engine) SetSample(s engine.Sample) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.samples[s.ContainerID] = s
}

// SetContents sets what a mount of a container holds, as a tar stream.
func (e *Engine) SetContents(container, path string, raw []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if key, _, err := e.findMount(container, path); err == nil {
		e.contents[key] = raw
	}
}

// Contents is what a mount of a container holds.
func (e *Engine) Contents(container, path string) []byte {
	e.mu.Lock()
	defer e.mu.Unlock()
	key, _, _ := e.findMount(container, path)
	return slices.Clone(e.contents[key])
}

// Fail appends what the next calls of an operation end with, one each; nil lets one succeed.
func (e *Engine) Fail(op string, errs ...error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.errors[op] = append(e.errors[op], errs...)
}

// FailCompose appends results with which the next commands of an action end without having done anything.
func (e *Engine) FailCompose(action string, results ...engine.ComposeResult) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.exits[action] = append(e.exits[action], results...)
}

// SetRun sets how commands of an image end, by its id. Without it they succeed without output.
func (e *Engine) SetRun(imageID string, res engine.RunResult) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.runs[imageID] = res
}

// Run implements client.Engine.
func (e *Engine) Run(ctx context.Context, req engine.RunRequest) (*engine.RunResult, error) {
	if err := e.beginCall(ctx, Call{Op: "run", Text: req.Image + " " + strings.Join(req.Args, " ")}); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	img := e.findImage(req.Image)
	if img == nil {
		return nil, fault.FromPlugin(errs.NotFound("NOT_FOUND", "there is no image %s", req.Image))
	}
	res := e.runs[img.ID]
	return &res, nil
}

type hold struct {
	entered chan struct{}
	release chan struct{}
}

// Hold makes the next call of an operation wait until release is called or its context ends. entered is closed when it has
// begun.
func (e *Engine) Hold(op string) (entered <-chan struct{}, release func()) {
	h := &hold{entered: make(chan struct{}), release: make(chan struct{})}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.holds[op] = h
	return h.entered, func() { close(h.release) }
}

// Emit tells all that follow the events.
func (e *Engine) Emit(ev engine.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sendEvent(ev)
}

// maxWaiting is how many events wait for a slow listener; further ones are dropped.
const maxWaiting = 1000

func (e *Engine) sendEvent(ev engine.Event) {
	for _, l := range e.listeners {
		select {
		case l <- ev:
		default:
		}
	}
}

// Events implements client.Engine.
func (e *Engine) Events(ctx context.Context, send func(engine.Event) error) error {
	if err := e.beginCall(ctx, Call{Op: "events"}); err != nil {
		return err
	}
	own := make(chan engine.Event, maxWaiting)
	e.mu.Lock()
	e.next++
	id := e.next
	e.listeners[id] = own
	ended, followers := e.outage.ended, e.outage.followers
	followers.Add(1)
	defer followers.Done()
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.listeners, id)
	}()
	if err := send(engine.Event{Type: engine.EventReady}); err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return fault.FromPlugin(ctx.Err())
		case <-ended:
			return errAway()
		case ev := <-own:
			if err := send(ev); err != nil {
				return err
			}
		}
	}
}

// beginCall records a call, delays it and returns an error, as was asked for.
func (e *Engine) beginCall(ctx context.Context, c Call) error {
	e.mu.Lock()
	e.calls = append(e.calls, c)
	names := []string{c.Op}
	if c.Compose != nil {
		names = append(names, c.Op+" "+c.Compose.Action)
	}
	var err error
	var held *hold
	for _, n := range names {
		if h := e.holds[n]; h != nil {
			held = h
			delete(e.holds, n)
		}
		if queue := e.errors[n]; len(queue) > 0 && err == nil {
			err, e.errors[n] = queue[0], queue[1:]
		}
	}
	e.mu.Unlock()
	if held != nil {
		close(held.entered)
		select {
		case <-held.release:
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		return fault.FromPlugin(ctx.Err())
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if away := e.failInOutage(c.Op); away != nil {
		return away
	}
	return err
}

// contentKey returns the name of a mount's contents.
func contentKey(c *engine.Container, m *engine.Mount) string {
	switch {
	case m.Name != "":
		return m.Type + ":" + m.Name
	case m.Source != "":
		return m.Type + ":" + m.Source
	}
	return strings.Join([]string{c.ID, m.Destination}, ":")
}

// ConfigureImage sets the defaults that an image gives to its containers.
func (e *Engine) ConfigureImage(imageID string, config engine.ImageConfig) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if img := e.images[imageID]; img != nil {
		img.Config = &config
	}
}
