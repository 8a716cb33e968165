package project

import (
	"context"
	"fmt"
	"slices"

	"github.com/patchbay-dev/patchbay/core/services/containers/host"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// RuntimeState is what was seen of a service on the engine.
type RuntimeState struct {
	State record.LifecycleState
	// ID is the image of its containers, digest the one under which the service's repository has it; digests are all.
	ID, Digest string
	Digests    []string
	version    string
	// Built tells that compose has built the image.
	Built   bool
	Problem string
}

// Observed are the containers of all compose projects, with the images that they were made from.
type Observed struct {
	byService map[[2]string][]engine.Container
	images    map[string]*engine.Image
	// before are the generations of the services that no change worked on when the engine was asked.
	before map[string]int64
	// foreign are containers that were passed over: they bear the names of projects and are not theirs.
	foreign []engine.Container
}

// isSettled reports whether the observed state of a service is not that of a change under way.
func (o *Observed) isSettled(svc *record.Service) bool {
	generation, ok := o.before[svc.ID]
	return ok && generation == svc.Generation
}

// ObserveEngine asks the engine once for all containers of compose projects, and once for their images.
func (p *Projects) ObserveEngine(ctx context.Context, project string) (*Observed, []engine.Container, error) {
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
	o := &Observed{byService: map[[2]string][]engine.Container{}, images: map[string]*engine.Image{}, before: before, foreign: foreign}
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

// StateOf returns the observed state of a service of a project.
func (o *Observed) StateOf(project string, svc *record.Service) RuntimeState {
	list := o.byService[[2]string{project, svc.Name}]
	out := RuntimeState{State: StateOf(list), Problem: runtimeNone}
	if len(list) == 0 {
		return out
	}
	// Containers that run count before those that do not.
	slices.SortStableFunc(list, func(a, b engine.Container) int {
		return record.BoolToInt(b.State == "running") - record.BoolToInt(a.State == "running")
	})
	out.ID = list[0].ImageID
	for _, c := range list {
		if c.ImageID != out.ID && (c.State == "running") == (list[0].State == "running") {
			out.Problem = RuntimeAmbiguous
			return out
		}
	}
	img := o.images[out.ID]
	if img == nil {
		out.Problem = RuntimeLocal
		return out
	}
	out.version, out.Built = img.Labels[LabelVersion], img.Labels[host.LabelProject] != ""
	out.Digests = record.DigestsInRepo(svc.Repo, img.RepoDigests)
	switch len(out.Digests) {
	case 0:
		out.Problem = RuntimeLocal
	default:
		out.Digest, out.Problem = out.Digests[0], ""
		if slices.Contains(out.Digests, svc.RuntimeDigest) {
			out.Digest = svc.RuntimeDigest
		}
	}
	return out
}

// Why it is not known what a service runs.
const (
	runtimeNone      = "not_running"
	RuntimeLocal     = "local_image"
	RuntimeAmbiguous = "ambiguous"
)

// LabelVersion is the label in which an image names its version.
const LabelVersion = "org.opencontainers.image.version"

// StateOf returns the state of a service with the given containers.
func StateOf(list []engine.Container) record.LifecycleState {
	running := 0
	for _, c := range list {
		if c.State == "running" || c.State == "restarting" {
			running++
		}
	}
	switch {
	case running == 0:
		return record.StateStopped
	case running == len(list):
		return record.StateRunning
	}
	return record.StatePartial
}
