package docker

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"io"
	"path"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"
	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/errs"
)

func wrongState(format string, args ...any) error {
	return errs.New(errs.Caller, codes.FailedPrecondition, reasonState, format, args...)
}

// Restore implements engine.Archiver. It empties the mount with a helper container, and has the engine unpack the stream
// into it.
func (d *docker) Restore(ctx context.Context, id, to string, r io.Reader) error {
	to = path.Clean(to)
	c, err := d.inspectContainer(ctx, id)
	if err != nil {
		return err
	}
	m, err := restorableMount(&c, to)
	if err != nil {
		return err
	}
	if err := d.requireDirectory(ctx, c.ID, to); err != nil {
		return err
	}
	// What is no archive must not cost the contents.
	in := bufio.NewReaderSize(r, 64<<10)
	root, err := peekRoot(in)
	if err != nil {
		return err
	}
	if err := d.clearMount(ctx, m, root); err != nil {
		return err
	}
	err = d.callEngine(ctx, "unpack into "+to, func(api *client.Client) error {
		return api.CopyToContainer(ctx, c.ID, to, in, container.CopyToContainerOptions{AllowOverwriteDirWithFile: true})
	})
	if err != nil {
		return partialRestore("%s was emptied and is only partly filled again: %s", to, engineMessage(err))
	}
	return nil
}

// restorableMount returns the mount at a path, or an error if its contents may not be replaced now.
func restorableMount(c *container.InspectResponse, to string) (*container.MountPoint, error) {
	if c.State != nil && (c.State.Running || c.State.Paused || c.State.Restarting) {
		return nil, wrongState("the container is %s: it must be stopped before its data is replaced", c.State.Status)
	}
	for i := range c.Mounts {
		m := &c.Mounts[i]
		switch {
		case path.Clean(m.Destination) != to:
			continue
		case !m.RW:
			return nil, wrongState("the mount at %s is read-only", to)
		case m.Type != "volume" && m.Type != "bind":
			return nil, wrongState("the mount at %s is of the type %s, which keeps nothing", to, m.Type)
		}
		return m, nil
	}
	return nil, errs.BadInput("NO_SUCH_MOUNT", "the container has no mount at %s", to)
}

// requireDirectory returns an error for a mount of a single file, which the engine cannot replace.
func (d *docker) requireDirectory(ctx context.Context, id, at string) error {
	return d.callEngine(ctx, "look at "+at, func(api *client.Client) error {
		st, err := api.ContainerStatPath(ctx, id, at)
		if err == nil && !st.Mode.IsDir() {
			return wrongState("the mount at %s is no directory", at)
		}
		return err
	})
}

// block is the unit of a tar stream, in bytes.
const block = 512

// peekRoot reports whether a stream begins as a tar archive does. root is the entry of the mount itself if it comes first, as
// Archive writes it.
func peekRoot(in *bufio.Reader) (root *tar.Header, err error) {
	head, err := in.Peek(block)
	if err == nil && bytes.Count(head, []byte{0}) == block {
		return nil, nil
	}
	var first *tar.Header
	if err == nil {
		first, err = tar.NewReader(bytes.NewReader(append(bytes.Clone(head), make([]byte, 1<<20)...))).Next()
	}
	switch {
	case err != nil:
		return nil, errs.BadInput("NO_ARCHIVE", "the content to restore is not a tar archive")
	case first.Typeflag == tar.TypeDir && path.Clean(first.Name) == ".":
		return first, nil
	}
	return nil, nil
}
