package supervisor

import (
	"context"
	"strings"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// imageTimeout bounds how long an image may take to tell its version, and programName begins the line that it writes.
const (
	imageTimeout = time.Minute
	programName  = "patchbay "
)

// tryTarget has the target tell its version in a container of its own, so that an image that cannot start, or is not what its
// label says, replaces nothing. An engine that cannot run commands leaves that out.
func (d *container) tryTarget(ctx context.Context, r *run) error {
	if len(d.cfg.VersionCommand) == 0 {
		return nil
	}
	if err := r.enterStep(StepCheck, "Checking that the image can start"); err != nil {
		return err
	}
	res, err := d.engine.Run(ctx, engine.RunRequest{Image: r.op.Target.ID, Args: d.cfg.VersionCommand,
		Name: "patchbay-check-" + r.op.Place.Project})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && errs.From(err).Code == codes.Unimplemented:
		return r.recordLine("warn", "The engine's plugin cannot run commands: whether the image can start is not known")
	case err != nil && isEngineGone(err):
		return err
	case err != nil:
		return fault.Wrap(err, fault.Conflict, "The image cannot start: %s", client.FailureText(err)).With("reason", "image_does_not_start")
	case res.ExitCode != 0:
		return fault.New(fault.Conflict, "The image cannot start: it ended with the exit code %d.%s", res.ExitCode,
			addedSentence(res.Output)).With("reason", "image_does_not_start")
	}
	return r.compareVersion(versionIn(res.Output))
}

// compareVersion compares what the target says of itself with its label; "" says nothing.
func (r *run) compareVersion(told string) error {
	switch want := r.op.Target.Version; {
	case told == "":
		return r.recordLine("info", "The image can start")
	case want == "":
		r.op.Target.Version = told
	case strings.TrimPrefix(told, "v") != strings.TrimPrefix(want, "v"):
		return fault.New(fault.Conflict, "The image reports the version %s, but its label says %s.", told, want).With("reason",
			"image_version_differs")
	}
	return r.recordLine("info", "The image can start, and has the version "+told)
}

// versionIn returns the version in the output of a version command: the word after the program's name; "" if there is none.
func versionIn(output string) string {
	for line := range strings.Lines(output) {
		if rest, ok := strings.CutPrefix(line, programName); ok {
			version, _, _ := strings.Cut(strings.TrimSpace(rest), ",")
			return version
		}
	}
	return ""
}
