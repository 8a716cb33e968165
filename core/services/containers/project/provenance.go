package project

import (
	"path/filepath"
	"slices"

	"github.com/patchbay-dev/patchbay/core/services/containers/compose"
	"github.com/patchbay-dev/patchbay/core/services/containers/host"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// Warnings about a project's containers.
const (
	// WarnForeign: containers that bear the project's name were passed over.
	WarnForeign = "warning:foreign_containers_ignored"
	// WarnMoved: the project's containers come from other files than its stack; see ProjectMove.
	WarnMoved = "warning:project_moved"
)

// observeProjects groups containers by project.
func (d *Discovery) observeProjects(list []engine.Container) []compose.Group {
	roots := d.cfg.Host.ReadableRoots()
	return compose.Observe(observeLabels(list), compose.Options{
		ReadFile: d.readFile(), SupervisorOverride: d.cfg.Host.OverridePath(),
		Check: func(workingDir, path string) error {
			return compose.CheckFiles(compose.Source{WorkingDir: workingDir, Files: []string{path}, Roots: roots})
		},
	})
}

func observeLabels(list []engine.Container) []compose.Observed {
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
