package change

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/patchbay-dev/patchbay/core/services/containers/backup"
	"github.com/patchbay-dev/patchbay/core/services/containers/drift"
	"github.com/patchbay-dev/patchbay/core/services/containers/host"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/core/texts"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// Plan is what a dry run finds.
type Plan struct {
	Mode            string        `json:"mode"`
	ChangedServices []string      `json:"changedServices"`
	Services        []ServicePlan `json:"services"`
	LeftOut         []LeftOut     `json:"leftOut,omitempty" doc:"Services of the scope that are left out, because their new versions were rolled back before."`
}

// ServicePlan is what an update would do to one service.
type ServicePlan struct {
	ServiceID     string              `json:"serviceId"`
	StackID       string              `json:"stackId"`
	Name          string              `json:"name" example:"blog / web"`
	FromDigest    string              `json:"fromDigest,omitempty"`
	ToDigest      string              `json:"toDigest"`
	ArchMatch     string              `json:"archMatch"`
	Starts        bool                `json:"starts,omitempty" doc:"The service has no container and would be started."`
	StaysStopped  bool                `json:"staysStopped,omitempty" doc:"The service does not run, and would not be started."`
	RunsOnce      bool                `json:"runsOnce,omitempty" doc:"The service ends by itself: it would be run once to its end, before the services that depend on it. Its former image is not run again."`
	Commands      []string            `json:"commands" doc:"What would run, in order."`
	BackupTargets []backup.BackupPlan `json:"backupTargets"`
	PullTags      []string            `json:"pullTags"`
	AutoRollback  bool                `json:"autoRollback"`
	Dependents    []Dependent         `json:"dependents" doc:"Services that share namespaces or volumes with its containers. They are recreated with it, in this order."`
	Drift         []drift.Drift       `json:"drift" doc:"What else recreating would change; it needs allowDrift."`
	Unresolved    []string            `json:"unresolvedVariables" doc:"Variables without a value, while what runs was made with one. They refuse the update."`
}

// planUpdate returns what an update would do. It changes nothing.
func (pl *Planner) planUpdate(ctx context.Context, inv *project.Inventory, spec *UpdateJob, r *work.Reporter) (any, error) {
	out := Plan{Mode: ModeDryRun, ChangedServices: []string{}, Services: []ServicePlan{}, LeftOut: listLeftOut(inv, spec)}
	reportLeftOut(ctx, r, out.LeftOut)
	for _, g := range groupTargets(inv, spec.Targets) {
		g, _, err := pl.changes.OrderTargets(ctx, r.Job.ID, g)
		if err != nil {
			return out, err
		}
		for i := range g.Targets {
			p, err := pl.planService(ctx, &g.Stack, &g.Svcs[i], g.Targets[i], spec.Targets, spec.BackupMode)
			if err != nil {
				return out, err
			}
			if len(p.Drift) > 0 {
				r.LogWarning(ctx, "%s: recreating it would change more than its image: %s", p.Name, drift.Describe(p.Drift))
			}
			if len(p.Unresolved) > 0 {
				r.LogError(ctx, "%s: variables without a value: %s", p.Name, texts.JoinSome(p.Unresolved, drift.MaxTold))
			}
			out.ChangedServices, out.Services = append(out.ChangedServices, p.ServiceID), append(out.Services, p)
			r.LogInfo(ctx, "%s: %s → %s", p.Name, record.ShortDigest(p.FromDigest), record.ShortDigest(p.ToDigest))
		}
	}
	return out, nil
}

// planService returns what an update would do to a service.
func (pl *Planner) planService(ctx context.Context, st *record.Stack, svc *record.Service, t project.Target, with []project.Target, backupMode string) (ServicePlan, error) {
	p, err := pl.outlineService(ctx, st, svc, t, with)
	if err != nil {
		return p, err
	}
	if p.BackupTargets, err = pl.changes.cfg.Backups.PlanBackup(ctx, svc, backupMode); err != nil {
		return p, err
	}
	drift, err := pl.changes.cfg.Drift.Compare(ctx, st, svc)
	p.Drift, p.Unresolved = append(drift.Drift, p.Drift...), append(drift.Unresolved, p.Unresolved...)
	return p, err
}

// outlineService returns the plan of a service with what would run, and with the plan of its dependents. with are all targets of the job.
func (pl *Planner) outlineService(ctx context.Context, st *record.Stack, svc *record.Service, t project.Target, with []project.Target) (ServicePlan, error) {
	ref := svc.ImageRef()
	p := ServicePlan{
		ServiceID: svc.ID, StackID: st.ID, Name: st.Project + " / " + svc.Name, FromDigest: svc.RuntimeDigest, ToDigest: t.TargetDigest,
		ArchMatch: svc.CandidateMatch, PullTags: t.PullTags, AutoRollback: svc.AutoRollback, Dependents: []Dependent{},
		Commands: []string{"pull " + ref.WithDigest(t.TargetDigest), fmt.Sprintf("tag %s %s", ref.WithDigest(t.TargetDigest), ref)},
	}
	if err := pl.changes.cfg.Host.SameImage(ctx, st, svc); err != nil {
		return p, err
	}
	running, err := pl.changes.cfg.Projects.RunningImage(ctx, st, svc)
	if err != nil {
		return p, err
	}
	once, err := pl.changes.whyRunsOnce(ctx, st, svc, &running)
	if err != nil {
		return p, err
	}
	stopped := running.State == record.StateStopped
	p.RunsOnce, p.Starts, p.StaysStopped = once != "", stopped && running.ID == "", once == "" && stopped && running.ID != ""
	scale, err := pl.changes.cfg.Host.ScaleOf(ctx, st, svc.Name)
	if err != nil {
		return p, err
	}
	res, err := pl.changes.cfg.Host.ComposeDry(ctx, st, host.ComposeCall{Action: engine.ActionRecreate, Services: []string{svc.Name}, Scale: scale, NoStart: p.StaysStopped})
	if err != nil {
		return p, err
	}
	p.Commands = append(p.Commands, strings.Join(res.Command, " "))
	return p, pl.planDependents(ctx, st, svc, with, &p)
}

// Outline returns what updates of services to their candidates would run, by the ids of the services. Those without a
// candidate are left out.
func (pl *Planner) Outline(ctx context.Context, ids []string) (map[string]ServicePlan, error) {
	inv, err := pl.changes.cfg.Projects.LoadInventory(ctx)
	if err != nil {
		return nil, err
	}
	out, with := map[string]ServicePlan{}, make([]project.Target, len(ids))
	for i, id := range ids {
		with[i].ServiceID = id
	}
	for _, id := range ids {
		svc := inv.Services[id]
		if svc == nil || inv.Stacks[svc.StackID] == nil || svc.CandidateDigest == "" {
			continue
		}
		if out[id], err = pl.outlineService(ctx, inv.Stacks[svc.StackID], svc, project.Target{TargetDigest: svc.CandidateDigest}, with); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Planner tells what updates would do, and changes nothing.
type Planner struct{ changes *Changes }

// Planner returns who tells what changes would do.
func (x *Changes) Planner() *Planner { return &Planner{x} }

// Dependents are the services that are recreated with some services, by the ids of these. Services without any are left
// out.
func (pl *Planner) Dependents(ctx context.Context, ids []string) (map[string][]Dependent, error) {
	inv, err := pl.changes.cfg.Projects.LoadInventory(ctx)
	if err != nil {
		return nil, err
	}
	out := map[string][]Dependent{}
	for _, id := range ids {
		svc := inv.Services[id]
		if svc == nil || inv.Stacks[svc.StackID] == nil {
			continue
		}
		found, err := pl.changes.cfg.Host.DependentServices(ctx, inv.Stacks[svc.StackID], svc.Name)
		if err != nil {
			return nil, err
		}
		for _, d := range found {
			out[id] = append(out[id], Dependent{ServiceID: d.ID, Name: d.Name})
		}
	}
	return out, nil
}

// planDependents adds the dependents of a service, and what recreating them would change, to its plan. What is a target of the job itself
// is recreated there.
func (pl *Planner) planDependents(ctx context.Context, st *record.Stack, svc *record.Service, with []project.Target, p *ServicePlan) error {
	dependents, err := pl.changes.cfg.Host.DependentServices(ctx, st, svc.Name)
	if err != nil {
		return err
	}
	for i := range dependents {
		d := &dependents[i]
		p.Dependents = append(p.Dependents, Dependent{ServiceID: d.ID, Name: d.Name})
		if slices.ContainsFunc(with, func(t project.Target) bool { return t.ServiceID == d.ID }) {
			continue
		}
		scale, err := pl.changes.cfg.Host.ScaleOf(ctx, st, d.Name)
		if err != nil {
			return err
		}
		res, err := pl.changes.cfg.Host.ComposeDry(ctx, st, host.ComposeCall{Action: engine.ActionRecreate, Services: []string{d.Name}, Scale: scale, Force: true})
		if err != nil {
			return err
		}
		drift, err := pl.changes.cfg.Drift.Compare(ctx, st, d)
		if err != nil {
			return err
		}
		p.Commands = append(p.Commands, strings.Join(res.Command, " "))
		p.Drift, p.Unresolved = append(p.Drift, drift.Drift...), append(p.Unresolved, drift.Unresolved...)
	}
	return nil
}
