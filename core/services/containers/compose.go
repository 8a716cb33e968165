package containers

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/containers/compose"
	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
	"github.com/patchbay-dev/patchbay/core/services/containers/image"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// loadProject reads the compose files of a stack.
func (s *Service) loadProject(ctx context.Context, st *record.Stack) (*compose.Project, error) {
	return compose.Load(ctx, s.composeSource(st))
}

// composeCall is one compose command on a stack, or on some of its services.
type composeCall struct {
	action   string
	services []string
	// scale is the number of containers of services, where it is not what the files say.
	scale map[string]int
	// force has ActionRecreate replace containers that are as they should be; noStart has it start nothing.
	force, noStart bool
}

func (s *Service) composeRequest(st *record.Stack, call composeCall) engine.ComposeRequest {
	set := s.settings()
	return engine.ComposeRequest{
		Bin: set.ComposeBin, Action: call.action, Project: st.Project, WorkingDir: st.WorkingDir, Files: st.Files, EnvFiles: st.EnvFiles,
		Services: call.services, Scale: call.scale, Force: call.force, NoStart: call.noStart, DockerConfig: set.DockerConfig,
	}
}

// refuseFiles refuses files that may not be read: compose quotes what it cannot understand.
func (s *Service) refuseFiles(st *record.Stack) error {
	if err := compose.CheckFiles(s.composeSource(st)); err != nil {
		return fault.Wrap(errors.Join(errFiles, err), fault.Conflict, "The compose files of %s cannot be used: %v", st.Project, err)
	}
	return nil
}

// composeDry tells what compose would be run with.
func (s *Service) composeDry(ctx context.Context, st *record.Stack, call composeCall) (*engine.ComposeResult, error) {
	if err := s.refuseFiles(st); err != nil {
		return nil, err
	}
	if err := s.refuseSameName(ctx, st, call.services); err != nil {
		return nil, err
	}
	req := s.composeRequest(st, call)
	req.DryRun = true
	return s.engine().Compose(ctx, req, func(engine.Line) error { return nil })
}

// maxComposeLines is how many lines of one compose command the log of a job takes: each is a row.
const maxComposeLines = 1000

// runCompose runs one compose command and logs its output in the job. The error of a failed command has the last lines of its
// output. A command whose plugin has died, or whose engine was away, is
// repeated, which repairs what the first one has left.
func (s *Service) runCompose(ctx context.Context, r *work.Reporter, st *record.Stack, call composeCall) (res *engine.ComposeResult, err error) {
	err = s.throughOutage(ctx, func() error {
		res, err = s.composeOnce(ctx, r, st, call)
		return err
	})
	return res, err
}

func (s *Service) composeOnce(ctx context.Context, r *work.Reporter, st *record.Stack, call composeCall) (*engine.ComposeResult, error) {
	if err := s.refuseFiles(st); err != nil {
		return nil, err
	}
	if err := s.refuseSameName(ctx, st, call.services); err != nil {
		return nil, err
	}
	lines, before := 0, s.outages.Load()
	res, err := s.engine().Compose(ctx, s.composeRequest(st, call), func(l engine.Line) error {
		text := strings.TrimSpace(l.Text)
		if text == "" {
			return ctx.Err()
		}
		switch lines++; {
		case lines <= maxComposeLines:
			r.Info(ctx, "compose: %s", text)
		case lines == maxComposeLines+1:
			r.Warn(ctx, "compose says more than %d lines; the rest is left out.", maxComposeLines)
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("run compose: %w", err)
	}
	if res.ExitCode != 0 {
		err := fault.New(fault.Conflict, "%s ended with exit code %d: %s", strings.Join(res.Command, " "), res.ExitCode, errs.Plain(lastLines(res.Tail, 6)))
		if s.sawOutage(ctx, before) {
			return res, fault.Wrap(failure.ErrEngineAway, fault.Conflict, "The engine went away. %s", err.Message)
		}
		return res, err
	}
	return res, nil
}

// lastLines is the end of an output, on one line.
func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, " · ")
}

// errFiles tells that a project's files are not what they were when a change was asked for: compose is not run on them.
var errFiles = errors.New("the compose files have changed")

// filesUnreadable returns the fault for a stack whose compose files cannot be read because of err.
func filesUnreadable(st *record.Stack, err error) error {
	return fault.Wrap(errors.Join(errFiles, err), fault.Conflict, "The compose files of %s cannot be read: %v", st.Project, err)
}

// sameImage reports whether the project's files still give the service the image that was asked for.
func (s *Service) sameImage(ctx context.Context, st *record.Stack, svc *record.Service) error {
	p, err := s.loadProject(ctx, st)
	if err != nil {
		return filesUnreadable(st, err)
	}
	for _, found := range p.Services {
		if found.Name != svc.Name {
			continue
		}
		if r, err := image.Parse(found.Image); err == nil && r.String() == svc.ImageRef().String() {
			return nil
		}
		return fault.Wrap(errFiles, fault.Conflict, "The compose files of %s name another image for %s now: %s.", st.Project, svc.Name, found.Image)
	}
	return fault.Wrap(errFiles, fault.Conflict, "The compose files of %s no longer have the service %s.", st.Project, svc.Name)
}
