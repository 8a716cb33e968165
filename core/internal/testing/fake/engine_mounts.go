package fake

import (
	"context"
	"io"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// findMount returns a mount and the name of its contents, which the mounts of one volume share.
func (e *engineContainers) findMount(container, path string) (string, *engine.Mount, error) {
	h, err := e.findContainer(container)
	if err != nil {
		return "", nil, err
	}
	for i := range h.Mounts {
		if m := &h.Mounts[i]; m.Destination == path {
			return contentKey(&h.Container, m), m, nil
		}
	}
	return "", nil, fault.FromPlugin("engine.fake", errs.BadInput("NO_SUCH_MOUNT", "the container has no mount at %s", path))
}

// Archive implements client.Engine: it writes what SetContents or Restore has left.
func (e *engineContainers) Archive(ctx context.Context, container, path string, w io.Writer) error {
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
func (e *engineContainers) Restore(ctx context.Context, container, path string, r io.Reader) error {
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

func (e *engineContainers) checkReplaceable(container string, m *engine.Mount) error {
	wrong := func(text string) error {
		return fault.FromPlugin("engine.fake", errs.New(errs.Caller, codes.FailedPrecondition, "WRONG_STATE", "%s", text))
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

// SetContents sets what a mount of a container holds, as a tar stream.
func (e *engineContainers) SetContents(container, path string, raw []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if key, _, err := e.findMount(container, path); err == nil {
		e.contents[key] = raw
	}
}

// Contents is what a mount of a container holds.
func (e *engineContainers) Contents(container, path string) []byte {
	e.mu.Lock()
	defer e.mu.Unlock()
	key, _, _ := e.findMount(container, path)
	return slices.Clone(e.contents[key])
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
