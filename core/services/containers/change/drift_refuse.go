package change

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/lists"
	"github.com/patchbay-dev/patchbay/core/services/containers/drift"
	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
)

// Drift returns what recreating services and their dependents would change besides their images. Services that would stay
// as they are, are left out. It fails if one of them cannot be compared.
func (x *Changes) Drift(ctx context.Context, ids []string) ([]drift.ServiceDrift, error) {
	inv, err := x.cfg.Projects.LoadInventory(ctx)
	if err != nil {
		return nil, err
	}
	return x.driftOfAll(ctx, inv, ids)
}

// driftOfAll is Drift with the stacks and services of inv.
func (x *Changes) driftOfAll(ctx context.Context, inv *project.Inventory, ids []string) (out []drift.ServiceDrift, err error) {
	seen, hashes := map[string]bool{}, map[string]*drift.Hashes{}
	for _, id := range ids {
		svc := inv.Services[id]
		if svc == nil || inv.Stacks[svc.StackID] == nil {
			continue
		}
		dependents, err := x.cfg.Host.DependentServices(ctx, inv.Stacks[svc.StackID], svc.Name)
		if err != nil {
			return nil, err
		}
		st := inv.Stacks[svc.StackID]
		if hashes[st.ID] == nil {
			hashes[st.ID] = x.cfg.Drift.NewHashes(st)
		}
		for _, svc := range append([]record.Service{*svc}, dependents...) {
			if seen[svc.ID] {
				continue
			}
			seen[svc.ID] = true
			drift, err := x.cfg.Drift.CompareWith(ctx, st, &svc, hashes[st.ID])
			if err != nil {
				return nil, err
			}
			if len(drift.Drift)+len(drift.Unresolved) > 0 {
				out = append(out, drift)
			}
		}
	}
	return out, nil
}

// refuseDrift is checkDrift for services and their dependents, before there is a job. While the engine is away it refuses
// nothing: the job waits for the engine and compares then.
func (x *Changes) refuseDrift(ctx context.Context, inv *project.Inventory, ids []string, allowed bool) error {
	found, err := x.driftOfAll(ctx, inv, ids)
	if failure.IsEngineGone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return drift.CheckDrift(found, allowed)
}

// checkDrift compares the service with its files as they are now.
func (c *change) checkDrift(ctx context.Context) error {
	services := []record.Service{c.svc}
	for _, d := range c.rec.Dependents {
		svc, err := c.s.store.FindService(ctx, d.ServiceID)
		if err != nil {
			return err
		}
		services = append(services, svc)
	}
	names := lists.ConvertAll(services, func(s record.Service) string { return s.Name })
	found, hashes := make([]drift.ServiceDrift, len(services)), c.s.cfg.Drift.NewHashes(&c.stack)
	err := c.s.cfg.Host.ThroughOutage(ctx, func() (err error) {
		if err := c.s.cfg.Host.RefuseSameName(ctx, &c.stack, names); err != nil {
			return err
		}
		for i := 0; i < len(services) && err == nil; i++ {
			found[i], err = c.s.cfg.Drift.CompareWith(ctx, &c.stack, &services[i], hashes)
		}
		return err
	})
	if err != nil {
		return err
	}
	return drift.CheckDrift(found, c.spec.AllowDrift)
}
