package docker

import (
	"context"
	"io"
	"strings"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"
	"github.com/docker/docker/pkg/stdcopy"

	"github.com/patchbay-dev/patchbay/sdk/engine"
)

var _ engine.CommandRunner = (*docker)(nil)

// runLabel marks the containers of Run. One that has another name or no such label is left alone.
const runLabel = "patchbay.run"

// Limits of the containers of Run.
const (
	runMemory = 1 << 30
	runPIDs   = 256
)

// Run implements engine.CommandRunner. The engine itself removes a container that has ended, also when nobody waits for it.
func (d *docker) Run(ctx context.Context, req engine.RunRequest) (out *engine.RunResult, err error) {
	err = d.callEngine(ctx, "run a command of the image "+req.Image, func(api *client.Client) error {
		if err := removeNamed(ctx, api, req.Name, runLabel); err != nil {
			return err
		}
		pids := int64(runPIDs)
		id, err := createContainer(ctx, api, req.Name, runLabel, &container.Config{
			Image: req.Image, Cmd: req.Args, AttachStdout: true, AttachStderr: true, NetworkDisabled: true,
			Healthcheck: &container.HealthConfig{Test: []string{"NONE"}},
		}, &container.HostConfig{
			AutoRemove: true, NetworkMode: "none", ReadonlyRootfs: true, CapDrop: []string{"ALL"}, SecurityOpt: []string{"no-new-privileges"},
			LogConfig: container.LogConfig{Type: "none"}, Resources: container.Resources{Memory: runMemory, PidsLimit: &pids},
		})
		if err != nil {
			return err
		}
		out, err = runAttached(ctx, api, id)
		if err != nil {
			removeContainer(api, id)
		}
		return err
	})
	return out, err
}

// runAttached starts a container, reads what it writes, and returns when it is removed.
func runAttached(ctx context.Context, api *client.Client, id string) (*engine.RunResult, error) {
	stream, err := api.ContainerAttach(ctx, id, container.AttachOptions{Stream: true, Stdout: true, Stderr: true})
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	// Reading a stream does not end with ctx.
	defer context.AfterFunc(ctx, stream.Close)()
	gone, failed := api.ContainerWait(ctx, id, container.WaitConditionRemoved)
	if err := api.ContainerStart(ctx, id, container.StartOptions{}); err != nil {
		if isConnectionError(err) || ctx.Err() != nil {
			return nil, err
		}
		return nil, wrongState("the command cannot be started: %s", engineMessage(err))
	}
	var end lastBytes
	if _, err := stdcopy.StdCopy(&end, &end, stream.Reader); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, io.ErrUnexpectedEOF
	}
	select {
	case err := <-failed:
		return nil, err
	case r := <-gone:
		return &engine.RunResult{ExitCode: int(r.StatusCode), Output: end.validText()}, nil
	}
}

// lastBytes keeps the end of what is written to it.
type lastBytes []byte

// Write implements io.Writer.
func (l *lastBytes) Write(p []byte) (int, error) {
	*l = append(*l, p...)
	if n := len(*l) - engine.MaxOutput; n > 0 {
		*l = append((*l)[:0], (*l)[n:]...)
	}
	return len(p), nil
}

// validText returns what is kept as UTF-8, without the codes of a terminal.
func (l *lastBytes) validText() string {
	return strings.ToValidUTF8(string(escapes().ReplaceAll(*l, nil)), "")
}
