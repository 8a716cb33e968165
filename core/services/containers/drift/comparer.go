package drift

import (
	"cmp"
	"context"
	"os"
	"slices"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/lists"
	"github.com/patchbay-dev/patchbay/core/services/containers/compose"
	"github.com/patchbay-dev/patchbay/core/services/containers/host"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/texts"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// Compare compares what runs of a service with what compose would create. The defaults of the image that runs are
// explained, so that those of another image need no consent. Nothing is compared where nothing runs, or the engine does
// not tell what containers are made of.
func (c *Comparer) Compare(ctx context.Context, st *record.Stack, svc *record.Service) (ServiceDrift, error) {
	return c.CompareWith(ctx, st, svc, c.NewHashes(st))
}

// CompareWith is Compare with the hashes of the stack's services.
func (c *Comparer) CompareWith(ctx context.Context, st *record.Stack, svc *record.Service, hashes *Hashes) (ServiceDrift, error) {
	out := ServiceDrift{ServiceID: svc.ID, Name: st.Project + " / " + svc.Name, Drift: []Drift{}, Unresolved: []string{}}
	list, err := c.host.ContainersOf(ctx, st.Project, svc.Name)
	if err != nil || len(list) == 0 {
		return out, err
	}
	ids := lists.ConvertAll(list, func(l engine.Container) string { return l.ImageID })
	images, err := c.host.Engine().Images(ctx, ids)
	if err != nil {
		return out, err
	}
	var expected *compose.Expected
	for i := range list {
		img := images[i]
		if img != nil && img.Config == nil {
			continue
		}
		d, err := c.host.Engine().Inspect(ctx, list[i].ID)
		switch {
		case fault.CodeOf(err) == fault.NotFound:
			continue
		case err != nil:
			return out, err
		case d.Config == nil:
			continue
		}
		if expected == nil {
			if expected, err = c.expectedConfig(ctx, st, svc.Name); err != nil {
				return out, err
			}
		}
		comparison := comparison{expected: expected, running: d, image: img, out: &out}
		comparison.compareAll()
		if len(out.Drift)+len(out.Unresolved) > 0 {
			continue
		}
		explained, err := hashes.ExplainsAll(ctx, svc, &list[i], hashDiffers(expected))
		if err != nil {
			return out, err
		}
		if !explained {
			comparison.addDrift(FieldConfig, "", Changed)
		}
	}
	slices.SortFunc(out.Drift, func(a, b Drift) int {
		return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Change, b.Change))
	})
	slices.Sort(out.Unresolved)
	out.Drift, out.Unresolved = slices.Compact(out.Drift), slices.Compact(out.Unresolved)
	return out, nil
}

// CheckDrift refuses to recreate services that would lose a value, or change without consent.
func CheckDrift(found []ServiceDrift, allowed bool) error {
	var changed []ServiceDrift
	for _, d := range found {
		if len(d.Unresolved) > 0 {
			return fault.Wrap(host.ErrFiles, fault.Conflict,
				"%s runs with values for variables that are not set now, and would lose them: %s. Set them in the project's .env file.", d.Name,
				texts.JoinSome(d.Unresolved, MaxTold)).
				With("reason", "unresolved_variables").With("variables", d.Unresolved).With("serviceId", d.ServiceID)
		}
		if len(d.Drift) > 0 {
			changed = append(changed, d)
		}
	}
	if len(changed) == 0 || allowed {
		return nil
	}
	return fault.Wrap(host.ErrFiles, fault.Conflict, "Recreating %s would change more than its image: %s. Allow it with allowDrift.",
		changed[0].Name, Describe(changed[0].Drift)).
		With("reason", "drift").With("services", changed)
}

// expectedConfig returns the configuration with which compose would create a service.
func (c *Comparer) expectedConfig(ctx context.Context, st *record.Stack, service string) (*compose.Expected, error) {
	inherited := map[string]string{}
	for _, name := range inheritedVariables {
		if value := os.Getenv(name); value != "" {
			inherited[name] = value
		}
	}
	e, err := compose.Expect(ctx, c.host.ComposeSource(st), service, inherited)
	if err != nil {
		return nil, host.FilesUnreadable(st, err)
	}
	return e, nil
}

func (c *comparison) compareAll() {
	var image engine.ImageConfig
	if c.image != nil {
		image = *c.image.Config
	}
	c.compareEnvironment(image)
	c.compareProgram(image)
	c.compareMounts()
	c.compareNetworks()
	c.compareSets("port", c.expected.Ports, withoutAnyAddress(c.running.Config.Ports))
	c.compareLabels()
	c.compareSettings()
	e, run := c.expected, c.running.Config
	c.addDifference(run.MemoryBytes != e.Memory && (e.Memory != 0 || run.MemoryBytes != e.OptionalMemory), "memory")
	c.addDifference(run.NanoCPUs != e.NanoCPUs && (e.NanoCPUs != 0 || run.NanoCPUs != e.OptionalNanoCPUs), "cpus")
	c.addDifference(run.PIDsLimit != e.PIDs && (e.PIDs != 0 || run.PIDsLimit != e.OptionalPIDs), "pids")
	c.addDifference(!e.RestartMatches(c.running.RestartPolicy), "restart")
	c.addDifference(run.Privileged != e.Privileged, "privileged")
	c.addDifference(!slices.Equal(normalizeCapabilities(run.CapAdd), normalizeCapabilities(e.CapAdd)) ||
		!slices.Equal(normalizeCapabilities(run.CapDrop), normalizeCapabilities(e.CapDrop)), "capabilities")
}
