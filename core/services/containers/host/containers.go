package host

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// The labels by which compose marks containers.
const (
	LabelProject    = "com.docker.compose.project"
	LabelService    = "com.docker.compose.service"
	LabelWorkingDir = "com.docker.compose.project.working_dir"
	LabelFiles      = "com.docker.compose.project.config_files"
	LabelEnvFiles   = "com.docker.compose.project.environment_file"
	labelOneOff     = "com.docker.compose.oneoff"
)

// Labels that compose gives to each container that it makes.
const (
	LabelConfigHash     = "com.docker.compose.config-hash"
	LabelComposeVersion = "com.docker.compose.version"
)

// MadeByCompose reports whether a container has the labels of compose. The others may name a project by mistake or on
// purpose: anybody can give a container such a label.
func MadeByCompose(c engine.Container) bool {
	return c.Labels[LabelConfigHash] != "" && c.Labels[LabelComposeVersion] != ""
}

// sameDir reports whether two names stand for one directory.
func sameDir(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	if !filepath.IsAbs(a) || !filepath.IsAbs(b) {
		return false
	}
	resolved, err := filepath.EvalSymlinks(a)
	other, otherErr := filepath.EvalSymlinks(b)
	return err == nil && otherErr == nil && resolved == other
}

// SplitForeign separates the containers of projects from those that only bear their names: compose did not make them, or
// made them in another directory than the project's. stacks has the directories of the projects that have a stack.
func SplitForeign(list []engine.Container, stacks map[string]string) (own, foreign []engine.Container) {
	dirs := withUnknownDirs(list, stacks)
	for _, c := range list {
		name, dir := c.Labels[LabelProject], c.Labels[LabelWorkingDir]
		_, hasStack := stacks[name]
		if MadeByCompose(c) && (dirs[name] == "" || sameDir(dirs[name], dir) || dir == "" && !hasStack) {
			own = append(own, c)
		} else {
			foreign = append(foreign, c)
		}
	}
	return own, foreign
}

// withUnknownDirs adds the directories of projects that have no stack yet: of several the first by name, so that it is always the
// same one.
func withUnknownDirs(list []engine.Container, known map[string]string) map[string]string {
	dirs := maps.Clone(known)
	if dirs == nil {
		dirs = map[string]string{}
	}
	for _, c := range list {
		name, dir := c.Labels[LabelProject], c.Labels[LabelWorkingDir]
		if _, ok := known[name]; ok || dir == "" || !MadeByCompose(c) {
			continue
		}
		if first, ok := dirs[name]; !ok || filepath.Clean(dir) < first {
			dirs[name] = filepath.Clean(dir)
		}
	}
	return dirs
}

// OneOff reports whether a container is one of "compose run".
func OneOff(c engine.Container) bool {
	return c.Labels[labelOneOff] == "True" || c.Labels[labelOneOff] == "true"
}

// ContainersOf are the containers of a project, or of one service of it. Those of "compose run" are left out, and what
// interrupted commands have left beside them. Containers that only bear the project's name are no part of it.
func (h *Host) ContainersOf(ctx context.Context, project, service string) ([]engine.Container, error) {
	list, err := h.AllContainersOf(ctx, project, service)
	return engine.Repair(list).Keep, err
}

// AllContainersOf is ContainersOf with the leftovers of interrupted commands.
func (h *Host) AllContainersOf(ctx context.Context, project, service string) ([]engine.Container, error) {
	labels := []string{LabelProject + "=" + project}
	if service != "" {
		labels = append(labels, LabelService+"="+service)
	}
	list, err := h.cfg.Engine().Containers(ctx, engine.Filter{Labels: labels})
	if err != nil {
		return nil, fmt.Errorf("list the containers of %s: %w", project, err)
	}
	dirs, err := h.cfg.Store.ListWorkingDirs(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the stacks: %w", err)
	}
	own, _ := SplitForeign(slices.DeleteFunc(list, OneOff), dirs)
	return own, nil
}

// ScaleOf returns the number of containers that services of a stack have now, by name. A service without any is left
// out: it gets as many as its files say.
func (h *Host) ScaleOf(ctx context.Context, st *record.Stack, services ...string) (map[string]int, error) {
	list, err := h.ContainersOf(ctx, st.Project, "")
	if err != nil {
		return nil, err
	}
	out := map[string]int{}
	for _, name := range services {
		for _, c := range list {
			if c.Labels[LabelService] == name {
				out[name]++
			}
		}
	}
	return out, nil
}

// RunningContainers returns the ids of the managed services, by those of their containers that run.
func (h *Host) RunningContainers(ctx context.Context) (map[string]string, error) {
	list, err := h.cfg.Engine().Containers(ctx, engine.Filter{Labels: []string{LabelProject}})
	if err != nil {
		return nil, fmt.Errorf("list the containers: %w", err)
	}
	dirs, err := h.cfg.Store.ListWorkingDirs(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the stacks: %w", err)
	}
	list, _ = SplitForeign(list, dirs)
	byName, err := h.cfg.Store.ListServiceIDs(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the services: %w", err)
	}
	owner := map[string]string{}
	for _, c := range list {
		id := byName[[2]string{c.Labels[LabelProject], c.Labels[LabelService]}]
		if id != "" && c.State == "running" && !OneOff(c) {
			owner[c.ID] = id
		}
	}
	return owner, nil
}
