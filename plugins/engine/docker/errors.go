package docker

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/client"
	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/plugins/internal/texts"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// Reasons of this plugin.
const (
	reasonNotFound  = "NOT_FOUND"
	reasonState     = "WRONG_STATE"
	reasonRefused   = "REFUSED_BY_ENGINE"
	reasonEngine    = "ENGINE_ERROR"
	reasonNoSpace   = "NO_SPACE"
	reasonLimited   = "RATE_LIMITED"
	reasonAuth      = "UNAUTHENTICATED"
	reasonDenied    = "ACCESS_DENIED"
	reasonHalfway   = "RESTORE_INCOMPLETE"
	reasonNoCompose = "COMPOSE_UNUSABLE"
)

// maxMessage is how much of a message of the engine's is handed on.
const maxMessage = 500

// isConnectionError reports whether the engine was not reached, or the connection broke.
func isConnectionError(err error) bool {
	var op *net.OpError
	return client.IsErrConnectionFailed(err) || errors.As(err, &op) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// describeFailure returns an error of the engine's API in words. what names the attempt, such as "list the containers".
func describeFailure(ctx context.Context, what string, err error) error {
	var own *errs.Error
	say := func(source errs.Source, code codes.Code, reason string) error {
		return errs.New(source, code, reason, "%s: %s", what, engineMessage(err))
	}
	switch {
	case errors.As(err, &own), ctx.Err() != nil:
		return err
	case isConnectionError(err):
		return say(errs.Upstream, codes.Unavailable, errs.ReasonConnect)
	case cerrdefs.IsNotFound(err):
		return say(errs.Caller, codes.NotFound, reasonNotFound)
	case cerrdefs.IsConflict(err), cerrdefs.IsFailedPrecondition(err):
		return say(errs.Caller, codes.FailedPrecondition, reasonState)
	case cerrdefs.IsInvalidArgument(err):
		return say(errs.Caller, codes.InvalidArgument, reasonRefused)
	case noSpace(err):
		return say(errs.Upstream, codes.FailedPrecondition, reasonNoSpace)
	case cerrdefs.IsPermissionDenied(err), cerrdefs.IsUnauthorized(err):
		return say(errs.Upstream, codes.PermissionDenied, reasonDenied)
	}
	return say(errs.Upstream, codes.Internal, reasonEngine)
}

func noSpace(err error) bool { return strings.Contains(err.Error(), "no space left on device") }

func engineMessage(err error) string {
	t := strings.TrimPrefix(strings.TrimSpace(err.Error()), "Error response from daemon: ")
	return texts.Truncate(t, maxMessage)
}
