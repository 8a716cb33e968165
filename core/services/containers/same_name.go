package containers

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/containers/compose"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// reasonSameName: a project of another directory has the name. Compose tells projects apart by their names alone.
const reasonSameName = "project_name_shared"

// sameNameKey is what a project is listed by whose name belongs to a project of another directory. No project of compose has such a
// name.
func sameNameKey(project, dir string) string { return fmt.Sprintf("%s (%s)", project, dir) }

// withUnknownDirs adds the directories of projects that have no stack yet: of several the first by name, so that it is always the
// same one.
func withUnknownDirs(list []engine.Container, known map[string]string) map[string]string {
	dirs := maps.Clone(known)
	if dirs == nil {
		dirs = map[string]string{}
	}
	for _, c := range list {
		name, dir := c.Labels[labelProject], c.Labels[labelWorkingDir]
		if _, ok := known[name]; ok || dir == "" || !madeByCompose(c) {
			continue
		}
		if first, ok := dirs[name]; !ok || filepath.Clean(dir) < first {
			dirs[name] = filepath.Clean(dir)
		}
	}
	return dirs
}

// sameNameGroups returns the projects that share their names with projects of other directories, by the containers that were passed
// over. One whose files a person is asked to take over is none.
func (s *Service) sameNameGroups(known map[string]*knownProject, foreign []engine.Container) []compose.Group {
	var list []engine.Container
	for _, c := range foreign {
		name, dir := c.Labels[labelProject], c.Labels[labelWorkingDir]
		if k := known[name]; !madeByCompose(c) || !filepath.IsAbs(dir) || k != nil && k.move != nil {
			continue
		}
		c.Labels = maps.Clone(c.Labels)
		c.Labels[labelProject] = sameNameKey(name, filepath.Clean(dir))
		list = append(list, c)
	}
	return s.observeProjects(list)
}

// recordSameNames lists projects whose names belong to others, and forgets those that are there no more. They have no stack: compose
// would take the containers of both for one project.
func (s *Service) recordSameNames(ctx context.Context, known map[string]*knownProject, groups []compose.Group, res *ScanResult, most int64) error {
	for _, g := range groups {
		k := known[g.Project]
		if k == nil {
			k = &knownProject{project: record.Project{Project: g.Project}}
		}
		p := k.project
		p.Status, p.LastError, p.LastSeenAt, p.LastScanAt = record.ProjectInvalid, reasonSameName, s.now(), s.now()
		p.WorkingDir, p.Files = g.WorkingDir, g.Files
		if err := s.saveProject(ctx, k, p); err != nil {
			return err
		}
		res.addAction(ScanAction{Project: p.Project, Action: actionSkipped, Reason: reasonSameName}, most)
		delete(known, g.Project)
	}
	var gone []string
	for name, k := range known {
		if k.project.LastError == reasonSameName {
			gone = append(gone, name)
			delete(known, name)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return s.repo.Write(ctx, "forget projects of the same name", func(_ context.Context, w *gorm.DB) error {
		return w.Where("project IN ?", gone).Delete(&record.Project{}).Error
	})
}

// refuseSameName returns an error if a compose command would touch containers of another directory's project: compose would take
// them for those of the stack.
func (s *Service) refuseSameName(ctx context.Context, st *record.Stack, services []string) error {
	if len(services) == 0 {
		all, err := s.repo.ListStackServices(ctx, st.ID)
		if err != nil {
			return fmt.Errorf("read the services: %w", err)
		}
		for _, svc := range all {
			services = append(services, svc.Name)
		}
	}
	list, err := s.engine().Containers(ctx, engine.Filter{Labels: []string{labelProject + "=" + st.Project}})
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
