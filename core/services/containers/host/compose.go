package host

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

// ComposeCall is one compose command on a stack, or on some of its services.
type ComposeCall struct {
	Action   string
	Services []string
	// Scale is the number of containers of services, where it is not what the files say.
	Scale map[string]int
	// Force has ActionRecreate replace containers that are as they should be; NoStart has it start nothing.
	Force, NoStart bool
}

// MixesWith reports whether one command can do both.
func (c ComposeCall) MixesWith(other ComposeCall) bool {
	return c.Action == engine.ActionRecreate && c.Action == other.Action && c.Force == other.Force && c.NoStart == other.NoStart
}

// JoinCall returns the command that does both.
func (c ComposeCall) JoinCall(other ComposeCall) ComposeCall {
	scale := maps.Clone(c.Scale)
	if scale == nil {
		scale = map[string]int{}
	}
	maps.Copy(scale, other.Scale)
	c.Services, c.Scale = append(append([]string{}, c.Services...), other.Services...), scale
	return c
}

// ComposeRequest returns the request of a compose command on a stack.
func (h *Host) ComposeRequest(st *record.Stack, call ComposeCall) engine.ComposeRequest {
	set := h.cfg.Settings()
	return engine.ComposeRequest{
		Bin: set.ComposeBin, Action: call.Action, Project: st.Project, WorkingDir: st.WorkingDir, Files: st.Files, EnvFiles: st.EnvFiles,
		Services: call.Services, Scale: call.Scale, Force: call.Force, NoStart: call.NoStart, DockerConfig: set.DockerConfig,
	}
}

// ComposeDry tells what compose would be run with.
func (h *Host) ComposeDry(ctx context.Context, st *record.Stack, call ComposeCall) (*engine.ComposeResult, error) {
	if err := h.RefuseFiles(st); err != nil {
		return nil, err
	}
	if err := h.RefuseSameName(ctx, st, call.Services); err != nil {
		return nil, err
	}
	req := h.ComposeRequest(st, call)
	req.DryRun = true
	return h.cfg.Engine().Compose(ctx, req, func(engine.Line) error { return nil })
}

// MaxComposeLines is how many lines of one compose command the log of a job takes: each is a row.
const MaxComposeLines = 1000

// RunCompose runs one compose command and logs its output in the job. The error of a failed command has the last lines of its
// output. A command whose plugin has died, or whose engine was away, is
// repeated, which repairs what the first one has left.
func (h *Host) RunCompose(ctx context.Context, r *work.Reporter, st *record.Stack,
	call ComposeCall) (res *engine.ComposeResult, err error) {
	err = h.ThroughOutage(ctx, func() error {
		res, err = h.composeOnce(ctx, r, st, call)
		return err
	})
	return res, err
}

func (h *Host) composeOnce(ctx context.Context, r *work.Reporter, st *record.Stack, call ComposeCall) (*engine.ComposeResult, error) {
	if err := h.RefuseFiles(st); err != nil {
		return nil, err
	}
	if err := h.RefuseSameName(ctx, st, call.Services); err != nil {
		return nil, err
	}
	lines, before := 0, h.Outages.Load()
	res, err := h.cfg.Engine().Compose(ctx, h.ComposeRequest(st, call), func(l engine.Line) error {
		text := strings.TrimSpace(l.Text)
		if text == "" {
			return ctx.Err()
		}
		switch lines++; {
		case lines <= MaxComposeLines:
			r.LogInfo(ctx, "compose: %s", text)
		case lines == MaxComposeLines+1:
			r.LogWarning(ctx, "compose says more than %d lines; the rest is left out.", MaxComposeLines)
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("run compose: %w", err)
	}
	if res.ExitCode != 0 {
		err := fault.New(fault.Conflict, "%s ended with exit code %d: %s", strings.Join(res.Command, " "), res.ExitCode,
			errs.Plain(lastLines(res.Tail, 6)))
		if h.sawOutage(ctx, before) {
			return res, fault.Wrap(failure.ErrEngineAway, fault.Conflict, "The engine became unreachable. %s", err.Message)
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

// ReasonSameName: a project of another directory has the name. Compose tells projects apart by their names alone.
const ReasonSameName = "project_name_shared"

// RefuseSameName returns an error if a compose command would touch containers of another directory's project: compose would take
// them for those of the stack.
func (h *Host) RefuseSameName(ctx context.Context, st *record.Stack, services []string) error {
	if len(services) == 0 {
		all, err := h.cfg.Store.ListStackServices(ctx, st.ID)
		if err != nil {
			return fmt.Errorf("read the services: %w", err)
		}
		for _, svc := range all {
			services = append(services, svc.Name)
		}
	}
	list, err := h.cfg.Engine().Containers(ctx, engine.Filter{Labels: []string{LabelProject + "=" + st.Project}})
	if err != nil {
		return fmt.Errorf("list the containers: %w", err)
	}
	_, foreign := SplitForeign(slices.DeleteFunc(list, OneOff), map[string]string{st.Project: st.WorkingDir})
	for _, c := range foreign {
		name, dir := c.Labels[LabelService], strings.TrimSpace(c.Labels[LabelWorkingDir])
		if MadeByCompose(c) && filepath.IsAbs(dir) && slices.Contains(services, name) {
			return fault.New(fault.Conflict,
				"The service %s belongs to another project of the same name, in %s. Compose would mistake its containers for those of "+
					"%s: rename one of the projects.",
				name, dir, st.WorkingDir).With("reason", ReasonSameName)
		}
	}
	return nil
}
