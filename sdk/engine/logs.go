package engine

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/errs"
	enginev1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/engine/v1"
)

// MaxTail is the largest number of last lines that a LogRequest may ask for.
const MaxTail = 10_000

// ReasonBadTail is the reason of a refused number of lines.
const ReasonBadTail = "INVALID_TAIL"

// LogReader is an optional part of an engine: it reads what containers write. The SDK answers UNIMPLEMENTED for an
// engine without it.
type LogReader interface {
	// Logs hands on the last lines of a container, running or not, the oldest first. With Follow it goes on with new lines
	// until the container ends, ctx ends or send fails.
	Logs(ctx context.Context, req LogRequest, send func(LogLine) error) error
}

// LogRequest asks for the output of one container.
type LogRequest struct {
	// Container is an id or a name.
	Container string
	// Tail is how many of the last lines are read, 0 to MaxTail.
	Tail   int
	Follow bool
}

// LogLine is one line of a container's output.
type LogLine struct {
	Stderr bool
	// Text has no line end and no escape sequences of terminals, and at most 4 KiB and a sign that more was cut off.
	Text string
	// At is in milliseconds since 1970; 0 where the engine does not tell.
	At int64
}

// Check returns an error if a request may not be given to an engine. The error is the caller's fault. The SDK calls it
// before Logs.
func (r *LogRequest) Check() error {
	if r.Tail < 0 || r.Tail > MaxTail {
		return errs.BadInput(ReasonBadTail, "the number of lines must be between 0 and %d", MaxTail)
	}
	return checkID(r.Container)
}

func (s *server) Logs(p *enginev1.LogsRequest, st grpc.ServerStreamingServer[enginev1.LogsResponse]) error {
	ctx, req := st.Context(), LogRequest{Container: p.GetContainer(), Tail: int(p.GetTail()), Follow: p.GetFollow()}
	return s.withInstance(ctx, func(e Engine) error {
		reader, ok := e.(LogReader)
		if !ok {
			return errs.New(errs.Plugin, codes.Unimplemented, errs.ReasonUnsupported, "the engine does not read the output of containers")
		}
		if err := req.Check(); err != nil {
			return err
		}
		return reader.Logs(ctx, req, func(l LogLine) error {
			return st.Send(&enginev1.LogsResponse{Stderr: l.Stderr, Text: l.Text, AtUnixMs: l.At})
		})
	})
}
