package docker

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"
	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

const (
	// lockPause is the pause between two tries to acquire a project's lock.
	lockPause = 50 * time.Millisecond
)

// lockProject waits until no compose command of any process works on the project, and keeps others from it until the
// file is closed here and in the command that inherits it. The lock is on the directory of the first compose file, so
// that nothing has to be made for it. Where the directory cannot be locked there is no lock.
func lockProject(ctx context.Context, req *engine.ComposeRequest) (*os.File, error) {
	f, err := os.Open(filepath.Dir(req.Files[0]))
	if err != nil {
		f, err = os.Open(os.DevNull)
		if err != nil {
			err = errs.New(errs.Plugin, codes.Internal, "INTERNAL", "open %s: %v", os.DevNull, err)
		}
		return f, err
	}
	for {
		if acquired, err := tryLock(f); acquired || err != nil {
			return f, nil
		}
		if err := httpx.Sleep(ctx, lockPause); err != nil {
			_ = f.Close()
			return nil, err
		}
	}
}

// repairProject removes and renames what interrupted compose commands have left of a project. Volumes stay.
func (d *docker) repairProject(ctx context.Context, req *engine.ComposeRequest, send func(engine.Line) error) error {
	all, err := d.Containers(ctx, engine.Filter{Labels: []string{engine.LabelProject + "=" + req.Project, engine.LabelService}})
	if err != nil {
		return err
	}
	repairs := engine.Repair(all)
	for i := range repairs.Remove {
		c := &repairs.Remove[i]
		if err := send(engine.Line{Text: "removing " + c.Name + ", which an interrupted command has left"}); err != nil {
			return err
		}
		if err := d.removeContainer(ctx, c.ID); err != nil {
			return err
		}
	}
	for id, name := range repairs.Rename {
		if err := send(engine.Line{Text: "giving its name " + name +
			" back to a container that an interrupted command has renamed"}); err != nil {
			return err
		}
		err := d.callEngine(ctx, "rename a container to "+name, func(api *client.Client) error { return api.ContainerRename(ctx, id, name) })
		if err != nil {
			return err
		}
	}
	return nil
}

// removeContainer stops and removes a container and waits until it is gone. Its volumes stay.
func (d *docker) removeContainer(ctx context.Context, id string) error {
	return d.callEngine(ctx, "remove a container", func(api *client.Client) error {
		// One that does not stop by itself is ended by the removal.
		_ = api.ContainerStop(ctx, id, container.StopOptions{})
		return forceRemove(ctx, api, id, container.RemoveOptions{Force: true})
	})
}
