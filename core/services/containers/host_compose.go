package containers

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// composeCall is one compose command on a stack, or on some of its services.
type composeCall struct {
	action   string
	services []string
	// scale is the number of containers of services, where it is not what the files say.
	scale map[string]int
	// force has ActionRecreate replace containers that are as they should be; noStart has it start nothing.
	force, noStart bool
}

// mixesWith reports whether one command can do both.
func (c composeCall) mixesWith(other composeCall) bool {
	return c.action == engine.ActionRecreate && c.action == other.action && c.force == other.force && c.noStart == other.noStart
}

// joinCall returns the command that does both.
func (c composeCall) joinCall(other composeCall) composeCall {
	scale := maps.Clone(c.scale)
	if scale == nil {
		scale = map[string]int{}
	}
	maps.Copy(scale, other.scale)
	c.services, c.scale = append(append([]string{}, c.services...), other.services...), scale
	return c
}

func (h *Host) composeRequest(st *record.Stack, call composeCall) engine.ComposeRequest {
	set := h.cfg.Settings()
	return engine.ComposeRequest{
		Bin: set.ComposeBin, Action: call.action, Project: st.Project, WorkingDir: st.WorkingDir, Files: st.Files, EnvFiles: st.EnvFiles,
		Services: call.services, Scale: call.scale, Force: call.force, NoStart: call.noStart, DockerConfig: set.DockerConfig,
	}
}

// composeDry tells what compose would be run with.
func (h *Host) composeDry(ctx context.Context, st *record.Stack, call composeCall) (*engine.ComposeResult, error) {
	if err := h.refuseFiles(st); err != nil {
		return nil, err
	}
	if err := h.refuseSameName(ctx, st, call.services); err != nil {
		return nil, err
	}
	req := h.composeRequest(st, call)
	req.DryRun = true
	return h.cfg.Engine().Compose(ctx, req, func(engine.Line) error { return nil })
}

// maxComposeLines is how many lines of one compose command the log of a job takes: each is a row.
const maxComposeLines = 1000

// runCompose runs one compose command and logs its output in the job. The error of a failed command has the last lines of its
// output. A command whose plugin has died, or whose engine was away, is
// repeated, which repairs what the first one has left.
func (h *Host) runCompose(ctx context.Context, r *work.Reporter, st *record.Stack, call composeCall) (res *engine.ComposeResult, err error) {
	err = h.throughOutage(ctx, func() error {
		res, err = h.composeOnce(ctx, r, st, call)
		return err
	})
	return res, err
}

func (h *Host) composeOnce(ctx context.Context, r *work.Reporter, st *record.Stack, call composeCall) (*engine.ComposeResult, error) {
	if err := h.refuseFiles(st); err != nil {
		return nil, err
	}
	if err := h.refuseSameName(ctx, st, call.services); err != nil {
		return nil, err
	}
	lines, before := 0, h.outages.Load()
	res, err := h.cfg.Engine().Compose(ctx, h.composeRequest(st, call), func(l engine.Line) error {
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
		if h.sawOutage(ctx, before) {
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

// reasonSameName: a project of another directory has the name. Compose tells projects apart by their names alone.
const reasonSameName = "project_name_shared"

// refuseSameName returns an error if a compose command would touch containers of another directory's project: compose would take
// them for those of the stack.
func (h *Host) refuseSameName(ctx context.Context, st *record.Stack, services []string) error {
	if len(services) == 0 {
		all, err := h.cfg.Store.ListStackServices(ctx, st.ID)
		if err != nil {
			return fmt.Errorf("read the services: %w", err)
		}
		for _, svc := range all {
			services = append(services, svc.Name)
		}
	}
	list, err := h.cfg.Engine().Containers(ctx, engine.Filter{Labels: []string{labelProject + "=" + st.Project}})
	if err != nil {
		return fmt.Errorf("list the containers: %w", err)
	}
	_, foreign := splitForeign(slices.DeleteFunc(list, oneOff), map[string]string{st.Project: st.WorkingDir})
	for _, c := range foreign {
		name, dir := c.Labels[labelService], strings.TrimSpace(c.Labels[labelWorkingDir])
		if madeByCompose(c) && filepath.IsAbs(dir) && slices.Contains(services, name) {
			return fault.New(fault.Conflict, "The service %s of another project, in %s, has the name of this one: compose would take its containers for those of %s. Give one of the projects another name.",
				name, dir, st.WorkingDir).With("reason", reasonSameName)
		}
	}
	return nil
}
