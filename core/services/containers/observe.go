package containers

import (
	"context"
	"fmt"
	"slices"

	"github.com/patchbay-dev/patchbay/core/services/containers/host"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// runtimeState is what was seen of a service on the engine.
type runtimeState struct {
	state record.LifecycleState
	// id is the image of its containers, digest the one under which the service's repository has it; digests are all.
	id, digest string
	digests    []string
	version    string
	// built tells that compose has built the image.
	built   bool
	problem string
}

// observed are the containers of all compose projects, with the images that they were made from.
type observed struct {
	byService map[[2]string][]engine.Container
	images    map[string]*engine.Image
	// before are the generations of the services that no change worked on when the engine was asked.
	before map[string]int64
	// foreign are containers that were passed over: they bear the names of projects and are not theirs.
	foreign []engine.Container
}

// isSettled reports whether the observed state of a service is not that of a change under way.
func (o *observed) isSettled(svc *record.Service) bool {
	generation, ok := o.before[svc.ID]
	return ok && generation == svc.Generation
}

// observeEngine asks the engine once for all containers of compose projects, and once for their images.
func (p *Projects) observeEngine(ctx context.Context, project string) (*observed, []engine.Container, error) {
	label := host.LabelProject
	if project != "" {
		label += "=" + project
	}
	before, err := p.store.settledServices(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("read the services: %w", err)
	}
	list, err := p.cfg.Host.Engine().Containers(ctx, engine.Filter{Labels: []string{label}})
	if err != nil {
		return nil, nil, fmt.Errorf("list the containers: %w", err)
	}
	dirs, err := p.store.ListWorkingDirs(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("read the stacks: %w", err)
	}
	list, foreign := host.SplitForeign(slices.DeleteFunc(list, host.OneOff), dirs)
	list = engine.Repair(list).Keep
	o := &observed{byService: map[[2]string][]engine.Container{}, images: map[string]*engine.Image{}, before: before, foreign: foreign}
	var ids []string
	for _, c := range list {
		key := [2]string{c.Labels[host.LabelProject], c.Labels[host.LabelService]}
		o.byService[key] = append(o.byService[key], c)
		if _, known := o.images[c.ImageID]; !known && c.ImageID != "" {
			o.images[c.ImageID] = nil
			ids = append(ids, c.ImageID)
		}
	}
	if len(ids) == 0 {
		return o, list, nil
	}
	found, err := p.cfg.Host.Engine().Images(ctx, ids)
	if err != nil {
		return nil, nil, fmt.Errorf("read the images: %w", err)
	}
	for i, img := range found {
		if i < len(ids) {
			o.images[ids[i]] = img
		}
	}
	return o, list, nil
}

// stateOf returns the observed state of a service of a project.
func (o *observed) stateOf(project string, svc *record.Service) runtimeState {
	list := o.byService[[2]string{project, svc.Name}]
	out := runtimeState{state: stateOf(list), problem: runtimeNone}
	if len(list) == 0 {
		return out
	}
	// Containers that run count before those that do not.
	slices.SortStableFunc(list, func(a, b engine.Container) int {
		return record.BoolToInt(b.State == "running") - record.BoolToInt(a.State == "running")
	})
	out.id = list[0].ImageID
	for _, c := range list {
		if c.ImageID != out.id && (c.State == "running") == (list[0].State == "running") {
			out.problem = runtimeAmbiguous
			return out
		}
	}
	img := o.images[out.id]
	if img == nil {
		out.problem = runtimeLocal
		return out
	}
	out.version, out.built = img.Labels[labelVersion], img.Labels[host.LabelProject] != ""
	out.digests = record.DigestsInRepo(svc.Repo, img.RepoDigests)
	switch len(out.digests) {
	case 0:
		out.problem = runtimeLocal
	default:
		out.digest, out.problem = out.digests[0], ""
		if slices.Contains(out.digests, svc.RuntimeDigest) {
			out.digest = svc.RuntimeDigest
		}
	}
	return out
}
