package engine

import (
	"context"
	"strings"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/errs"
	enginev1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/engine/v1"
)

// MaxOutput is how much of the output of a command RunResult has at most, in bytes.
const MaxOutput = 8 << 10

// ReasonBadRun is the reason of a refused RunRequest.
const ReasonBadRun = "INVALID_RUN_REQUEST"

// maxArgs and maxArg bound the arguments of a RunRequest: their number, and the bytes of each.
const (
	maxArgs = 64
	maxArg  = 4096
)

// CommandRunner is an optional part of an engine: it runs a command of an image. The SDK answers UNIMPLEMENTED for an
// engine without it.
type CommandRunner interface {
	// Run runs the entrypoint of an image that the engine has in a new container, without network, volumes of others,
	// capabilities and a writable root, and waits for its end. The container is removed before Run returns, also when ctx
	// ends; one with the same name that a killed plugin has left is removed before. A command that ran and failed is no
	// error: the result has its exit code. One that cannot be started is FAILED_PRECONDITION.
	Run(ctx context.Context, req RunRequest) (*RunResult, error)
}

// RunRequest asks for one command.
type RunRequest struct {
	// Image is a reference or an id.
	Image string
	// Args follow the image's entrypoint in place of its own command. Without an entrypoint the first is the program.
	Args []string
	// Name is that of the container. Two requests with one name must not run at the same time.
	Name string
}

// RunResult is how a command ended.
type RunResult struct {
	ExitCode int
	// Output is the end of what it wrote to both streams, at most MaxOutput.
	Output string
}

// Check returns an error if a request may not be given to an engine. The error is the caller's fault. The SDK calls it
// before Run.
func (r *RunRequest) Check() error {
	if err := checkRef(r.Image); err != nil {
		return err
	}
	if len(r.Args) > maxArgs {
		return errs.BadInput(ReasonBadRun, "there are %d arguments, at most %d are allowed", len(r.Args), maxArgs)
	}
	for _, a := range r.Args {
		if len(a) > maxArg || strings.ContainsRune(a, 0) {
			return errs.BadInput(ReasonBadRun, "%.100q is no argument", a)
		}
	}
	return checkID(r.Name)
}

func (s *server) Run(ctx context.Context, p *enginev1.RunRequest) (out *enginev1.RunResponse, err error) {
	req := RunRequest{Image: p.GetImage(), Args: p.GetArgs(), Name: p.GetName()}
	err = s.withInstance(ctx, func(e Engine) error {
		runner, ok := e.(CommandRunner)
		if !ok {
			return errs.New(errs.Plugin, codes.Unimplemented, errs.ReasonUnsupported, "the engine does not run commands of images")
		}
		if err := req.Check(); err != nil {
			return err
		}
		res, err := runner.Run(ctx, req)
		if err == nil {
			out = &enginev1.RunResponse{ExitCode: int32(res.ExitCode), Output: res.Output}
		}
		return err
	})
	return out, err
}

// Run implements CommandRunner.
func (c *Client) Run(ctx context.Context, req RunRequest) (*RunResult, error) {
	p, err := c.rpc.Run(c.callContext(ctx), &enginev1.RunRequest{Image: req.Image, Args: req.Args, Name: req.Name})
	if err != nil {
		return nil, err
	}
	return &RunResult{ExitCode: int(p.GetExitCode()), Output: p.GetOutput()}, nil
}
