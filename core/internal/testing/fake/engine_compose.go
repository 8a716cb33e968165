package fake

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// Pull implements client.Engine: the image appears under the name that was asked for. What was not published does not
// exist.
func (e *Engine) Pull(ctx context.Context, req engine.PullRequest, send func(engine.PullProgress) error) (*engine.Image, error) {
	if err := e.beginCall(ctx, Call{Op: "pull", Text: req.Ref}); err != nil {
		return nil, err
	}
	if err := req.Check(); err != nil {
		return nil, fault.FromPlugin(err)
	}
	e.mu.Lock()
	remote, reports := e.remote[req.Ref], slices.Clone(e.layers)
	e.mu.Unlock()
	if remote == nil {
		return nil, fault.FromPlugin(errs.New(errs.Upstream, codes.NotFound, "NOT_FOUND", "pull %s: manifest unknown", req.Ref))
	}
	for _, p := range append(reports, engine.PullProgress{CompletedLayers: 1, TotalLayers: 1,
		Status: "Status: Downloaded newer image for " + req.Ref}) {
		if err := send(p); err != nil {
			return nil, err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	img := *remote
	if !strings.Contains(req.Ref, "@") {
		img.RepoTags = []string{req.Ref}
	}
	e.addImage(&img)
	e.sendEvent(engine.Event{Type: "image", Action: "pull", ID: req.Ref, At: time.Now().UnixMilli()})
	return e.findImage(img.ID), nil
}

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
		return nil, fault.FromPlugin(err)
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
		return nil, fault.New(fault.PluginUnavailable, "The provider that answers this is not available.")
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
	for _, h := range e.containersOf(req.Project, "") {
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

// stoppedCode is the exit code of a container that somebody has stopped, after the signal that it got.
const stoppedCode = 143

func (e *Engine) changeState(h *held, state, action string) {
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
func (e *Engine) recreateContainer(h *held, req *engine.ComposeRequest) *held {
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
func (e *Engine) startContainer(h *held) {
	e.changeState(h, "running", "start")
	e.starts[h.ImageID]++
	if code, ends := e.jobs[h.ImageID]; ends {
		e.changeState(h, "exited", "die")
		h.ExitCode, h.script = code, nil
	}
}

// SetJob makes the containers of an image end by themselves with a code as soon as they are started.
func (e *Engine) SetJob(imageID string, code int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.jobs[imageID] = code
}

// Starts is how often compose has started containers of an image.
func (e *Engine) Starts(imageID string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.starts[imageID]
}

// findMount returns a mount and the name of its contents, which the mounts of one volume share.
func (e *Engine) findMount(container, path string) (string, *engine.Mount, error) {
	h, err := e.findContainer(container)
	if err != nil {
		return "", nil, err
	}
	for i := range h.Mounts {
		if m := &h.Mounts[i]; m.Destination == path {
			return contentKey(&h.Container, m), m, nil
		}
	}
	return "", nil, fault.FromPlugin(errs.BadInput("NO_SUCH_MOUNT", "the container has no mount at %s", path))
}

// Archive implements client.Engine: it writes what SetContents or Restore has left.
func (e *Engine) Archive(ctx context.Context, container, path string, w io.Writer) error {
	if err := e.beginCall(ctx, Call{Op: "archive", Text: container + " " + path}); err != nil {
		return err
	}
	e.mu.Lock()
	key, _, err := e.findMount(container, path)
	raw := slices.Clone(e.contents[key])
	e.mu.Unlock()
	if err != nil {
		return err
	}
	_, err = w.Write(raw)
	return err
}

// Restore implements client.Engine.
func (e *Engine) Restore(ctx context.Context, container, path string, r io.Reader) error {
	if err := e.beginCall(ctx, Call{Op: "restore", Text: container + " " + path}); err != nil {
		return err
	}
	e.mu.Lock()
	name, m, err := e.findMount(container, path)
	if err == nil {
		err = e.checkReplaceable(container, m)
	}
	e.mu.Unlock()
	if err != nil {
		return err
	}
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.contents[name] = raw
	return nil
}

func (e *Engine) checkReplaceable(container string, m *engine.Mount) error {
	wrong := func(text string) error {
		return fault.FromPlugin(errs.New(errs.Caller, codes.FailedPrecondition, "WRONG_STATE", "%s", text))
	}
	h, err := e.findContainer(container)
	switch {
	case err != nil:
		return err
	case h.State == "running":
		return wrong("the container is running: it must be stopped before its data is replaced")
	case m.ReadOnly:
		return wrong("the mount is read-only")
	}
	return nil
}
