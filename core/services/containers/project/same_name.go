package project

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"

	"github.com/patchbay-dev/patchbay/core/services/containers/compose"
	"github.com/patchbay-dev/patchbay/core/services/containers/host"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// SameNameKey is what a project is listed by whose name belongs to a project of another directory. No project of compose has such a
// name.
func SameNameKey(project, dir string) string { return fmt.Sprintf("%s (%s)", project, dir) }

// sameNameGroups returns the projects that share their names with projects of other directories, by the containers that were passed
// over. One whose files a person is asked to take over is none.
func (d *Discovery) sameNameGroups(known map[string]*knownProject, foreign []engine.Container) []compose.Group {
	var list []engine.Container
	for _, c := range foreign {
		name, dir := c.Labels[host.LabelProject], c.Labels[host.LabelWorkingDir]
		if k := known[name]; !host.MadeByCompose(c) || !filepath.IsAbs(dir) || k != nil && k.move != nil {
			continue
		}
		c.Labels = maps.Clone(c.Labels)
		c.Labels[host.LabelProject] = SameNameKey(name, filepath.Clean(dir))
		list = append(list, c)
	}
	return d.observeProjects(list)
}

// recordSameNames lists projects whose names belong to others, and forgets those that are there no more. They have no stack: compose
// would take the containers of both for one project.
func (d *Discovery) recordSameNames(ctx context.Context, known map[string]*knownProject, groups []compose.Group, res *ScanResult,
	most int64) error {
	for _, g := range groups {
		k := known[g.Project]
		if k == nil {
			k = &knownProject{Project: record.Project{Project: g.Project}}
		}
		p := k.Project
		p.Status, p.LastError, p.LastSeenAt, p.LastScanAt = record.ProjectInvalid, host.ReasonSameName, d.now(), d.now()
		p.WorkingDir, p.Files = g.WorkingDir, g.Files
		if err := d.SaveProject(ctx, k, p); err != nil {
			return err
		}
		res.addAction(ScanAction{Project: p.Project, Action: actionSkipped, Reason: host.ReasonSameName}, most)
		delete(known, g.Project)
	}
	var gone []string
	for name, k := range known {
		if k.Project.LastError == host.ReasonSameName {
			gone = append(gone, name)
			delete(known, name)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return d.store.forgetProjects(ctx, gone)
}
