package project

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/containers/compose"
	"github.com/patchbay-dev/patchbay/core/services/containers/host"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// DiscoverProjects finds the projects of the host, brings stacks and services up to date, and notes what runs. One at a time.
func (d *Discovery) DiscoverProjects(ctx context.Context) (ScanResult, error) {
	unlock, err := d.cfg.Locks.LockKey(ctx, "discovery")
	if err != nil {
		return ScanResult{}, err
	}
	defer unlock()
	began, set := d.cfg.Now(), d.cfg.Settings()
	res := ScanResult{StartedAt: api.TimeOf(began), Actions: []ScanAction{}}
	// The database is read while the engine answers: what changes meanwhile is noticed by whoever writes.
	var known map[string]*knownProject
	var o *Observed
	var list []engine.Container
	var reading errgroup.Group
	reading.Go(func() (err error) {
		known, err = d.KnownProjects(ctx)
		return err
	})
	o, list, err = d.cfg.Projects.ObserveEngine(ctx, "")
	if err := errors.Join(reading.Wait(), err); err != nil {
		return res, err
	}
	var services []record.Service
	for _, k := range known {
		services = append(services, k.services...)
	}
	groups := d.observeProjects(list)
	d.recordForeignContainers(known, list, o.foreign)
	shared := d.sameNameGroups(known, o.foreign)
	res.Summary.ProjectsSeen = len(groups) + len(shared)
	running := map[string]bool{}
	for _, c := range list {
		running[c.Labels[host.LabelProject]] = running[c.Labels[host.LabelProject]] || c.State == "running" || c.State == "restarting" ||
			c.State == "paused"
	}
	for _, g := range groups {
		a, err := d.recordSeen(ctx, known, g, running[g.Project])
		if err != nil {
			return res, err
		}
		res.addAction(a, set.MaxActions)
		delete(known, g.Project)
	}
	if err := d.recordSameNames(ctx, known, shared, &res, set.MaxActions); err != nil {
		return res, err
	}
	for _, p := range sortedProjects(known) {
		a, err := d.recordUnseen(ctx, p)
		if err != nil {
			return res, err
		}
		if a != nil {
			res.addAction(*a, set.MaxActions)
		}
	}
	if sum := res.Summary; sum.StacksCreated+sum.StacksUpdated+sum.StacksStopped+sum.StacksArchived > 0 {
		services = nil
	}
	if _, err := d.cfg.Projects.takeRuntimes(ctx, o, services, nil); err != nil {
		return res, err
	}
	res.DurationMS = d.cfg.Now().Sub(began).Milliseconds()
	return res, nil
}

// KnownProjects returns the projects with their stacks as they are stored, by name.
func (d *Discovery) KnownProjects(ctx context.Context) (map[string]*knownProject, error) {
	projects, err := d.store.ListProjects(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the projects: %w", err)
	}
	stacks, err := d.store.ListStacks(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the stacks: %w", err)
	}
	services, err := d.store.ListServices(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the services: %w", err)
	}
	byStack := map[string][]record.Service{}
	for _, svc := range services {
		byStack[svc.StackID] = append(byStack[svc.StackID], svc)
	}
	out := map[string]*knownProject{}
	for _, p := range projects {
		out[p.Project] = &knownProject{Project: p}
	}
	for i := range stacks {
		if k := out[stacks[i].Project]; k != nil {
			k.stack, k.services = &stacks[i], byStack[stacks[i].ID]
		}
	}
	return out, nil
}

// recordSeen stores a project that has containers.
func (d *Discovery) recordSeen(ctx context.Context, known map[string]*knownProject, g compose.Group, running bool) (ScanAction, error) {
	k := known[g.Project]
	if k == nil {
		k = &knownProject{Project: record.Project{Project: g.Project}}
	}
	d.holdRelocatedFiles(k, &g)
	p, warning := k.Project, cmp.Or(g.Warning, k.warning)
	p.LastSeenAt, p.LastScanAt, p.LastError, p.Details, p.Move = d.now(), d.now(), warning, "", k.move
	if g.Variants != nil {
		p.Details = record.EncodeColumn(g.Variants)
	}
	a := ScanAction{Project: g.Project, StackID: p.StackID, Reason: warning, Details: json.RawMessage(p.Details)}
	if g.Err != nil {
		return d.invalidProject(ctx, k, p, a, g.Err.Error())
	}
	p.WorkingDir, p.Files = g.WorkingDir, g.Files
	found, err := d.cachedProject(ctx, compose.Source{Project: g.Project, WorkingDir: g.WorkingDir, Files: g.Files, EnvFiles: g.EnvFiles,
		Roots: d.cfg.Host.ReadableRoots()})
	if compose.AllFilesAbsent(err) && !running {
		return d.archiveMissing(ctx, k, p)
	}
	if err != nil {
		if ctx.Err() != nil {
			return a, context.Cause(ctx)
		}
		return d.invalidProject(ctx, k, p, a, err.Error())
	}
	p.Status = record.ProjectActive
	if !running {
		p.Status = record.ProjectStopped
	}
	changed, err := d.syncProject(ctx, k, &p, found, g.EnvFiles)
	if err != nil {
		return a, err
	}
	a.StackID = p.StackID
	switch {
	case k.stack == nil:
		a.Action = ActionCreated
	case changed:
		a.Action = actionUpdated
	case p.Status == record.ProjectStopped && k.Project.Status != record.ProjectStopped:
		a.Action = actionStopped
	default:
		a.Action = actionSkipped
	}
	return a, nil
}

// invalidProject keeps a project that cannot be used visible, with the reason. Its stack stays as it was.
func (d *Discovery) invalidProject(ctx context.Context, k *knownProject, p record.Project, a ScanAction, why string) (ScanAction, error) {
	p.Status, p.LastError = record.ProjectInvalid, why
	if k.stack != nil {
		p.WorkingDir, p.Files = k.Project.WorkingDir, k.Project.Files
	}
	a.Action, a.Reason = actionFailed, why
	return a, d.SaveProject(ctx, k, p)
}

// recordUnseen stores the state of a project without containers: stopped if its files are there, else gone.
func (d *Discovery) recordUnseen(ctx context.Context, k *knownProject) (*ScanAction, error) {
	p := k.Project
	p.LastScanAt, p.Move = d.now(), k.move
	a := ScanAction{Project: p.Project, StackID: p.StackID, Reason: k.warning}
	if len(p.Files) == 0 {
		if p.Status == record.ProjectMissing {
			return nil, d.SaveProject(ctx, k, p)
		}
		p.Status, a.Action = record.ProjectMissing, actionMissing
		return &a, d.SaveProject(ctx, k, p)
	}
	src := compose.Source{Project: p.Project, WorkingDir: p.WorkingDir, Files: p.Files, Roots: d.cfg.Host.ReadableRoots()}
	if k.stack != nil {
		src.EnvFiles = k.stack.EnvFiles
	}
	found, err := d.cachedProject(ctx, src)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case compose.AllFilesAbsent(err):
		if p.Status == record.ProjectMissing {
			return nil, d.SaveProject(ctx, k, p)
		}
		a, err := d.archiveMissing(ctx, k, p)
		return &a, err
	case err != nil:
		a, err := d.invalidProject(ctx, k, p, a, err.Error())
		return &a, err
	}
	p.LastError, p.Status = k.warning, record.ProjectStopped
	changed, err := d.syncProject(ctx, k, &p, found, src.EnvFiles)
	if err != nil {
		return nil, err
	}
	a.Action, a.StackID = actionSkipped, p.StackID
	if changed {
		a.Action = actionUpdated
	}
	if k.Project.Status != record.ProjectStopped {
		a.Action = actionStopped
	}
	return &a, nil
}

// archiveMissing archives a project of which every file is gone. What a person has archived stays as it is.
func (d *Discovery) archiveMissing(ctx context.Context, k *knownProject, p record.Project) (ScanAction, error) {
	p.Status, p.LastError = record.ProjectMissing, compose.FileMissing
	a := ScanAction{Project: p.Project, StackID: p.StackID, Action: actionMissing, Reason: record.ArchivedMissing}
	if p.ArchivedAt == 0 {
		p.ArchivedAt, p.ArchivedReason = d.now(), record.ArchivedMissing
	}
	if k.stack != nil && k.stack.ArchivedAt == 0 {
		if err := d.store.ArchiveMissing(ctx, k.stack.ID, d.now()); err != nil {
			return a, fmt.Errorf("archive the stack %s: %w", p.Project, err)
		}
	}
	return a, d.SaveProject(ctx, k, p)
}
