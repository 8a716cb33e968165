package project

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/containers/compose"
	"github.com/patchbay-dev/patchbay/core/services/containers/host"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// Warnings about a project's containers.
const (
	// warnForeign: containers that bear the project's name were passed over.
	WarnForeign = "warning:foreign_containers_ignored"
	// warnMoved: the project's containers come from other files than its stack; see ProjectMove.
	WarnMoved = "warning:project_moved"
)

// observeProjects groups containers by project.
func (d *Discovery) observeProjects(list []engine.Container) []compose.Group {
	roots := d.cfg.Host.ReadableRoots()
	return compose.Observe(labelsOf(list), compose.Options{
		ReadFile: d.readFile(), SupervisorOverride: d.cfg.Host.OverridePath(),
		Check: func(workingDir, path string) error {
			return compose.CheckFiles(compose.Source{WorkingDir: workingDir, Files: []string{path}, Roots: roots})
		},
	})
}

func labelsOf(list []engine.Container) []compose.Observed {
	out := make([]compose.Observed, len(list))
	for i, c := range list {
		out[i] = compose.Observed{Project: c.Labels[host.LabelProject], Service: c.Labels[host.LabelService],
			WorkingDir: c.Labels[host.LabelWorkingDir], EnvFiles: c.Labels[host.LabelEnvFiles]}
		if files, ok := c.Labels[host.LabelFiles]; ok {
			out[i].ConfigFiles = &files
		}
	}
	return out
}

// recordForeignContainers notes, for known projects, containers that were passed over. Where a project has no others and compose made
// them, it may have moved.
func (d *Discovery) recordForeignContainers(known map[string]*knownProject, own, foreign []engine.Container) {
	alive := map[string]bool{}
	for _, c := range own {
		alive[c.Labels[host.LabelProject]] = true
	}
	var candidates []engine.Container
	for _, c := range foreign {
		name := c.Labels[host.LabelProject]
		if k := known[name]; k != nil {
			k.warning = WarnForeign
			if k.stack != nil && !alive[name] && host.MadeByCompose(c) {
				candidates = append(candidates, c)
			}
		}
	}
	for _, g := range d.observeProjects(candidates) {
		move := record.ProjectMove{WorkingDir: g.WorkingDir, ConfigFiles: g.Files, EnvFiles: g.EnvFiles}
		if k := known[g.Project]; k != nil && g.Err == nil && d.checkMove(move) == nil {
			k.move, k.warning = &move, WarnMoved
		}
	}
}

// checkMove returns an error if the files may not be read.
func (d *Discovery) checkMove(m record.ProjectMove) error {
	return compose.CheckFiles(compose.Source{WorkingDir: m.WorkingDir, Files: m.ConfigFiles, EnvFiles: m.EnvFiles,
		Roots: d.cfg.Host.ReadableRoots()})
}

// holdRelocatedFiles keeps the stack's files for a project whose containers name new ones outside of its working directory.
func (d *Discovery) holdRelocatedFiles(k *knownProject, g *compose.Group) {
	if k.stack == nil || g.Err != nil {
		return
	}
	outside := func(files, had []string) bool {
		return slices.ContainsFunc(files, func(file string) bool {
			rel, err := filepath.Rel(g.WorkingDir, file)
			return file != filepath.Clean(d.cfg.Host.OverridePath()) && !slices.Contains(had, file) && (err != nil || !filepath.IsLocal(rel))
		})
	}
	if !outside(g.Files, k.stack.Files) && !outside(g.EnvFiles, k.stack.EnvFiles) {
		return
	}
	move := record.ProjectMove{WorkingDir: g.WorkingDir, ConfigFiles: g.Files, EnvFiles: g.EnvFiles}
	if err := d.checkMove(move); err == nil {
		k.move, k.warning = &move, WarnMoved
	} else {
		k.warning = WarnForeign
	}
	g.Warning = k.warning
	g.WorkingDir, g.Files, g.EnvFiles = k.stack.WorkingDir, k.stack.Files, k.stack.EnvFiles
}

// AcceptMove gives a project's stack the files that its containers come from. They are named as Projects shows them, so
// that nothing is taken over that nobody has seen. It returns the job of the discovery that reads them.
func (d *Discovery) AcceptMove(ctx context.Context, name, workingDir string, files []string) (jobID string, err error) {
	unlock, err := d.cfg.Locks.LockKey(ctx, "discovery")
	if err != nil {
		return "", err
	}
	defer unlock()
	p, err := d.store.FindProject(ctx, name)
	switch {
	case err != nil:
		return "", err
	case p.Move == nil || p.StackID == "":
		return "", fault.New(fault.Conflict, "The files of the project have not moved.").With("reason", "not_moved")
	case p.Move.WorkingDir != workingDir || !slices.Equal(p.Move.ConfigFiles, files):
		return "", fault.New(fault.Conflict, "The files of the project have changed since they were shown.").With("reason", "changed_since")
	}
	if err := d.checkMove(*p.Move); err != nil {
		return "", fault.Wrap(err, fault.Conflict, "The files of the project cannot be read: %v", err)
	}
	services, err := d.store.ListStackServices(ctx, p.StackID)
	if err != nil {
		return "", err
	}
	ids := make([]string, len(services))
	for i := range services {
		ids[i] = services[i].ID
	}
	jobs, err := d.cfg.Jobs.ActiveJobs(ctx, ids)
	if err != nil {
		return "", err
	}
	if len(jobs) > 0 {
		return "", fault.New(fault.Conflict, "A job works on the project.").With("existingJobId", jobs[0].ID)
	}
	err = d.store.Tx(ctx, "move a project", func(ctx context.Context) error {
		columns := map[string]any{"working_dir": workingDir, "files": record.EncodeColumn(files),
			"env_files": record.EncodeColumn(append([]string{}, p.Move.EnvFiles...))}
		if err := d.store.UpdateStack(ctx, p.StackID, columns, d.now()); err != nil {
			return err
		}
		return d.store.updateProject(ctx, name, map[string]any{"working_dir": workingDir, "files": record.EncodeColumn(files), "move": nil,
			"last_error": ""})
	})
	if err != nil {
		return "", fmt.Errorf("move the project %s: %w", name, err)
	}
	return d.Discover(ctx)
}
