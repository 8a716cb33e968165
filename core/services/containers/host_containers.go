package containers

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
	labelProject    = "com.docker.compose.project"
	labelService    = "com.docker.compose.service"
	labelWorkingDir = "com.docker.compose.project.working_dir"
	labelFiles      = "com.docker.compose.project.config_files"
	labelEnvFiles   = "com.docker.compose.project.environment_file"
	labelOneOff     = "com.docker.compose.oneoff"
)

// Labels that compose gives to each container that it makes.
const (
	labelConfigHash     = "com.docker.compose.config-hash"
	labelComposeVersion = "com.docker.compose.version"
)

// madeByCompose reports whether a container has the labels of compose. The others may name a project by mistake or on
// purpose: anybody can give a container such a label.
func madeByCompose(c engine.Container) bool {
	return c.Labels[labelConfigHash] != "" && c.Labels[labelComposeVersion] != ""
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

// splitForeign separates the containers of projects from those that only bear their names: compose did not make them, or
// made them in another directory than the project's. stacks has the directories of the projects that have a stack.
func splitForeign(list []engine.Container, stacks map[string]string) (own, foreign []engine.Container) {
	dirs := withUnknownDirs(list, stacks)
	for _, c := range list {
		name, dir := c.Labels[labelProject], c.Labels[labelWorkingDir]
		_, hasStack := stacks[name]
		if madeByCompose(c) && (dirs[name] == "" || sameDir(dirs[name], dir) || dir == "" && !hasStack) {
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

func oneOff(c engine.Container) bool {
	return c.Labels[labelOneOff] == "True" || c.Labels[labelOneOff] == "true"
}

// containersOf are the containers of a project, or of one service of it. Those of "compose run" are left out, and what
// interrupted commands have left beside them. Containers that only bear the project's name are no part of it.
func (h *Host) containersOf(ctx context.Context, project, service string) ([]engine.Container, error) {
	list, err := h.allContainersOf(ctx, project, service)
	return engine.Repair(list).Keep, err
}

// allContainersOf is containersOf with the leftovers of interrupted commands.
func (h *Host) allContainersOf(ctx context.Context, project, service string) ([]engine.Container, error) {
	labels := []string{labelProject + "=" + project}
	if service != "" {
		labels = append(labels, labelService+"="+service)
	}
	list, err := h.cfg.Engine().Containers(ctx, engine.Filter{Labels: labels})
	if err != nil {
		return nil, fmt.Errorf("list the containers of %s: %w", project, err)
	}
	dirs, err := h.cfg.Store.ListWorkingDirs(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the stacks: %w", err)
	}
	own, _ := splitForeign(slices.DeleteFunc(list, oneOff), dirs)
	return own, nil
}

// scaleOf returns the number of containers that services of a stack have now, by name. A service without any is left
// out: it gets as many as its files say.
func (h *Host) scaleOf(ctx context.Context, st *record.Stack, services ...string) (map[string]int, error) {
	list, err := h.containersOf(ctx, st.Project, "")
	if err != nil {
		return nil, err
	}
	out := map[string]int{}
	for _, name := range services {
		for _, c := range list {
			if c.Labels[labelService] == name {
				out[name]++
			}
		}
	}
	return out, nil
}

// RunningContainers returns the ids of the managed services, by those of their containers that run.
func (h *Host) RunningContainers(ctx context.Context) (map[string]string, error) {
	list, err := h.cfg.Engine().Containers(ctx, engine.Filter{Labels: []string{labelProject}})
	if err != nil {
		return nil, fmt.Errorf("list the containers: %w", err)
	}
	dirs, err := h.cfg.Store.ListWorkingDirs(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the stacks: %w", err)
	}
	list, _ = splitForeign(list, dirs)
	byName, err := h.cfg.Store.ListServiceIDs(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the services: %w", err)
	}
	owner := map[string]string{}
	for _, c := range list {
		id := byName[[2]string{c.Labels[labelProject], c.Labels[labelService]}]
		if id != "" && c.State == "running" && !oneOff(c) {
			owner[c.ID] = id
		}
	}
	return owner, nil
}
