package docker

import (
	"context"
	"errors"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/client"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
)

const (
	// createLimit bounds the wait for the answer to a creation, removeLimit the removal of what was left. Both go on without the caller.
	createLimit, removeLimit = 2 * time.Minute, 30 * time.Second
	// removalLimit bounds the wait for a container whose removal has begun already, removalPause the pause between two looks.
	removalLimit, removalPause = time.Minute, 100 * time.Millisecond
)

// createContainer makes a container of the plugin's own, with a label that says so, and returns its id. The value of the label is another
// one each time. An engine finishes what it has begun also when nobody waits for it: a call that is called off waits for the answer and
// removes what was made.
func createContainer(ctx context.Context, api *client.Client, name, label string, cfg *container.Config,
	host *container.HostConfig) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), createLimit)
	defer cancel()
	creation := randomName()
	cfg.Labels = map[string]string{label: creation}
	made, err := api.ContainerCreate(wait, cfg, host, nil, nil, name)
	switch {
	case err == nil && ctx.Err() != nil:
		removeContainer(api, made.ID)
		return "", ctx.Err()
	case err != nil && (isConnectionError(err) || wait.Err() != nil):
		// The answer is lost; the container may have been made. Another call may use the name by now.
		remove, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeLimit)
		defer cancel()
		_ = removeLabelled(remove, api, label+"="+creation)
	}
	return made.ID, err
}

// removeNamed removes a container of the plugin's own, which has a label, by its name. If there is none of the name it does nothing.
func removeNamed(ctx context.Context, api *client.Client, name, label string) error {
	c, err := api.ContainerInspect(ctx, name)
	if cerrdefs.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if c.Config == nil || c.Config.Labels[label] == "" {
		return wrongState("a container of somebody else has the name %s", name)
	}
	return forceRemove(ctx, api, c.ID, container.RemoveOptions{Force: true, RemoveVolumes: true})
}

// removeLabelled removes the containers of the plugin's own that have a label with a value.
func removeLabelled(ctx context.Context, api *client.Client, label string) error {
	all, err := api.ContainerList(ctx, container.ListOptions{All: true, Filters: filters.NewArgs(filters.Arg("label", label))})
	for _, c := range all {
		err = errors.Join(err, forceRemove(ctx, api, c.ID, container.RemoveOptions{Force: true, RemoveVolumes: true}))
	}
	return err
}

// removeContainer removes a container of the plugin's own whose caller may have gone.
func removeContainer(api *client.Client, id string) {
	ctx, cancel := context.WithTimeout(context.Background(), removeLimit)
	defer cancel()
	_ = forceRemove(ctx, api, id, container.RemoveOptions{Force: true, RemoveVolumes: true})
}

// forceRemove removes a container as options say and waits until it is gone. One that is gone already is no error.
func forceRemove(ctx context.Context, api *client.Client, id string, options container.RemoveOptions) error {
	err := api.ContainerRemove(ctx, id, options)
	if cerrdefs.IsConflict(err) {
		// Its removal has begun before.
		err = waitRemoved(ctx, api, id)
	}
	if cerrdefs.IsNotFound(err) {
		return nil
	}
	return err
}

func waitRemoved(ctx context.Context, api *client.Client, id string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, removalLimit, errors.New("the removal of the container does not end"))
	defer cancel()
	for {
		if _, err := api.ContainerInspect(ctx, id); err != nil {
			return err
		}
		if err := httpx.Sleep(ctx, removalPause); err != nil {
			return err
		}
	}
}
